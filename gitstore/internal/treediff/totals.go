package treediff

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/internal/git"

	"github.com/go-git/go-git/v5/plumbing"
)

// Totals has the numbers of changed files and lines. Binary files have no lines.
type Totals struct{ Files, Added, Deleted int }

// A Pair is the old and the new tree of a comparison. Zero is the empty tree.
type Pair struct{ From, To plumbing.Hash }

// TotalsOf counts the changed files and lines of pairs. One git process reads all pairs,
// because a process for each takes longer than its comparison.
func TotalsOf(ctx context.Context, at Source, pairs []Pair) ([]Totals, error) {
	totals := make([]Totals, len(pairs))
	var asked []*Totals
	var heads []string
	for i, p := range pairs {
		if from, to := orEmpty(p.From), orEmpty(p.To); from != to {
			asked = append(asked, &totals[i])
			heads = append(heads, from.String()+" "+to.String()+"\n")
		}
	}
	if len(asked) == 0 {
		return totals, nil
	}
	out, err := at.Git.Pipe(ctx, []byte(strings.Join(heads, "")),
		"-c", "core.bigFileThreshold="+maxPatched, "diff-tree", "--stdin", "-r", "-z", "-M", "--numstat")
	if err != nil {
		return nil, fmt.Errorf("count lines: %w", err)
	}
	return totals, parseTotals(out, heads, asked)
}

// parseTotals parses the output for pairs: the line of the pair in the input, then records of
// parseCount. A record never looks like the line of a pair, because it has a tab.
func parseTotals(out []byte, heads []string, totals []*Totals) error {
	next := 0
	fields := git.Fields(out)
	for len(fields) > 0 {
		if next < len(heads) && strings.HasPrefix(fields[0], heads[next]) {
			fields[0], next = fields[0][len(heads[next]):], next+1
			if fields[0] == "" {
				fields = fields[1:]
			}
			continue
		}
		c, rest, err := parseCount(fields)
		if err != nil || next == 0 {
			return cmp.Or(err, fmt.Errorf("count lines: git diff-tree said %.80q", out))
		}
		fields = rest
		t := totals[next-1]
		t.Files, t.Added, t.Deleted = t.Files+1, t.Added+c.added, t.Deleted+c.deleted
	}
	if next != len(heads) {
		return fmt.Errorf("count lines: git diff-tree compared %d of %d pairs", next, len(heads))
	}
	return nil
}

// A count is a record of git's --numstat -z.
type count struct {
	path           string
	added, deleted int
	binary         bool // has no lines
}

// parseCount parses "<added> TAB <deleted> TAB <path>", and returns the fields after it. If the
// path is empty, the two paths of a rename follow. Binary files have "-" as numbers.
func parseCount(fields []string) (c count, rest []string, err error) {
	parts := strings.SplitN(fields[0], "\t", 3)
	isRename := len(parts) == 3 && parts[2] == ""
	if len(parts) < 3 || isRename && len(fields) < 3 {
		return c, nil, fmt.Errorf("count lines: git diff-tree said %.80q", fields[0])
	}
	c.path, rest = parts[2], fields[1:]
	if isRename {
		c.path, rest = fields[2], fields[3:]
	}
	if c.binary = parts[0] == "-"; c.binary {
		return c, rest, nil
	}
	for i, n := range []*int{&c.added, &c.deleted} {
		if *n, err = strconv.Atoi(parts[i]); err != nil {
			return c, nil, fmt.Errorf("count lines: git diff-tree said %.80q", fields[0])
		}
	}
	return c, rest, nil
}
