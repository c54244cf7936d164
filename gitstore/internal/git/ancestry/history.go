// Package ancestry determines the relation between commits: ancestry, and the commits on
// each side.
package ancestry

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	Base  string // best common ancestor, "" if there is no common ancestor
	Gone  int    // commits that only the earlier commit contains
	Alike int    // number of Gone commits with an equivalent commit on this side
	Kept  bool   // this side has the changes of all Gone commits: Alike, or the same files
}

// maxCompared limits the number of commits whose changes are compared.
const maxCompared = 1000

// Relate returns the relation of commit now to commit before. In a shallow clone, Relate
// fails if the missing history may contain the common ancestor.
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
	case err != nil && git.Code(err) != 1:
		return r, err
	case err != nil && l.Shallow:
		return r, fmt.Errorf("what HEAD and %s have in common is not in this shallow clone", before[:12])
	case err != nil:
		base = ""
	}
	if r.Base = base; base == now {
		return r, nil
	}
	if base != "" && r.Gone+r.Ahead <= maxCompared {
		counts, err = l.counts(ctx, "--left-right", "--cherry-mark", before+"..."+now)
		if err != nil {
			return r, err
		}
		if len(counts) == 3 {
			r.Alike = r.Gone - counts[0]
		}
	}
	if r.Kept = r.Alike == r.Gone; !r.Kept {
		r.Kept, err = l.keeps(ctx, base, before, now)
	}
	return r, err
}

// keeps reports whether every file that differs between base and before is the same in
// before and now. A base of "" means no common history: then all files of before count.
func (l Log) keeps(ctx context.Context, base, before, now string) (bool, error) {
	args := []string{"ls-tree", "-r", "--full-tree", "--name-only", "-z", before}
	if base != "" {
		args = []string{"diff-tree", "-r", "--no-renames", "--name-only", "-z", base, before}
	}
	changed, err := l.Git.Output(ctx, args...)
	if err != nil {
		return false, err
	}
	differ, err := l.Git.Output(ctx, "diff-tree", "-r", "--no-renames", "--name-only", "-z", before, now)
	if err != nil {
		return false, err
	}
	paths := map[string]bool{}
	for _, path := range git.Fields(differ) {
		paths[path] = true
	}
	files := git.Fields(changed)
	return len(files) > 0 && !slices.ContainsFunc(files, func(path string) bool { return paths[path] }), nil
}

// counts runs git rev-list --count, which prints two or three numbers.
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

// Contains reports whether commit equals other or descends from it.
func (l Log) Contains(ctx context.Context, commit, other string) (bool, error) {
	_, err := l.Git.Output(ctx, "merge-base", "--is-ancestor", other, commit)
	if git.Code(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// Unknown reports whether a shallow clone lacks the history that relates two commits.
func (l Log) Unknown(ctx context.Context, a, b string) bool {
	if !l.Shallow {
		return false
	}
	_, err := l.Git.Output(ctx, "merge-base", a, b)
	return git.Code(err) == 1
}

// Behind returns the number of commits that ref has and commit lacks, at most most.
func (l Log) Behind(ctx context.Context, commit, ref string, most int) (int, error) {
	out, err := l.Git.Line(ctx, "rev-list", "--count", "--max-count="+strconv.Itoa(most), commit+".."+ref)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(out)
}
