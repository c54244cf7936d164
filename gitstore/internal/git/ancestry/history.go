// Package ancestry determines the relation between commits: ancestry, and the commits on
// each side.
package ancestry

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"time"

	"git-checkpoint/gitstore/internal/git"

	"github.com/go-git/go-git/v5/plumbing"
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

// A Version is the mode and the blob of a path in a commit. The zero Version means that the path
// was deleted.
type Version struct {
	Mode uint32
	Hash plumbing.Hash
}

const (
	maxCommits = 50_000
	maxTime    = 2 * time.Second
)

// Versions returns the versions that commits gave to each of the paths: the commits that are
// reachable from tip and not from except, which can be "". It fails after two seconds.
func (l Log) Versions(ctx context.Context, tip, except string, paths []string) (map[string]map[Version]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	args := []string{"log", "--raw", "-z", "--no-abbrev", "--no-renames", "--root", "--format=", "--diff-merges=first-parent", "--ignore-submodules=none", "--max-count=" + strconv.Itoa(maxCommits), tip}
	if except != "" {
		args = append(args, "^"+except)
	}
	wanted, size := make(map[string]map[Version]bool, len(paths)), 0
	for _, path := range paths {
		wanted[path], size = map[Version]bool{}, size+len(path)+1
	}
	if args = append(args, "--"); size < maxArguments {
		args = append(args, paths...)
	}
	out, err := l.Git.With("GIT_LITERAL_PATHSPECS=1").Output(ctx, args...)
	if err != nil {
		return nil, err
	}
	changes, _, err := git.ParseRaw(out)
	if err != nil {
		return nil, fmt.Errorf("git log: %w", err)
	}
	for _, c := range changes {
		if wanted[c.Path] != nil {
			wanted[c.Path][Version{c.NewMode, c.New}] = true
		}
	}
	return wanted, nil
}

// maxArguments limits the bytes of paths in a command line. All systems support this size.
const maxArguments = 16 << 10

// Renames returns the paths of commit before that commit now has under another name, with that
// name. A file with several possible new names is not renamed: another new path has the content of
// its new name, or is as similar to the file.
func (l Log) Renames(ctx context.Context, before, now string) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	pairs, err := l.pairs(ctx, "-M", before, now)
	if err != nil {
		return nil, err
	}
	renames, score, content, uses := map[string]string{}, map[string]int{}, map[string]plumbing.Hash{}, map[plumbing.Hash]int{}
	paths, size := []string{"--"}, 0
	for _, p := range pairs {
		uses[p.New]++
		paths, size = append(paths, p.Path), size+len(p.Path)+1
		if p.From != "" {
			renames[p.From], score[p.From], content[p.From] = p.Path, p.Score, p.New
			paths, size = append(paths, p.From), size+len(p.From)+1
		}
	}
	maps.DeleteFunc(renames, func(from, _ string) bool { return uses[content[from]] > 1 })
	if len(renames) == 0 || len(pairs) == 1 {
		return renames, nil
	}
	if size >= maxArguments {
		paths = nil
	}
	if pairs, err = l.pairs(ctx, "-C", before, now, paths...); err != nil {
		return nil, err
	}
	for _, p := range pairs {
		if to := renames[p.From]; to != "" && to != p.Path && p.Score >= score[p.From] {
			delete(renames, p.From)
		}
	}
	return renames, nil
}

// pairs returns the new paths of a commit, with the files that git takes them to come from. how is the option of git for finding their files.
func (l Log) pairs(ctx context.Context, how, before, now string, paths ...string) (found []git.RawChange, err error) {
	args := []string{"diff-tree", "-r", "-z", how, "--diff-filter=ACR", "--raw", "--no-abbrev", before, now}
	out, err := l.Git.With("GIT_NO_LAZY_FETCH=1", "GIT_LITERAL_PATHSPECS=1").Output(ctx, append(args, paths...)...)
	if err != nil {
		return nil, err
	}
	if found, _, err = git.ParseRaw(out); err != nil {
		return nil, fmt.Errorf("git diff-tree: %w", err)
	}
	return found, nil
}
