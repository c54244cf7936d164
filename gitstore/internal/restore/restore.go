package restore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/contents"
)

// A Request selects parts of a snapshot and restore options.
type Request struct {
	Paths    []string // files and directories relative to the root; empty selects all
	Staged   bool     // restore the index; only the index unless Worktree is set
	Worktree bool     // restore the worktree; only the worktree unless Staged is set
	Exact    bool     // also remove files that came after the checkpoint with content of their own

	// Asked is set if the user asked for this checkpoint. Then the content of any checkpoint of
	// the chain is replaced, otherwise only that of an older one; and files that were as in HEAD
	// at the save go back to that.
	Asked bool

	Force   bool               // use the checkpoint's version in every conflict
	Changed Changed            // choice for files changed on both sides, "" means Mine
	Each    map[string]Changed // choices for single paths
	DryRun  bool
}

// An UnchangedPathError reports a requested path without a change in the checkpoint.
type UnchangedPathError struct {
	Path string
	Hint string // command that shows the changed paths, or ""
}

func (e *UnchangedPathError) Error() string {
	return fmt.Sprintf("the checkpoint has no change to %q", e.Path)
}

func (e *UnchangedPathError) Exit() (code int, hint string) { return failure.Failure, e.Hint }

// An Outcome lists the result for each path.
type Outcome struct {
	Restored []string // restored, or to be restored in a dry run
	Removed  []string // those of Restored that are deleted, from the index alone if Staged selects it
	Skipped  []string // kept because they changed since the checkpoint
	InTheWay []string // not restored because of an existing file
	Others   []string // kept because another session in this worktree changed them
	Sparse   []string // not written: outside the sparse checkout, or marked skip-worktree
	Unknown  bool     // InTheWay has untracked files, which Force would overwrite
	Foreign  []string // repositories inside the worktree that contain paths of InTheWay
	Later    []string // came after the checkpoint; those of Removed are removed
	Unsaved  []string // as in HEAD at the save and changed since, left as they are
	Merged   []string // files with conflict markers, unmerged in the index

	Committed []string // left as the commits since have them; some are in Skipped too
}

// NotSaved returns the files with changes since the checkpoint that it does not know, and that
// stay: files that were as in HEAD at the save, and files that came later.
func (o *Outcome) NotSaved() []string {
	paths := slices.Clone(o.Unsaved)
	for _, path := range o.Later {
		if !slices.Contains(o.Removed, path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// listSteps sets Restored and Removed to the paths of the steps.
func (o *Outcome) listSteps(steps []Step) {
	o.Restored, o.Removed = nil, nil
	for _, st := range steps {
		o.Restored = append(o.Restored, st.path)
		if st.deletes() {
			o.Removed = append(o.Removed, st.path)
		}
	}
}

// lose moves paths from Restored to another list: files that have changed concurrently, or that could
// not be set aside.
func (o *Outcome) lose(paths []string, to *[]string) {
	if len(paths) == 0 {
		return
	}
	isLost := func(p string) bool { return slices.Contains(paths, p) }
	o.Restored, o.Removed, o.Merged = slices.DeleteFunc(o.Restored, isLost), slices.DeleteFunc(o.Removed, isLost), slices.DeleteFunc(o.Merged, isLost)
	*to = append(*to, paths...)
	slices.Sort(*to)
}

// goesBack reports whether the files go back to the checkpoint, and are not merged with it.
func (r *Request) goesBack() bool { return r.Asked && r.Changed != Merged }

// Keep makes data durable that undoing or finishing the steps needs. It runs before any
// change; finished runs after the last step.
type Keep func(ctx context.Context, steps []Step) (finished func() error, err error)

// Restore restores a checkpoint. It returns an error that wraps
// ErrConcurrentChange if files change before their replacement, and a *LockedError if another git
// process holds the index lock. If an error occurs after keep, completed changes stay. With
// DryRun, it only returns the result of the present files.
func (s *Worktree) Restore(ctx context.Context, snap *contents.Contents, req Request, keep Keep) (*Outcome, error) {
	r := &restoring{s: s, req: &req, snap: snap, keep: keep, done: &Outcome{}}
	return r.done, r.run(ctx)
}

// A restoring is a running restore.
type restoring struct {
	s    *Worktree
	req  *Request
	snap *contents.Contents
	keep Keep
	lost bool // all files of the worktree are missing
	done *Outcome
}

func (r *restoring) run(ctx context.Context) error {
	var lists sync.WaitGroup // git makes both lists while another process reads the index
	defer lists.Wait()
	for _, list := range []func(context.Context) ([]string, error){r.s.Modified, r.s.Untracked} {
		if list != nil {
			lists.Go(func() { _, _ = list(ctx) })
		}
	}
	area, err := r.s.openLockedIndex(ctx, !r.req.DryRun)
	if err != nil {
		return err
	}
	defer area.close()
	plan, err := r.plan(ctx, area)
	if err != nil {
		return err
	}
	r.done.Skipped, r.done.InTheWay, r.done.Sparse, r.done.Unknown = plan.changed, plan.inTheWay, plan.sparse, plan.unknown
	r.done.Others, r.done.Unsaved, r.done.Merged, r.done.Committed, r.done.Later = plan.others, plan.unsaved, plan.conflicts, plan.committed, plan.later
	r.done.Sparse = slices.DeleteFunc(r.done.Sparse, func(path string) bool { // it stays for another reason
		return slices.Contains(plan.changed, path) || slices.Contains(plan.inTheWay, path)
	})
	r.done.Foreign = slices.Compact(slices.Sorted(slices.Values(plan.foreign)))
	r.done.listSteps(plan.steps)
	if r.req.DryRun || len(plan.steps) == 0 {
		return nil
	}
	w, err := r.s.openStaging()
	if err != nil {
		return err
	}
	return errors.Join(r.carryOut(ctx, w, area, &plan), w.close())
}

// plan returns the decision for every selected path, with the results of merges.
func (r *restoring) plan(ctx context.Context, area *lockedIndex) (decision, error) {
	targets, err := r.selected(ctx, area)
	if err != nil {
		return decision{}, err
	}
	now, err := r.s.readState(ctx, targets, area, false)
	if err != nil {
		return decision{}, err
	}
	c := choices{back: r.req.goesBack(), force: r.req.Force, exact: r.req.Exact, lost: r.lost, choice: r.req.Changed}
	r.s.past.compare(ctx, targets, now, c)
	plan := decide(targets, now, c)
	for _, st := range plan.steps {
		if err := r.s.checkWanted(st, r.req.DryRun); err != nil {
			return decision{}, err
		}
	}
	plan.unmerged = r.req.Staged || !r.req.Worktree
	err = r.s.mergeAll(ctx, &plan, area)
	plan.leaveOpen(targets)
	r.s.selected, r.s.open = nil, plan.open
	for i := range targets {
		r.s.selected = append(r.s.selected, targets[i].from())
	}
	return plan, err
}

// selected returns the targets that the request selects: those of the checkpoint, files that
// were as in HEAD, and files that came later. A past with since has only the changes since then.
func (r *restoring) selected(ctx context.Context, area *lockedIndex) ([]Target, error) {
	if p := r.s.past; p.since != nil {
		changed, err := contents.Between(r.s.Objects, p.since, r.snap)
		targets := make([]Target, len(changed))
		for i := range changed {
			targets[i].Target = changed[i]
		}
		if err != nil {
			return nil, err
		}
		return within(p.followRenames(targets, r.s.exists), r.req.Paths), nil
	}
	snap, err := contents.Gather(r.s.Objects, r.snap)
	if err != nil {
		return nil, err
	}
	own, err := snap.Targets()
	if err != nil {
		return nil, err
	}
	targets := make([]Target, 0, len(own))
	limits := r.s.Boundary(ctx)
	for _, t := range own {
		if t.Captured || limits.Find(t.Path).Reason == "" { // a carried path may belong to a repository
			isUnproven := !t.Captured && (snap.States.Lacks(t.Path) || snap.States.Scope == checkpoint.ScopeCut)
			targets = append(targets, Target{Target: t, file: versions[Side]{unproven: isUnproven}})
		}
	}
	clean, err := r.clean(ctx, snap, area)
	if err != nil {
		return nil, err
	}
	later, err := r.later(ctx, snap, area)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, t := range clean {
		known[t.Path] = true // a commit has added it, and the index has lost it
	}
	later = slices.DeleteFunc(later, func(t Target) bool { return known[t.Path] })
	targets = slices.Concat(targets, clean, later)
	targets = r.s.past.followRenames(targets, r.s.exists)
	for _, path := range r.req.Paths {
		if len(within(targets, []string{path})) == 0 {
			return nil, &UnchangedPathError{Path: path}
		}
	}
	targets = within(targets, r.req.Paths)
	slices.SortFunc(targets, func(a, b Target) int { return strings.Compare(a.Path, b.Path) })
	for i := range targets {
		t := &targets[i]
		if t.Index && t.IndexWant == t.IndexBase && !t.later {
			// A change that was not staged at the save stays unstaged.
			t.Index = t.clean || r.req.goesBack()
			t.IndexWant = contents.Merged(snap.Version(area.head, t.Path))
		}
		t.Work = t.Work && (r.req.Worktree || !r.req.Staged)
		t.Index = t.Index && (r.req.Staged || !r.req.Worktree)
		t.choice = r.req.Each[t.Path]
		if len(r.req.Paths) == 0 {
			t.session = r.s.Others[t.Path]
		}
	}
	return targets, nil
}

// exists reports whether the worktree has a file or a directory at a path.
func (s *Worktree) exists(path string) bool {
	_, err := os.Lstat(filepath.Join(s.Root, filepath.FromSlash(path)))
	return err == nil
}

// carryOut executes the plan after Keep made undo data durable.
func (r *restoring) carryOut(ctx context.Context, w *staging, area *lockedIndex, plan *decision) error {
	if err := faultPoint("planned"); err != nil {
		return err
	}
	if err := r.s.prepare(ctx, w, plan); err != nil {
		return err
	}
	finished, err := r.keep(ctx, plan.steps)
	if err != nil {
		return err
	}
	if err := faultPoint("entry"); err != nil {
		return err
	}
	lost, err := r.s.apply(ctx, w, area, plan.steps)
	if err != nil {
		return err
	}
	r.done.lose(lost, &r.done.Skipped)
	r.done.lose(w.stays, &r.done.InTheWay)
	r.s.open = slices.Concat(r.s.open, lost, w.stays)
	if err := faultPoint("index"); err != nil {
		return err
	}
	return finished()
}

// within returns targets at or below the given paths, or all targets if paths is empty.
func within(targets []Target, paths []string) []Target {
	if len(paths) == 0 {
		return targets
	}
	return slices.DeleteFunc(slices.Clone(targets), func(t Target) bool {
		return !slices.ContainsFunc(paths, func(path string) bool { return checkpoint.IsWithin(t.Path, path) })
	})
}
