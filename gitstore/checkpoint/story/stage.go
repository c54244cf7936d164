package story

import (
	"strconv"
	"strings"
)

// States of a story besides its stages.
const (
	Done   = "DONE"
	Paused = "PAUSED"
)

// Stages with a gate, and verdicts that return a story to an earlier stage.
const (
	Validation = 1
	Work       = 2
	Quality    = 3

	NoGo = "NO-GO"
	Fail = "FAIL"
)

// States returns all values of story_state.
func States() []string { return []string{"STAGE_0", "STAGE_1", "STAGE_2", "STAGE_3", Done, Paused} }

// Stage parses a stage such as 2, STAGE_2 or stage_2_execution. It returns 4 for a done
// story and -1 for an invalid stage.
func Stage(word string) int {
	s := strings.TrimPrefix(strings.ToLower(word), "stage_")
	s, _, _ = strings.Cut(s, "_")
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 4 {
		return -1
	}
	return n
}
