package retention

import (
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
)

// Warnings returns, in sorted order, warnings about unknown triggers. An unknown trigger
// without a rule keeps all its checkpoints. A rule for an unknown trigger without
// checkpoints is probably a typo.
func Warnings(p Policy, items []Item) []string {
	found := map[checkpoint.Trigger]int{}
	for _, it := range items {
		if !it.Trigger.Known() {
			found[it.Trigger]++
		}
	}
	var out []string
	for t, n := range found {
		if _, ok := p[t]; !ok {
			out = append(out, fmt.Sprintf("trigger %s is unknown: all its checkpoints are kept (%d)", printable(string(t)), n))
		}
	}
	for t := range p {
		if !t.Known() && found[t] == 0 {
			out = append(out, fmt.Sprintf("trigger %s is unknown, and no checkpoint has it: its rule does nothing", printable(string(t))))
		}
	}
	slices.Sort(out)
	return out
}
