package gittest

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

// dayVariable has the day of a run that is repeated.
const dayVariable = "GIT_CHECKPOINT_TEST_DAY"

// Day returns the day of the year, from 1 to 366. Campaigns run the part of the day, so that
// later runs try other points. The variable GIT_CHECKPOINT_TEST_DAY replaces it.
func Day() int {
	if n, err := strconv.Atoi(os.Getenv(dayVariable)); err == nil && n >= 0 {
		return n
	}
	return time.Now().UTC().YearDay()
}

// tellDay prints how to repeat a failed run on another day.
func tellDay(code int) int {
	if code != 0 {
		fmt.Printf("to repeat the same parts of campaigns on another day: %s=%d\n", dayVariable, Day())
	}
	return code
}

// SkipShort skips a test in short mode.
func SkipShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
}

// Torture reports whether campaigns run all of their rounds, and not only a part of them:
// GIT_CHECKPOINT_TEST_TORTURE is full.
func Torture() bool { return os.Getenv("GIT_CHECKPOINT_TEST_TORTURE") == "full" }
