package freshness

import (
	"strings"

	"git-checkpoint/gitstore/linediff"
)

// diffLines shows how a text became another: lines that were, with "-" in
// front, lines that are, with "+", and one line of what stayed, with " ", on
// either side of them.
func diffLines(before, now string) []string {
	all := linediff.Edit(strings.Split(before, "\n"), strings.Split(now, "\n"))
	first, last := len(all), 0
	for n, l := range all {
		if l.Op != ' ' {
			first, last = min(first, n), n+1
		}
	}
	if last == 0 {
		return nil
	}
	var out []string
	for _, l := range all[max(0, first-1):min(len(all), last+1)] {
		out = append(out, string(l.Op)+l.Text)
	}
	return out
}
