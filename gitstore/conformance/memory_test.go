package conformance_test

import (
	"testing"
	"time"

	"git-checkpoint/gitstore/conformance"
	"git-checkpoint/gitstore/conformance/memory"
)

// inMemory is a place in memory.
func inMemory(_ testing.TB, now func() time.Time) conformance.World {
	s := &memory.Store{Now: now}
	return conformance.World{Open: func() conformance.Store { return s }, Rewrite: s.Rewrite}
}

func TestMemory(t *testing.T) { conformance.Run(t, inMemory) }
