package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/gitcmd"

	"github.com/go-git/go-git/v5/plumbing"
)

// A RestoreRequest says what to put back.
type RestoreRequest struct {
	Checkpoint *Checkpoint
	Paths      []string // files and directories relative to the root, none for all
	Staged     bool     // the staging area alone
	Exact      bool     // also remove files that came later
	Force      bool     // take the checkpoint's side everywhere, whatever HEAD is
	Changed    Changed  // for files that both sides changed, "" is Mine
	DryRun     bool
}

// Restored is the outcome of a restore.
type Restored struct {
	ID       checkpoint.ID
	Restored []string // put back, or would be
	Skipped  []string // changed since, and left as they are
	InTheWay []string // not restored, for a file that git does not know
	Later    []string // came after the checkpoint; removed with Exact
	Merged   []string // with conflict marks, where there are any
	Undo     string   // the ref of the safety snapshot, "" when nothing was touched
}

// Restore puts the files of a checkpoint back. It touches what the checkpoint
// changed against its own HEAD and nothing else, and leaves what was changed
// since alone unless asked. What it replaces is in a safety snapshot first.
func (s *Store) Restore(ctx context.Context, req RestoreRequest) (*Restored, error) {
	done, err := s.restore(ctx, req)
	if err != nil {
		return done, fmt.Errorf("restore %s: %w", req.Checkpoint.ID, err)
	}
	return done, nil
}

func (s *Store) restore(ctx context.Context, req RestoreRequest) (*Restored, error) {
	if s.repo.root == "" {
		return nil, &UnsupportedError{Feature: ErrBare.Error()}
	}
	release, err := s.lockWorktree()
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.finishPending(ctx); err != nil {
		return nil, err
	}
	st, err := s.openSnapshot(req.Checkpoint)
	if err != nil {
		return nil, err
	}
	if !req.Force {
		if err := s.checkHead(ctx, req.Checkpoint, st); err != nil {
			return nil, err
		}
	}
	plan, later, err := s.planFor(ctx, req, st)
	if err != nil {
		return nil, err
	}
	done := &Restored{ID: req.Checkpoint.ID, Skipped: plan.changed, InTheWay: plan.inTheWay, Later: later}
	for _, step := range plan.steps {
		done.Restored = append(done.Restored, step.path)
	}
	if req.DryRun || len(plan.steps) == 0 {
		return done, nil
	}
	return done, s.carryOut(ctx, req.Checkpoint, plan.steps, done)
}

// carryOut writes the safety snapshot and the journal, acts, and removes the
// journal.
func (s *Store) carryOut(ctx context.Context, c *Checkpoint, steps []step, done *Restored) error {
	k := s.newSink()
	steps, merged, err := s.prepare(ctx, steps, k)
	if err != nil {
		return err
	}
	sf, err := s.writeSafety(ctx, c, steps, k)
	if err != nil {
		return err
	}
	done.Undo, done.Merged = sf.ref, merged
	if err := s.writeJournal(sf); err != nil {
		return err
	}
	if err := s.act(ctx, steps); err != nil {
		return err
	}
	return errors.Join(s.removeJournal(), s.expireSafety(ctx, c.Issue))
}

// planFor decides what to do with every path.
func (s *Store) planFor(ctx context.Context, req RestoreRequest, st *stored) (restorePlan, []string, error) {
	targets, err := s.targets(st)
	if err != nil {
		return restorePlan{}, nil, err
	}
	later, err := s.later(ctx, st)
	if err != nil {
		return restorePlan{}, nil, err
	}
	if req.Exact {
		for _, f := range later {
			targets = append(targets, target{path: f.path, index: true, work: true, indexBase: merged(side{f.mode, f.hash}), workBase: side{f.mode, f.hash}})
		}
	}
	if targets, err = within(targets, req.Paths); err != nil {
		return restorePlan{}, nil, err
	}
	if req.Staged {
		for i := range targets {
			targets[i].work = false
		}
	}
	now, err := s.observe(ctx, targets)
	if err != nil {
		return restorePlan{}, nil, err
	}
	var names []string
	for _, f := range later {
		names = append(names, f.path)
	}
	return planRestore(targets, now, req.Changed, req.Force), names, nil
}

// later are the files that were staged after the checkpoint and are neither
// in it nor in HEAD.
func (s *Store) later(ctx context.Context, st *stored) ([]file, error) {
	x, done, err := s.openIndex(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	k := s.newSink()
	staged, err := x.WriteTree(k, k)
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	head, err := s.readHead(ctx)
	if err != nil {
		return nil, err
	}
	var headTree plumbing.Hash
	if !head.commit.IsZero() {
		c, err := s.readCommit(head.commit)
		if err != nil {
			return nil, fmt.Errorf("read HEAD: %w", err)
		}
		headTree = c.tree
	}
	changes, err := diffTrees(k, headTree, staged)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, c := range changes {
		if !c.old.hash.IsZero() {
			continue
		}
		have, err := s.sideAt(st.staged, c.path)
		if err != nil {
			return nil, err
		}
		if have == (side{}) {
			files = append(files, file{c.path, c.new.mode, c.new.hash})
		}
	}
	return files, nil
}

// checkHead refuses where the checkpoint's files do not belong: HEAD does not
// contain the commit they were made on, or git is in the middle of something.
func (s *Store) checkHead(ctx context.Context, c *Checkpoint, st *stored) error {
	if what := s.busy(); what != "" {
		return &RefusedError{Reason: fmt.Sprintf("a %s is under way", what), Hint: fmt.Sprintf("git %s --abort", what)}
	}
	if st.head.IsZero() {
		return nil
	}
	now, err := s.readHead(ctx)
	if err != nil {
		return err
	}
	if now.commit == st.head {
		return nil
	}
	if !now.commit.IsZero() {
		_, err := s.git.Output(ctx, "merge-base", "--is-ancestor", st.head.String(), now.commit.String())
		if err == nil {
			return nil
		}
		if gitcmd.Code(err) != 1 {
			return err
		}
	}
	branch := c.Branch
	if branch == "" || s.hasBranch(ctx, branch) {
		branch = "resume-" + c.Issue.RefName()
	}
	return &RefusedError{
		Reason: fmt.Sprintf("HEAD does not contain %s, on which the checkpoint was made", st.head.String()[:12]),
		Hint:   fmt.Sprintf("git switch -c %s %s^2^", branch, c.Commit.String()[:12]),
	}
}

func (s *Store) hasBranch(ctx context.Context, name string) bool {
	hash, err := s.readRef(ctx, "refs/heads/"+name)
	return err == nil && !hash.IsZero()
}

// busy names what git is in the middle of, "" for nothing.
func (s *Store) busy() string {
	for _, b := range []struct{ file, what string }{
		{"MERGE_HEAD", "merge"}, {"rebase-merge", "rebase"}, {"rebase-apply", "rebase"},
		{"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"},
	} {
		if _, err := os.Lstat(filepath.Join(s.repo.dir, b.file)); err == nil {
			return b.what
		}
	}
	return ""
}

// paths are the paths of steps for which pick says yes.
func pathsOf(steps []step, pick func(step) bool) []string {
	var list []string
	for _, st := range steps {
		if pick(st) {
			list = append(list, st.path)
		}
	}
	return slices.Clip(list)
}
