package remote

import (
	"context"
	"fmt"
	"strings"
)

// aboveHead is how many commits of a chain stand between its tip and HEAD at
// the save: the checkpoint and its index commit.
const aboveHead = 2

// depth is how deep to fetch what is new here, 0 for the whole of it, as in a
// repository that is not shallow. A fetch with a depth also cuts history that
// is here already; so it is no less than what is here.
func (l *Conn) depth(ctx context.Context) (int, error) {
	if !l.here.History.Cut() {
		return 0, nil
	}
	out, err := l.here.Git.Output(ctx, "rev-list", "--topo-order", "--reverse", "--parents", "HEAD", "--branches", "--remotes")
	if err != nil { // HEAD is unborn
		return aboveHead + 1, nil
	}
	longest := longestPath(string(out))
	if longest == 0 {
		return 0, fmt.Errorf("measure history: git listed no commit")
	}
	return aboveHead + longest, nil
}

// longestPath counts the commits on the longest way down through lines of
// "<commit> <parent>...", parents first.
func longestPath(lines string) int {
	deep, longest := map[string]int{}, 0
	for text := range strings.Lines(lines) {
		names := strings.Fields(text)
		for k, name := range names {
			if k > 0 {
				deep[names[0]] = max(deep[names[0]], deep[name])
			}
		}
		if len(names) > 0 {
			deep[names[0]]++
			longest = max(longest, deep[names[0]])
		}
	}
	return longest
}
