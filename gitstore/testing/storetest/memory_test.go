package storetest_test

import (
	"testing"
	"time"

	"git-checkpoint/gitstore/testing/storetest"
)

// inMemory returns a World in memory.
func inMemory(_ testing.TB, now func() time.Time) storetest.World {
	s := &memoryStore{Now: now}
	return storetest.World{Open: func() storetest.Subject { return s }, Rewrite: s.Rewrite}
}

func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	t.Parallel()
	storetest.Run(t, inMemory)
}
