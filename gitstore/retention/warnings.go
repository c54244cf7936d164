package retention

import (
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
)

// Warnings names, in a stable order, the unknown triggers that no rule covers,
// whose checkpoints are kept for good, and the rules for unknown triggers that
// no checkpoint has, which are most likely misspelt.
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
