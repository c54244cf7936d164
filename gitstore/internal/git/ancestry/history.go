// Package ancestry determines the relation between commits: ancestry, and the commits on
// each side.
package ancestry

import (
	"context"
	"fmt"
	"strconv"

	"git-checkpoint/gitstore/internal/git"
)

// A Log is the commit history of a repository.
type Log struct {
	Git     git.Git
	Shallow bool // repository is a shallow clone
}

// A Relation describes a commit relative to an earlier commit.
type Relation struct {
	Contains bool // commits are equal, or it descends from the earlier commit
	Ahead    int  // commits that the earlier commit does not contain

	// If Contains is false:
	Base string // best common ancestor, "" if there is no common ancestor
	Gone int    // commits that only the earlier commit contains
}

// Relate returns the relation of commit now to commit before. In a shallow clone, Relate
// fails if the missing history may contain the common ancestor.
func (l Log) Relate(ctx context.Context, before, now string) (Relation, error) {
	out, err := l.Git.Line(ctx, "rev-list", "--count", "--left-right", before+"..."+now)
	if err != nil {
		return Relation{}, err
	}
	var r Relation
	if _, err := fmt.Sscan(out, &r.Gone, &r.Ahead); err != nil {
		return Relation{}, fmt.Errorf("git rev-list: %q: want two numbers", out)
	}
	if r.Contains = r.Gone == 0; r.Contains {
		return r, nil
	}
	base, err := l.Git.Line(ctx, "merge-base", before, now)
	switch {
	case err != nil && git.Code(err) != 1:
		return r, err
	case err != nil && l.Shallow:
		return r, fmt.Errorf("what HEAD and %s have in common is not in this shallow clone", before[:12])
	case err != nil:
		base = ""
	}
	r.Base = base
	return r, nil
}

// Contains reports whether commit equals other or descends from it.
func (l Log) Contains(ctx context.Context, commit, other string) (bool, error) {
	_, err := l.Git.Output(ctx, "merge-base", "--is-ancestor", other, commit)
	if git.Code(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// Behind returns the number of commits that ref has and commit lacks, at most most.
func (l Log) Behind(ctx context.Context, commit, ref string, most int) (int, error) {
	out, err := l.Git.Line(ctx, "rev-list", "--count", "--max-count="+strconv.Itoa(most), commit+".."+ref)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(out)
}
