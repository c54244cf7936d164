// Package history says how commits are related: which of them has which other
// one, and how far they went apart.
package history

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/gitcmd"
)

// A Log is the history of a repository.
type Log struct {
	Git     gitcmd.Git
	Shallow bool // it is cut
}

// A Relation is how a commit is related to an earlier one.
type Relation struct {
	Contains bool // it is that one, or descends from it
	Ahead    int  // commits of its that the earlier one does not have

	// Where it does not descend:
	Base  string // the best common commit, "" for none
	Gone  int    // commits of the earlier one that it does not have
	Alike int    // of these, how many it has with the same changes
}

// maxCompared bounds the commits whose changes are compared.
const maxCompared = 1000

// Relate relates a commit to an earlier one. In a clone without the whole
// history it fails rather than to say that a commit does not descend.
func (l Log) Relate(ctx context.Context, before, now string) (Relation, error) {
	counts, err := l.counts(ctx, "--left-right", before+"..."+now)
	if err != nil {
		return Relation{}, err
	}
	r := Relation{Gone: counts[0], Ahead: counts[1], Contains: counts[0] == 0}
	if r.Contains {
		return r, nil
	}
	base, err := l.Git.Line(ctx, "merge-base", before, now)
	switch {
	case err != nil && gitcmd.Code(err) != 1:
		return r, err
	case err != nil && l.Shallow:
		return r, fmt.Errorf("what HEAD and %s have in common is not in this shallow clone", before[:12])
	case err != nil:
		return r, nil
	}
	if r.Base = base; base == now || r.Gone+r.Ahead > maxCompared {
		return r, nil
	}
	counts, err = l.counts(ctx, "--left-right", "--cherry-mark", before+"..."+now)
	if err == nil && len(counts) == 3 {
		r.Alike = r.Gone - counts[0]
	}
	return r, err
}

// counts is git rev-list --count, which prints two numbers or three.
func (l Log) counts(ctx context.Context, args ...string) ([]int, error) {
	out, err := l.Git.Line(ctx, append([]string{"rev-list", "--count"}, args...)...)
	if err != nil {
		return nil, err
	}
	var counts []int
	for _, text := range strings.Split(out, "\t") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("git rev-list: %q: want numbers", out)
		}
		counts = append(counts, n)
	}
	if len(counts) < 2 {
		return nil, fmt.Errorf("git rev-list: %q: want two numbers", out)
	}
	return counts, nil
}

// Contains reports whether a commit is another one, or descends from it.
func (l Log) Contains(ctx context.Context, commit, other string) (bool, error) {
	_, err := l.Git.Output(ctx, "merge-base", "--is-ancestor", other, commit)
	if gitcmd.Code(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// Unknown reports whether history is cut so short that it does not show how two
// commits are related.
func (l Log) Unknown(ctx context.Context, a, b string) bool {
	if !l.Shallow {
		return false
	}
	_, err := l.Git.Output(ctx, "merge-base", a, b)
	return gitcmd.Code(err) == 1
}

// Behind counts the commits of a ref that a commit does not have, at most so
// many.
func (l Log) Behind(ctx context.Context, commit, ref string, most int) (int, error) {
	out, err := l.Git.Line(ctx, "rev-list", "--count", "--max-count="+strconv.Itoa(most), commit+".."+ref)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(out)
}
