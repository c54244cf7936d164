package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/operation"
	"git-checkpoint/gitstore/internal/repo"
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
	Hint string // command that shows the changed paths
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

func (o *Outcome) listSteps(steps []Step) {
	o.Restored, o.Removed = nil, nil
	for _, st := range steps {
		o.Restored = append(o.Restored, st.Path)
		if st.deletes() {
			o.Removed = append(o.Removed, st.Path)
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

// restoreFiles restores the checkpoint. It returns an error that wraps ErrConcurrentChange if files
// change before their replacement, and a *RefusedError if another git process holds the index lock. If
// an error occurs after the entry is stored, completed changes stay. With DryRun, it only returns the
// result of the present files.
func (s *worktree) restoreFiles(ctx context.Context) (*Outcome, error) {
	var lists sync.WaitGroup // git makes the lists while another process reads the index
	defer lists.Wait()
	lists.Go(func() { _, _, _ = s.lists(ctx) })
	area, err := s.openLockedIndex(ctx, !s.req.DryRun)
	if err != nil {
		return &Outcome{}, err
	}
	defer area.close()
	plan, err := s.plan(ctx, area)
	if err != nil {
		return &Outcome{}, err
	}
	done := &plan.Outcome
	done.Sparse = slices.DeleteFunc(done.Sparse, func(path string) bool { // it stays for another reason
		return slices.Contains(done.Skipped, path) || slices.Contains(done.InTheWay, path)
	})
	done.Foreign = slices.Compact(slices.Sorted(slices.Values(done.Foreign)))
	done.listSteps(plan.steps)
	if s.req.DryRun || len(plan.steps) == 0 {
		return done, nil
	}
	err = s.carryOut(ctx, area, plan.steps, done, func(steps []Step) error {
		e := s.log.Current()
		e.State, e.Checkpoint = operation.Pending, s.req.Checkpoint.ID
		err := s.note(ctx, e, steps, indexBefore)
		s.kept, s.isNoted = s.log.Kept(e), err == nil || repo.IsDone(err)
		return err
	})
	if err == nil {
		s.log.Current().State = operation.Done // the end of the operation stores it
	}
	return done, err
}

// plan returns the decision for every selected path, with the results of merges.
func (s *worktree) plan(ctx context.Context, area *lockedIndex) (decision, error) {
	targets, err := s.targets(ctx, area)
	if err != nil {
		return decision{}, err
	}
	if err := s.readState(ctx, targets, area, false); err != nil {
		return decision{}, err
	}
	c := choices{back: s.req.goesBack(), force: s.req.Force, exact: s.req.Exact, lost: s.lost, choice: s.req.Changed}
	s.past.compare(ctx, targets, c)
	plan := decide(targets, c)
	if err := s.checkWanted(plan.steps); err != nil {
		return decision{}, err
	}
	plan.unmerged = s.req.Staged || !s.req.Worktree
	err = s.mergeAll(ctx, &plan, area)
	left := chain.SetOf(slices.Concat(plan.open, plan.Skipped, plan.InTheWay)) // also by merges, and conflicts with other paths
	for i := range targets {
		s.selected = append(s.selected, targets[i].from())
		if left[targets[i].Path] {
			s.open = append(s.open, targets[i].from())
		}
	}
	return plan, err
}

// targets returns the targets that the request selects: those of the checkpoint, files that
// were as in HEAD, and files that came later. A past with since has only the changes since then.
func (s *worktree) targets(ctx context.Context, area *lockedIndex) ([]Target, error) {
	if p := s.past; p.since != nil {
		changed, err := contents.Between(s.objects, p.since, s.snap)
		targets := make([]Target, len(changed))
		for i := range changed {
			targets[i].Target = changed[i]
		}
		if err != nil {
			return nil, err
		}
		return within(p.followRenames(targets, s.exists), s.req.Paths), nil
	}
	snap, err := contents.Gather(s.objects, s.snap)
	if err != nil {
		return nil, err
	}
	own, err := snap.Targets()
	if err != nil {
		return nil, err
	}
	targets := make([]Target, 0, len(own))
	limits := s.repo.Boundary(ctx)
	for _, t := range own {
		if t.Captured || limits.Find(t.Path).Reason == "" { // a carried path may belong to a repository
			isUnproven := !t.Captured && (snap.States.Lacks(t.Path) || snap.States.Scope == checkpoint.ScopeCut)
			targets = append(targets, Target{Target: t, file: versions[Side]{unproven: isUnproven}})
		}
	}
	clean, err := s.clean(ctx, snap, area)
	if err != nil {
		return nil, err
	}
	later, err := s.later(ctx, snap, area)
	if err != nil {
		return nil, err
	}
	targets = s.past.followRenames(slices.Concat(targets, clean, later), s.exists)
	for _, path := range s.req.Paths {
		if len(within(targets, []string{path})) == 0 {
			c := s.req.Checkpoint
			return nil, &UnchangedPathError{path, "git checkpoint show " + failure.IssueArg(string(c.Issue)) + " " + failure.Quote(string(c.ID))}
		}
	}
	targets = within(targets, s.req.Paths)
	slices.SortFunc(targets, func(a, b Target) int { return strings.Compare(a.Path, b.Path) })
	for i := range targets {
		t := &targets[i]
		if t.Index && t.IndexWant == t.IndexBase && !t.later {
			// A change that was not staged at the save stays unstaged.
			t.Index = t.clean || s.req.goesBack()
			t.IndexWant = contents.Merged(snap.Version(area.head, t.Path))
		}
		t.Work = t.Work && (s.req.Worktree || !s.req.Staged)
		t.Index = t.Index && (s.req.Staged || !s.req.Worktree)
		t.choice = s.req.Each[t.Path]
		if len(s.req.Paths) == 0 {
			t.session = s.others[t.Path]
		}
	}
	return targets, nil
}

func (s *worktree) exists(path string) bool {
	_, err := s.in.root.Lstat(filepath.FromSlash(path))
	return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
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
