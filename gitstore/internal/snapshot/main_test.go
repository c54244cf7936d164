package snapshot_test

import (
	"os"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"
)

func TestMain(m *testing.M) { os.Exit(gittest.Main(m)) }
