package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/treediff"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Stored is an opened snapshot of a checkpoint.
type Stored struct {
	contents.Contents
	Head plumbing.Hash // HEAD at the save, zero if unborn
}

// OpenSnapshot opens the snapshot of a checkpoint.
func (s *Capturer) OpenSnapshot(c *chain.Checkpoint) (*Stored, error) {
	record, err := s.chain.VerifiedRecord(c)
	if err != nil {
		return nil, err
	}
	return s.SnapshotOf(c, record)
}

// SnapshotOf is OpenSnapshot for a known record.
func (s *Capturer) SnapshotOf(c *chain.Checkpoint, record *checkpoint.Record) (*Stored, error) {
	st, err := s.TreesOf(c)
	if err != nil {
		return nil, err
	}
	st.Record = record
	if facts := record.Snapshot(); facts.Scope == checkpoint.ScopeCut {
		i := slices.IndexFunc(facts.Skipped, func(f checkpoint.Skipped) bool { return f.Path == "." && f.CarriedFrom != "" })
		if below, err := s.chain.Walk(c.Issue, repo.LiveRef(c.Issue), c.Commit, 0); i >= 0 && err == nil {
			if from := below.Find(facts.Skipped[i].CarriedFrom); from != nil {
				st.Source, _ = s.StateTree(from)
			}
		} else if i < 0 {
			st.Source = trees.Empty
		}
	}
	return st, nil
}

// TreesOf opens the trees of a checkpoint, without its record.
func (s *Capturer) TreesOf(c *chain.Checkpoint) (*Stored, error) {
	st := &Stored{}
	commit, err := s.repo.ReadCommit(c.Commit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.ID, err)
	}
	entries, err := trees.Read(s.repo.Objects, c.Tree)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.ID, err)
	}
	st.Staged, st.State, st.Conflicts = trees.HashOf(entries, "staged"), trees.HashOf(entries, "state"), trees.HashOf(entries, "conflicts")
	if len(commit.Parents) < 2 {
		return st, nil
	}
	state, err := s.chain.StateCommitOf(commit)
	if err != nil {
		return nil, s.nearError(c, "state commit", commit.Parents[1], err)
	}
	if st.Head = state.Head; st.Head.IsZero() {
		return st, nil
	}
	if st.Base, err = s.repo.TreeOfCommit(st.Head); err != nil {
		return nil, s.nearError(c, "HEAD at the save", st.Head, err)
	}
	return st, nil
}

// StateTree returns the tree of a checkpoint's files.
func (s *Capturer) StateTree(c *chain.Checkpoint) (plumbing.Hash, error) {
	side, err := s.side(c)
	return side.Tree, err
}

// nearError describes why a commit that a checkpoint refers to cannot be read. In a shallow
// clone the commit may be missing.
func (s *Capturer) nearError(c *chain.Checkpoint, what string, hash plumbing.Hash, err error) error {
	if s.repo.Info.Shallow && !s.repo.Objects.Has(hash) {
		return &repo.RefusedError{
			Reason: fmt.Sprintf("the %s, %s, is not in this shallow clone", what, hash.String()[:12]),
			Hint:   "git fetch --unshallow",
		}
	}
	return fmt.Errorf("%s: %s: %w", c.ID, what, err)
}

// Targets returns the paths that a snapshot changed relative to its HEAD, sorted by path.
func (s *Capturer) Targets(st *Stored) ([]contents.Target, error) {
	files, err := contents.Gather(s.repo.Objects, &st.Contents)
	if err != nil {
		return nil, err
	}
	return files.Targets()
}

// Compare compares the files of two checkpoints. If from is nil, it compares a checkpoint
// with HEAD at the time of its save. Paths are git pathspecs that limit the result;
// without paths all files count.
func (s *Capturer) Compare(from, to *chain.Checkpoint, paths ...string) (*treediff.Diff, error) {
	before, after, err := s.sides(Pair{from, to})
	if err != nil {
		return nil, err
	}
	return treediff.New(s.diffSource(), before, after, paths...)
}

// diffSource returns the source of comparisons. It has no index: git reads the whole index first,
// although it needs no entry.
func (s *Capturer) diffSource() treediff.Source {
	return treediff.Source{Git: s.repo.Git.With("GIT_INDEX_FILE=" + filepath.Join(s.repo.StateDir(), "no-index")), Objects: s.repo.Objects}
}

// A Pair is two checkpoints to compare. A nil From is HEAD at the save of To.
type Pair struct{ From, To *chain.Checkpoint }

func (s *Capturer) sides(p Pair) (before, after treediff.Side, err error) {
	if after, err = s.side(p.To); err != nil {
		return before, after, err
	}
	if p.From != nil {
		before, err = s.side(p.From)
		return before, after, err
	}
	st, err := s.OpenSnapshot(p.To)
	if err == nil {
		before.Tree = st.Base
	}
	return before, after, err
}

func (s *Capturer) side(c *chain.Checkpoint) (treediff.Side, error) {
	entries, err := trees.Read(s.repo.Objects, c.Tree)
	if err != nil {
		return treediff.Side{}, fmt.Errorf("%s: %w", c.Name(), err)
	}
	return treediff.Side{Tree: trees.HashOf(entries, "state"), Conflicts: trees.HashOf(entries, "conflicts")}, nil
}

// Diff returns the difference between a file in the worktree and a checkpoint's file, in the format of
// git diff, by a temporary index with this file alone. The text contains raw file contents: callers
// must escape it for a terminal.
func (s *Capturer) Diff(ctx context.Context, c *chain.Checkpoint, path string) (string, error) {
	state, err := s.StateTree(c)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "git-checkpoint-diff-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	// Git add stores an empty file for a new one.
	g := s.repo.RootGit().OnIndex(filepath.Join(dir, "index"), s.repo.Config...).With(
		"GIT_OBJECT_DIRECTORY="+dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+odb.JoinAlternates(s.repo.Info.ObjectDirs()))
	f, err := contents.At(&trees.Finder{Reader: s.repo.Objects}, state, path)
	switch {
	case err == nil && f.IsBlob():
		_, err = g.Pipe(ctx, fmt.Appendf(nil, "%o %s\t%s\x00", f.Mode, f.Hash, path), "update-index", "-z", "--index-info")
	case err == nil && fsutil.Exists(filepath.Join(g.Dir, filepath.FromSlash(path))):
		_, err = g.Output(ctx, "add", "--intent-to-add", "--force", "--", path)
	}
	var out []byte
	if err == nil {
		out, err = g.Output(ctx, "-c", "core.bigFileThreshold="+treediff.MaxPatched, "diff", "-R", "--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=checkpoint/", "--dst-prefix=mine/", "--", path)
	}
	if err != nil {
		return "", fmt.Errorf("compare %q: %w", path, err)
	}
	return string(out), nil
}

// Uncommitted returns the files that differ from HEAD, including untracked files.
func (s *Capturer) Uncommitted(ctx context.Context) (changed []string, err error) {
	lines, err := s.Status(ctx)
	for _, line := range lines {
		changed = append(changed, line[3:])
	}
	return changed, err
}

// Status returns the lines of git status in short form: two letters, a space and a path.
// Untracked files of repositories are left out, because no checkpoint contains them.
func (s *Capturer) Status(ctx context.Context) ([]string, error) {
	out, err := s.repo.RootGit().Output(ctx, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all")
	if err != nil {
		return nil, err
	}
	b := s.repo.Boundary(ctx)
	return slices.DeleteFunc(git.Fields(out), func(line string) bool {
		return len(line) <= 3 || line[0] == '?' && b.Find(line[3:]).Reason != ""
	}), nil
}

// TotalsOf counts the changed files and lines of pairs of checkpoints, with one git process.
// The totals of a pair that cannot be read are nil.
func (s *Capturer) TotalsOf(ctx context.Context, pairs []Pair) []*treediff.Totals {
	totals, list := make([]*treediff.Totals, len(pairs)), make([]treediff.Pair, len(pairs))
	var failed error
	for i, p := range pairs {
		before, after, err := s.sides(p)
		failed = cmp.Or(failed, err)
		list[i] = treediff.Pair{From: before.Tree, To: after.Tree}
	}
	var counted []treediff.Totals
	if failed == nil {
		counted, failed = treediff.TotalsOf(ctx, s.diffSource(), list)
	}
	for i := range pairs {
		switch {
		case failed == nil:
			totals[i] = &counted[i]
		case len(pairs) > 1: // one pair must not hide the others
			totals[i] = s.TotalsOf(ctx, pairs[i:i+1])[0]
		}
	}
	return totals
}
