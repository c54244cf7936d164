package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/git"
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
	st := &Stored{Contents: contents.Contents{ID: c.ID, Record: record}}
	commit, err := s.repo.ReadCommit(c.Commit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.ID, err)
	}
	if st.Entries, err = trees.Read(s.repo.Objects, c.Tree); err != nil {
		return nil, fmt.Errorf("%s: %w", c.ID, err)
	}
	if e, ok := trees.Find(st.Entries, "staged"); ok {
		st.Staged = e.Hash
	}
	if len(commit.Parents) < 2 {
		return st, nil
	}
	index, err := s.repo.ReadCommit(commit.Parents[1])
	if err != nil {
		return nil, s.nearError(c, "index commit", commit.Parents[1], err)
	}
	if len(index.Parents) == 0 {
		return st, nil
	}
	st.Head = index.Parents[0]
	if st.Base, err = s.repo.TreeOfCommit(st.Head); err != nil {
		return nil, s.nearError(c, "HEAD at the save", st.Head, err)
	}
	return st, nil
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
	return contents.Targets(s.repo.Objects, &st.Contents)
}

// A TreeDiff is the difference between the files of two checkpoints. The caller must
// close it.
type TreeDiff = treediff.Diff

// A FileChange is a file that differs between two checkpoints.
type FileChange = treediff.Change

// Diff compares the files of two checkpoints. If from is nil, it compares a checkpoint
// with HEAD at the time of its save. Paths are git pathspecs that limit the result;
// without paths all files count.
func (s *Capturer) Diff(from, to *chain.Checkpoint, paths ...string) (*TreeDiff, error) {
	before, err := s.sideBefore(from, to)
	if err != nil {
		return nil, err
	}
	after, err := s.side(to)
	if err != nil {
		return nil, err
	}
	return treediff.New(s.diffSource(), before, after, paths...)
}

func (s *Capturer) diffSource() treediff.Source {
	noIndex := filepath.Join(s.repo.StateDir(), "no-index")
	return treediff.Source{Git: s.repo.Git, Objects: s.repo.Objects, NoIndex: noIndex, Alternates: s.repo.Info.Alternates}
}

// sideBefore returns the old side of a comparison: the files of checkpoint from, or of
// HEAD if from is nil.
func (s *Capturer) sideBefore(from, to *chain.Checkpoint) (treediff.Side, error) {
	if from != nil {
		return s.side(from)
	}
	st, err := s.OpenSnapshot(to)
	if err != nil {
		return treediff.Side{}, err
	}
	return treediff.Tree(st.Base), nil
}

// side returns the files of a checkpoint as one side of a comparison.
func (s *Capturer) side(c *chain.Checkpoint) (treediff.Side, error) {
	entries, err := trees.Read(s.repo.Objects, c.Tree)
	if err != nil {
		return treediff.Side{}, fmt.Errorf("%s: %w", c.Name(), err)
	}
	side := treediff.Side{Name: c.Name(), Entries: entries}
	// Only the record contains the unstaged deletions. Most records have none, so a quick search
	// for the key avoids slow parsing of large records.
	data, err := s.chain.RecordBytes(c)
	if err != nil || !bytes.Contains(data, []byte("deleted")) {
		return side, err
	}
	r, err := s.chain.Record(c)
	if err != nil {
		return side, err
	}
	side.Deleted = r.Snapshot().Deleted
	return side, nil
}

// DiffSince returns the difference between a checkpoint's file and the file in the
// worktree, in the format of git diff. The text contains raw file contents: callers must
// escape it for a terminal.
func (s *Capturer) DiffSince(ctx context.Context, c *chain.Checkpoint, path string) (string, error) {
	st, err := s.OpenSnapshot(c)
	if err != nil {
		return "", err
	}
	targets, err := s.Targets(st)
	if err != nil {
		return "", err
	}
	for _, t := range targets {
		if t.Path == path {
			w := &treediff.WorktreeFiles{Git: s.repo.Git, Root: s.repo.Info.Root, Objects: s.repo.Objects, MaxFile: MaxDigested}
			return w.Diff(ctx, t)
		}
	}
	return "", fmt.Errorf("the checkpoint has no change to %q", path)
}

// Uncommitted returns the files that differ from HEAD, including untracked files, and
// those of them that a checkpoint does not contain.
func (s *Capturer) Uncommitted(ctx context.Context, r *checkpoint.Record) (changed, notSaved []string, err error) {
	lines, err := s.status(ctx)
	if err != nil {
		return nil, nil, err
	}
	have := map[string]bool{}
	for _, f := range r.Files() {
		have[f.Path] = true
	}
	for _, line := range lines {
		changed = append(changed, line[3:])
	}
	notSaved = slices.DeleteFunc(slices.Clone(changed), func(path string) bool { return have[path] })
	return changed, notSaved, nil
}

// status returns the lines of git status in short form: two letters, a space and a path.
// Untracked files of repositories are left out, because no checkpoint contains them.
func (s *Capturer) status(ctx context.Context) ([]string, error) {
	g := s.repo.Git
	g.Dir = s.repo.Info.Root
	out, err := g.Output(ctx, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all")
	if err != nil {
		return nil, err
	}
	b := s.repo.Boundary(ctx)
	return slices.DeleteFunc(git.Fields(out), func(line string) bool {
		return len(line) <= 3 || line[0] == '?' && b.Find(line[3:]).Reason != ""
	}), nil
}

// Changes counts the changed files of the worktree. A file with staged and unstaged
// changes counts as both.
type Changes struct{ Staged, Unstaged, Untracked int }

// CountChanges counts the files that differ from HEAD, without submodules.
func (s *Capturer) CountChanges(ctx context.Context) (n Changes, err error) {
	lines, err := s.status(ctx)
	for _, line := range lines {
		if line[0] == '?' {
			n.Untracked++
			continue
		}
		if line[0] != ' ' {
			n.Staged++
		}
		if line[1] != ' ' {
			n.Unstaged++
		}
	}
	return n, err
}

// NewWhole returns a builder of the whole states of checkpoints.
func (s *Capturer) NewWhole() *treediff.Whole { return treediff.NewWhole(s.repo.Objects) }

// WholeTree returns the tree of the whole state of a checkpoint: captured files, otherwise staged
// files. It adds trees that the repository lacks to w.
func (s *Capturer) WholeTree(c *chain.Checkpoint, w *treediff.Whole) (plumbing.Hash, error) {
	side, err := s.side(c)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return w.Tree(side)
}

// A Pair is two checkpoints to compare. A nil From is HEAD at the save of To.
type Pair struct{ From, To *chain.Checkpoint }

// Totals has the numbers of changed files and lines.
type Totals = treediff.Totals

// TotalsOf counts the changed files and lines of pairs of checkpoints, with one git process.
// The totals of a pair that cannot be read are nil.
func (s *Capturer) TotalsOf(ctx context.Context, pairs []Pair) []*Totals {
	totals := make([]*Totals, len(pairs))
	counted, err := s.count(ctx, pairs)
	if err != nil && len(pairs) > 1 { // one pair must not hide the others
		for i := range pairs {
			totals[i] = s.TotalsOf(ctx, pairs[i:i+1])[0]
		}
	}
	for i := range counted {
		totals[i] = &counted[i]
	}
	return totals
}

func (s *Capturer) count(ctx context.Context, pairs []Pair) ([]Totals, error) {
	sides := map[plumbing.Hash]treediff.Side{}
	side := func(c *chain.Checkpoint) (treediff.Side, error) {
		found, ok := sides[c.Commit]
		if ok {
			return found, nil
		}
		found, err := s.side(c)
		sides[c.Commit] = found
		return found, err
	}
	list := make([]treediff.Pair, len(pairs))
	for i, p := range pairs {
		var err error
		if p.From == nil {
			list[i].From, err = s.sideBefore(nil, p.To)
		} else {
			list[i].From, err = side(p.From)
		}
		if err == nil {
			list[i].To, err = side(p.To)
		}
		if err != nil {
			return nil, err
		}
	}
	return treediff.TotalsOf(ctx, s.diffSource(), list)
}
