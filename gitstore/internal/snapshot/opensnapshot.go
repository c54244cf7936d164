package snapshot

import (
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
	st, err := s.treesOf(c)
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

// treesOf opens the trees of a checkpoint.
func (s *Capturer) treesOf(c *chain.Checkpoint) (*Stored, error) {
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

// A TreeDiff is the difference between the files of two checkpoints.
type TreeDiff = treediff.Diff

// A FileChange is a file that differs between two checkpoints.
type FileChange = treediff.Change

// Compare compares the files of two checkpoints. If from is nil, it compares a checkpoint
// with HEAD at the time of its save. Paths are git pathspecs that limit the result;
// without paths all files count.
func (s *Capturer) Compare(from, to *chain.Checkpoint, paths ...string) (*TreeDiff, error) {
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
	return treediff.Source{Git: s.repo.Git, Objects: s.repo.Objects, NoIndex: noIndex}
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
	return treediff.Side{Tree: st.Base}, nil
}

// side returns the files of a checkpoint as one side of a comparison.
func (s *Capturer) side(c *chain.Checkpoint) (treediff.Side, error) {
	entries, err := trees.Read(s.repo.Objects, c.Tree)
	if err != nil {
		return treediff.Side{}, fmt.Errorf("%s: %w", c.Name(), err)
	}
	return treediff.Side{Tree: trees.HashOf(entries, "state"), Conflicts: trees.HashOf(entries, "conflicts")}, nil
}

// Diff returns the difference between a checkpoint's file and the file in the
// worktree, in the format of git diff. The text contains raw file contents: callers must
// escape it for a terminal.
func (s *Capturer) Diff(ctx context.Context, c *chain.Checkpoint, path string) (string, error) {
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
	list := make([]treediff.Pair, len(pairs))
	for i, p := range pairs {
		before, err := s.sideBefore(p.From, p.To)
		if err != nil {
			return nil, err
		}
		after, err := s.side(p.To)
		if err != nil {
			return nil, err
		}
		list[i] = treediff.Pair{From: before.Tree, To: after.Tree}
	}
	return treediff.TotalsOf(ctx, s.diffSource(), list)
}
