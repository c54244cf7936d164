package snapshot_test

import (
	"fmt"
	"os"
	"testing"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/testing/gittest"
)

// saveVariable makes this binary a program that saves in the working directory, to be killed.
const saveVariable = "GIT_CHECKPOINT_TEST_KILL_SAVE"

func TestMain(m *testing.M) {
	if os.Getenv(saveVariable) != "" {
		os.Exit(saveToBeKilled())
	}
	os.Exit(gittest.Main(m))
}

func saveToBeKilled() int {
	s, err := gitstore.Open(ctx, gitstore.Options{})
	if err == nil {
		_, err = s.Save(ctx, (&world{}).request(checkpoint.Manual))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
