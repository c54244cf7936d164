package restore

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// A Request says what of a snapshot to put back, and how.
type Request struct {
	Paths    []string           // files and directories relative to the root, none for all
	Staged   bool               // the staging area; alone unless Worktree is set as well
	Worktree bool               // the worktree, likewise
	Exact    bool               // also remove files that came later
	Force    bool               // take the checkpoint's side everywhere
	Changed  Changed            // for files that both sides changed, "" is Mine
	Each     map[string]Changed // for single ones of them, by path
	DryRun   bool
}

// An Outcome says what became of the paths.
type Outcome struct {
	Restored []string // put back, or would be
	Skipped  []string // changed since, and left as they are
	InTheWay []string // not restored, for a file that git does not know
	Later    []string // came after the checkpoint; removed with Exact
	Merged   []string // with conflict marks, where there are any
}

// lose moves paths to those that were left alone, since somebody changed them
// in the last moment.
func (o *Outcome) lose(paths []string) {
	if len(paths) == 0 {
		return
	}
	o.Restored = slices.DeleteFunc(o.Restored, func(p string) bool { return slices.Contains(paths, p) })
	o.Skipped = append(o.Skipped, paths...)
	slices.Sort(o.Skipped)
}

// Keep makes last what is needed to take steps back, or to finish them, before
// anything is touched. Finished is called when they are done.
type Keep func(ctx context.Context, steps []Step) (finished func() error, err error)

// Restore puts a snapshot back. It fails with an error that wraps ErrConcurrentChange
// where somebody changes files that it is about to replace, with *LockedError
// where another git writes the staging area. Once keep was called, what was
// done before an error stays done.
func (s *Worktree) Restore(ctx context.Context, snap *Contents, req Request, keep Keep) (*Outcome, error) {
	r := &restoring{s: s, req: &req, snap: snap, keep: keep, done: &Outcome{}}
	return r.done, r.run(ctx)
}

// A restoring is one restore.
type restoring struct {
	s    *Worktree
	req  *Request
	snap *Contents
	keep Keep
	done *Outcome
}

func (r *restoring) run(ctx context.Context) error {
	area, err := r.s.openLockedIndex(ctx, !r.req.DryRun)
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
	w, err := r.s.openStaging()
	if err != nil {
		return err
	}
	return errors.Join(r.carryOut(ctx, w, area, &plan), w.close())
}

// plan decides what to do with every path.
func (r *restoring) plan(ctx context.Context, area *lockedIndex) (decision, error) {
	targets, err := Targets(r.s.Objects, r.snap)
	if err != nil {
		return decision{}, err
	}
	later, err := r.s.later(ctx, r.snap, area, targets)
	if err != nil {
		return decision{}, err
	}
	for _, t := range within(later, r.req.Paths) {
		r.done.Later = append(r.done.Later, t.Path)
	}
	if r.req.Exact {
		targets = append(targets, later...)
	}
	for _, path := range r.req.Paths {
		if len(within(targets, []string{path})) == 0 {
			return decision{}, fmt.Errorf("path %q: the checkpoint did not change it", path)
		}
	}
	targets = within(targets, r.req.Paths)
	for i := range targets {
		targets[i].Work = targets[i].Work && (r.req.Worktree || !r.req.Staged)
		targets[i].Index = targets[i].Index && (r.req.Staged || !r.req.Worktree)
		targets[i].choice = r.req.Each[targets[i].Path]
	}
	now, err := r.s.readState(ctx, targets, area, false)
	if err != nil {
		return decision{}, err
	}
	return r.s.decide(ctx, targets, now, r.req.Changed, r.req.Force)
}

// decide is the pure decision, with the history since the snapshot: a path that
// a commit has changed since is changed, also if that was reverted. Only paths
// that would be written are looked for in the history.
func (s *Worktree) decide(ctx context.Context, targets []Target, now func(string) state, choice Changed, force bool) (decision, error) {
	plan := decide(targets, now, choice, force)
	if s.Touched == nil || force || len(plan.steps) == 0 {
		return plan, nil
	}
	paths := make([]string, len(plan.steps))
	for i, st := range plan.steps {
		paths[i] = st.path
	}
	touched, err := s.Touched(ctx, paths)
	switch {
	case ctx.Err() != nil:
		return plan, ctx.Err()
	case err != nil && !errors.Is(err, ErrUnknownHistory):
		return plan, err
	case err == nil && len(touched) == 0:
		return plan, nil
	}
	targets = slices.Clone(targets)
	for i, t := range targets {
		targets[i].touched = !t.later && (touched[t.Path] || err != nil && t.mayBeCommitted(now(t.Path)))
	}
	return decide(targets, now, choice, force), nil
}

// mayBeCommitted reports whether a restore could take back a commit that the
// history does not show. It could not if the file was untracked, and is gone.
func (t Target) mayBeCommitted(s state) bool {
	return t.Index || t.WorkBase != Side{} || s.work != Side{} || s.index != Stages{}
}

func (r *restoring) tell(p *decision) {
	r.done.Restored, r.done.Skipped, r.done.InTheWay = nil, p.changed, p.inTheWay
	for _, st := range p.steps {
		r.done.Restored = append(r.done.Restored, st.path)
	}
}

// carryOut acts once what is needed to take it back is kept.
func (r *restoring) carryOut(ctx context.Context, w *staging, area *lockedIndex, plan *decision) error {
	if err := faultPoint("planned"); err != nil {
		return err
	}
	conflicts, err := r.s.prepare(ctx, w, plan)
	if err != nil {
		return err
	}
	r.tell(plan)
	if len(plan.steps) == 0 {
		return nil
	}
	finished, err := r.keep(ctx, plan.steps)
	if err != nil {
		return err
	}
	r.done.Merged = conflicts
	if err := faultPoint("journal"); err != nil {
		return err
	}
	lost, err := r.s.apply(ctx, w, area, plan.steps)
	if err != nil {
		return err
	}
	r.done.lose(lost)
	if err := faultPoint("index"); err != nil {
		return err
	}
	return finished()
}

// Differ lists the paths of targets that were changed since the snapshot, by the
// rules of Restore. The second list has the paths that cannot be restored because
// a file that git does not know is in the way.
func (s *Worktree) Differ(ctx context.Context, targets []Target) (changed, inTheWay []string, err error) {
	area, err := s.openLockedIndex(ctx, false)
	if err != nil {
		return nil, nil, err
	}
	defer area.close()
	now, err := s.readState(ctx, targets, area, false)
	if err != nil {
		return nil, nil, err
	}
	plan, err := s.decide(ctx, targets, now, Mine, false)
	return plan.changed, plan.inTheWay, err
}

// within keeps the targets at or below one of paths, all for none.
func within(targets []Target, paths []string) []Target {
	if len(paths) == 0 {
		return targets
	}
	return slices.DeleteFunc(slices.Clone(targets), func(t Target) bool {
		return !slices.ContainsFunc(paths, func(path string) bool { return below(t.Path, path) })
	})
}
