package story

import (
	"strconv"
	"strings"
)

// The states of a story beside its stages.
const (
	Done   = "DONE"
	Paused = "PAUSED"
)

// The stages that have a gate, and the verdicts that send a story back.
const (
	Validation = 1
	Work       = 2
	Quality    = 3

	NoGo = "NO-GO"
	Fail = "FAIL"
)

// States are the words of story_state.
func States() []string { return []string{"STAGE_0", "STAGE_1", "STAGE_2", "STAGE_3", Done, Paused} }

// Stage reads a stage: 2, STAGE_2, stage_2_execution. 4 is a story that is
// done, -1 is none.
func Stage(word string) int {
	s := strings.TrimPrefix(strings.ToLower(word), "stage_")
	s, _, _ = strings.Cut(s, "_")
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 4 {
		return -1
	}
	return n
}
