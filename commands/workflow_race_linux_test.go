package commands

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// together runs commands at the same time and returns their outcomes.
func (v *victim) together(lines ...string) []outcome {
	out := make([]outcome, len(lines))
	var wg sync.WaitGroup
	for i, line := range lines {
		wg.Go(func() { out[i] = v.try("git-checkpoint", strings.Fields(line)...) })
	}
	wg.Wait()
	return out
}

// Phases that end at the same time are all recorded: a save that loses a race reapplies
// the step to the other writer's record.
func TestPhasesTogether(t *testing.T) {
	t.Parallel()
	gittest.Slow(t)
	v := newWorkflow(t)
	v.tool("start", "42", "--phases", "8")
	var lines []string
	for n := 1; n <= 8; n++ {
		lines = append(lines, fmt.Sprintf("phase done %d --issue 42", n))
	}
	for _, o := range v.together(lines...) {
		require.Zero(t, o.code, o.err)
		require.NotEmpty(t, o.out)
	}
	assert.Contains(t, v.tool("status", "42", "--json"), `"completed_phases":["1","2","3","4","5","6","7","8"]`)
	v.sound()
}

// Without PHASE, the command selects the current phase at process start. If another
// process completes that phase first, the command does not complete the next phase.
func TestConcurrentPhaseDoneCompletesOnePhase(t *testing.T) {
	t.Parallel()
	v := newWorkflow(t)
	v.tool("start", "42", "--phases", "8")
	for n := 1; n <= 3; n++ {
		want := v.tool("phase", "next", "--issue", "42")
		saved := 0
		for _, o := range v.together(strings.Split(strings.Repeat("phase done "+want+" --issue 42;", 3)+"phase done "+want+" --issue 42", ";")...) {
			require.Zero(t, o.code, o.err)
			if o.out != "" {
				saved++
			} else {
				assert.Equal(t, "skipped: phase "+want+" is completed already", o.err)
			}
		}
		assert.Equal(t, 1, saved, "one of them completed it")
	}
	assert.Contains(t, v.tool("status", "42", "--json"), `"completed_phases":["1","2","3"]`)
}

// A phase is replanned at most twice, for any number of concurrent requests.
func TestConcurrentReplans(t *testing.T) {
	t.Parallel()
	gittest.Slow(t)
	v := newWorkflow(t)
	v.tool("start", "42", "--phases", "3")
	codes := map[int]int{}
	for _, o := range v.together(strings.Split(strings.Repeat("phase replan 1 --issue 42;", 5)+"phase replan 1 --issue 42", ";")...) {
		codes[o.code]++
	}
	assert.Equal(t, map[int]int{0: 2, failure.Limit: 4}, codes)
	assert.Contains(t, v.tool("status", "42", "--json"), `"replans":{"1":2}`)
}
