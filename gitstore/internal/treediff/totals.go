package treediff

import (
	"context"
	"fmt"
	"strconv"
	"strings"

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
		"-c", "core.bigFileThreshold="+MaxPatched, "diff-tree", "--stdin", "-r", "-M", "--numstat")
	if err != nil {
		return nil, fmt.Errorf("count lines: %w", err)
	}
	return totals, parseTotals(string(out), heads, asked)
}

// parseTotals parses the output for pairs: the line of the pair in the input, then a line for each file.
func parseTotals(out string, heads []string, totals []*Totals) error {
	next := 0
	for line := range strings.Lines(out) {
		if next < len(heads) && line == heads[next] {
			next++
			continue
		}
		c, _, err := parseCount([]string{line})
		if err != nil || next == 0 {
			return fmt.Errorf("count lines: git diff-tree said %.80q", line)
		}
		t := totals[next-1]
		t.Files, t.Added, t.Deleted = t.Files+1, t.Added+c.Added, t.Deleted+c.Deleted
	}
	if next != len(heads) {
		return fmt.Errorf("count lines: git diff-tree compared %d of %d pairs", next, len(heads))
	}
	return nil
}

// parseCount parses "<added> TAB <deleted> TAB <path>", a record of git's --numstat, and returns the
// fields after it. If the path is empty, the two paths of a rename follow. Binary files have "-" as
// numbers.
func parseCount(fields []string) (c Change, rest []string, err error) {
	parts := strings.SplitN(fields[0], "\t", 3)
	isRename := len(parts) == 3 && parts[2] == ""
	if len(parts) < 3 || isRename && len(fields) < 3 {
		return c, nil, fmt.Errorf("count lines: git diff-tree said %.80q", fields[0])
	}
	c.Path, rest = parts[2], fields[1:]
	if isRename {
		c.Path, rest = fields[2], fields[3:]
	}
	if c.Counted = parts[0] != "-"; !c.Counted {
		return c, rest, nil
	}
	for i, n := range []*int{&c.Added, &c.Deleted} {
		if *n, err = strconv.Atoi(parts[i]); err != nil {
			return c, nil, fmt.Errorf("count lines: git diff-tree said %.80q", fields[0])
		}
	}
	return c, rest, nil
}
