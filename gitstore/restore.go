package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
)

// A RestoreRequest says what to put back.
type RestoreRequest struct {
	Checkpoint *Checkpoint
	Paths      []string           // files and directories relative to the root, none for all
	Staged     bool               // the staging area; alone unless Worktree is set as well
	Worktree   bool               // the worktree, likewise
	Exact      bool               // also remove files that came later
	Force      bool               // take the checkpoint's side everywhere, whatever HEAD is
	AnyHead    bool               // whatever HEAD is, and leave what was changed since
	Changed    Changed            // for files that both sides changed, "" is Mine
	Each       map[string]Changed // for single ones of them, by path
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
	Merging  []string // the commits that were being merged at the save, where no merge is under way now
	Undo     string   // the ref of the safety snapshot, "" when nothing was touched
}

// Restore puts the files of a checkpoint back. It touches what the checkpoint
// changed against its own HEAD and nothing else, and leaves what was changed
// since alone unless asked. What it replaces is in a safety snapshot first. A
// restore that fails is taken back; one that is killed leaves a journal, by
// which the next one, Continue or Abort goes on.
func (s *Store) Restore(ctx context.Context, req RestoreRequest) (*Restored, error) {
	done, err := s.restore(ctx, req)
	if errors.Is(err, errMeanwhile) {
		err = &RefusedError{Reason: err.Error(), Hint: "git status"}
	}
	if err != nil {
		return done, fmt.Errorf("restore %s: %w", req.Checkpoint.ID, err)
	}
	return done, nil
}

func (s *Store) restore(ctx context.Context, req RestoreRequest) (*Restored, error) {
	if !req.DryRun { // which works in a repository that is read-only too
		release, err := s.lockWorktree()
		if err != nil {
			return nil, err
		}
		defer release()
		if err := errors.Join(s.finishPending(ctx), s.sweep()); err != nil {
			return nil, err
		}
	}
	st, err := s.openSnapshot(req.Checkpoint)
	if err != nil {
		return nil, err
	}
	if err := s.checkPlace(ctx, &req, st); err != nil {
		return nil, err
	}
	r := &restoring{s: s, req: &req, st: st, done: &Restored{ID: req.Checkpoint.ID, Merging: s.merging(st)}}
	err = r.run(ctx)
	if err != nil && r.safety != nil {
		return r.done, r.rollBack(context.WithoutCancel(ctx), err)
	}
	return r.done, err
}

// A restoring is one restore.
type restoring struct {
	s      *Store
	req    *RestoreRequest
	st     *stored
	done   *Restored
	safety *safety // once the worktree may have been touched
}

func (r *restoring) run(ctx context.Context) error {
	area, err := r.s.openStaging(ctx, !r.req.DryRun)
	if err != nil {
		return err
	}
	defer area.close()
	plan, err := r.plan(ctx, area)
	if err != nil {
		return err
	}
	if r.req.DryRun || len(plan.steps) == 0 {
		r.tell(&plan)
		return nil
	}
	w, err := r.s.openWorkshop()
	if err != nil {
		return err
	}
	return errors.Join(r.carryOut(ctx, w, area, &plan), w.close())
}

// plan decides what to do with every path.
func (r *restoring) plan(ctx context.Context, area *stagingArea) (restorePlan, error) {
	targets, err := r.s.targets(r.st)
	if err != nil {
		return restorePlan{}, err
	}
	later, err := r.s.later(ctx, r.st, area, targets)
	if err != nil {
		return restorePlan{}, err
	}
	for _, t := range within(later, r.req.Paths) {
		r.done.Later = append(r.done.Later, t.path)
	}
	if r.req.Exact {
		targets = append(targets, later...)
	}
	for _, path := range r.req.Paths {
		if len(within(targets, []string{path})) == 0 {
			return restorePlan{}, fmt.Errorf("path %q: the checkpoint did not change it", path)
		}
	}
	targets = within(targets, r.req.Paths)
	for i := range targets {
		targets[i].work = targets[i].work && (r.req.Worktree || !r.req.Staged)
		targets[i].index = targets[i].index && (r.req.Staged || !r.req.Worktree)
		targets[i].choice = r.req.Each[targets[i].path]
	}
	now, err := r.s.observeIn(ctx, targets, area, false)
	if err != nil {
		return restorePlan{}, err
	}
	return planRestore(targets, now, r.req.Changed, r.req.Force), nil
}

func (r *restoring) tell(p *restorePlan) {
	r.done.Restored, r.done.Skipped, r.done.InTheWay = nil, p.changed, p.inTheWay
	for _, st := range p.steps {
		r.done.Restored = append(r.done.Restored, st.path)
	}
}

// carryOut writes the safety snapshot and the journal, acts, and removes the
// journal.
func (r *restoring) carryOut(ctx context.Context, w *workshop, area *stagingArea, plan *restorePlan) error {
	s, k := r.s, area.k
	if err := faultPoint("planned"); err != nil {
		return err
	}
	conflicts, err := s.prepare(ctx, w, plan, k)
	if err != nil {
		return err
	}
	r.tell(plan)
	if len(plan.steps) == 0 {
		return nil
	}
	sf, err := s.writeSafety(ctx, r.req.Checkpoint, plan.steps, k)
	if err != nil {
		return err
	}
	r.safety, r.done.Undo, r.done.Merged = sf, sf.ref, conflicts
	if err := s.writeJournal(sf); err != nil {
		return err
	}
	if err := faultPoint("journal"); err != nil {
		return err
	}
	lost, err := s.act(ctx, w, area, plan.steps)
	if err != nil {
		return err
	}
	r.done.lose(lost)
	if err := faultPoint("index"); err != nil {
		return err
	}
	return s.removeJournal()
}

// rollBack takes back what was done before an error.
func (r *restoring) rollBack(ctx context.Context, cause error) error {
	if _, err := r.s.takeBack(ctx, r.safety); err != nil {
		return &RefusedError{
			Reason: fmt.Sprintf("%v; what was done stays for now: %v", cause, err),
			Hint:   "git checkpoint restore --abort",
		}
	}
	r.done.Restored, r.done.Undo, r.done.Merged = nil, "", nil
	return errors.Join(cause, r.s.removeJournal())
}

// within keeps the targets at or below one of paths, all for none.
func within(targets []target, paths []string) []target {
	if len(paths) == 0 {
		return targets
	}
	return slices.DeleteFunc(slices.Clone(targets), func(t target) bool {
		return !slices.ContainsFunc(paths, func(path string) bool { return below(t.path, path) })
	})
}
