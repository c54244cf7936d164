package remote

import (
	"context"
	"fmt"
	"strings"
)

// aboveHead is the number of commits between a chain's tip and HEAD at the save:
// checkpoint and index commit.
const aboveHead = 2

// depth returns the depth for fetching new chains, or 0 for full history if the
// repository is not shallow. A fetch with depth also truncates existing local history, so
// depth is at least the local depth.
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

// longestPath returns the number of commits on the longest path in lines of "<commit>
// <parent>...", parents first.
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
