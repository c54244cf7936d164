package freshness

import (
	"strings"

	"git-checkpoint/gitstore/diff"
)

// diffLines returns a line diff of two texts: removed lines with prefix "-", added lines
// with prefix "+", and one unchanged context line with prefix " " on either side.
func diffLines(before, now string) []string {
	all := diff.Edit(strings.Split(before, "\n"), strings.Split(now, "\n"))
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
