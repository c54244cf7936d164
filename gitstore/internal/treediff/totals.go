package treediff

import (
	"bytes"
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
	b := &Diff{git: at.Git, noIndex: at.NoIndex}
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
	out, err := b.plumbing().Pipe(ctx, []byte(strings.Join(heads, "")),
		"-c", "core.bigFileThreshold="+maxPatched, "diff-tree", "--stdin", "-r", "-z", "-M", "--numstat")
	if err != nil {
		return nil, fmt.Errorf("count lines: %w", err)
	}
	return totals, parseTotals(out, heads, asked)
}

// parseTotals parses the output for pairs: the line of the pair in the input, then records
// "<added> TAB <deleted> TAB <path> NUL". If the path is empty, the two paths of a rename
// follow. A record never looks like the line of a pair, because it has a tab.
func parseTotals(out []byte, heads []string, totals []*Totals) error {
	next := 0
	for len(out) > 0 {
		if next < len(heads) && bytes.HasPrefix(out, []byte(heads[next])) {
			out, next = out[len(heads[next]):], next+1
			continue
		}
		record, rest, ok := bytes.Cut(out, []byte{0})
		parts := strings.SplitN(string(record), "\t", 3)
		if !ok || next == 0 || len(parts) != 3 {
			return fmt.Errorf("count lines: git diff-tree said %.80q", record)
		}
		if out = rest; parts[2] == "" {
			_, out, _ = bytes.Cut(out, []byte{0})
			_, out, _ = bytes.Cut(out, []byte{0})
		}
		t := totals[next-1]
		t.Files++
		if parts[0] == "-" {
			continue // a binary file has no lines
		}
		added, err := strconv.Atoi(parts[0])
		deleted, err2 := strconv.Atoi(parts[1])
		if err != nil || err2 != nil {
			return fmt.Errorf("count lines: git diff-tree said %.80q", record)
		}
		t.Added, t.Deleted = t.Added+added, t.Deleted+deleted
	}
	if next != len(heads) {
		return fmt.Errorf("count lines: git diff-tree compared %d of %d pairs", next, len(heads))
	}
	return nil
}
