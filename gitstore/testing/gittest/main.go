package gittest

import (
	"flag"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"git-checkpoint/gitstore/fsutil"
)

// syncVariable is set to "on" by tests of durability, for the programs that they start.
const syncVariable = "GITTEST_SYNC"

// Main runs the tests of a package in the environment of Env, so that stores that tests open
// run git as the commands of test repositories do, and tests need no environment of their own
// and run in parallel. HOME is an empty directory. Files are not synced to the disk, except in
// benchmarks. Like Run, it prepares the flags.
//
//	func TestMain(m *testing.M) { os.Exit(gittest.Main(m)) }
func Main(m *testing.M) int {
	prepare()
	home, err := os.MkdirTemp("", "gittest-home-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	env := append(Env(home), testVariables()...)
	os.Clearenv()
	for _, kv := range env {
		key, value, _ := strings.Cut(kv, "=")
		os.Setenv(key, value)
	}
	if flag.Lookup("test.bench").Value.String() == "" {
		SkipSync()
	}
	return tellDay(m.Run())
}

// Run is Main for tests that set up the environment of their programs themselves.
func Run(m interface{ Run() int }) int {
	prepare()
	return tellDay(m.Run())
}

// prepare reads the flags of a test binary. Unless TMPDIR is set, temporary directories are
// in memory if possible. Unless -parallel is set, twice as many tests as processors run at
// once, because tests wait for processes most of the time.
func prepare() {
	flag.Parse()
	if dir := memory(); dir != "" && os.Getenv("TMPDIR") == "" {
		os.Setenv("TMPDIR", dir)
	}
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "test.parallel" })
	if !set {
		_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	}
}

// testVariables returns the variables that steer tests.
func testVariables() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool { return !strings.HasPrefix(kv, "GIT_CHECKPOINT_TEST_") })
}

// SkipSync disables syncs to the disk in this process, unless a test of durability has
// started it with the variable GITTEST_SYNC=on. Only test binaries read it.
func SkipSync() {
	if os.Getenv(syncVariable) != "on" {
		fsutil.SkipSync()
	}
}

// Slow runs a test in parallel, and skips it in short mode.
func Slow(t *testing.T) {
	t.Helper()
	t.Parallel()
	SkipShort(t)
}
