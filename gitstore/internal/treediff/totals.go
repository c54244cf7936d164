package treediff

import (
	"bytes"
	"cmp"
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

// parseTotals parses the output for pairs: the line of the pair in the input, then records of
// nextCount. A record never looks like the line of a pair, because it has a tab.
func parseTotals(out []byte, heads []string, totals []*Totals) error {
	next := 0
	for len(out) > 0 {
		if next < len(heads) && bytes.HasPrefix(out, []byte(heads[next])) {
			out, next = out[len(heads[next]):], next+1
			continue
		}
		c, rest, err := nextCount(out)
		if err != nil || next == 0 {
			return cmp.Or(err, fmt.Errorf("count lines: git diff-tree said %.80q", out))
		}
		out = rest
		t := totals[next-1]
		t.Files, t.Added, t.Deleted = t.Files+1, t.Added+c.Added, t.Deleted+c.Deleted
	}
	if next != len(heads) {
		return fmt.Errorf("count lines: git diff-tree compared %d of %d pairs", next, len(heads))
	}
	return nil
}

// A count is a record of git's --numstat -z.
type count struct {
	Lines
	path   string
	binary bool // has no lines
}

// nextCount parses "<added> TAB <deleted> TAB <path> NUL", and returns the output after it. If the
// path is empty, the two paths of a rename follow. Binary files have "-" as numbers.
func nextCount(out []byte) (c count, rest []byte, err error) {
	record, rest, ok := bytes.Cut(out, []byte{0})
	parts := strings.SplitN(string(record), "\t", 3)
	if ok = ok && len(parts) == 3; ok {
		if c.path = parts[2]; c.path == "" {
			_, rest, _ = bytes.Cut(rest, []byte{0})
			var path []byte
			path, rest, ok = bytes.Cut(rest, []byte{0})
			c.path = string(path)
		}
		if c.binary = parts[0] == "-"; !c.binary {
			var err2 error
			c.Added, err = strconv.Atoi(parts[0])
			c.Deleted, err2 = strconv.Atoi(parts[1])
			ok = ok && err == nil && err2 == nil
		}
	}
	if !ok {
		return c, nil, fmt.Errorf("count lines: git diff-tree said %.80q", record)
	}
	return c, rest, nil
}
