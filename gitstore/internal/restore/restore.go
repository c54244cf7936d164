package restore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Request selects parts of a snapshot and restore options.
type Request struct {
	Paths    []string           // files and directories relative to the root; empty selects all
	Staged   bool               // restore the index; only the index unless Worktree is set
	Worktree bool               // restore the worktree; only the worktree unless Staged is set
	Exact    bool               // also remove files added after the checkpoint
	Force    bool               // use the checkpoint's version in every conflict
	Changed  Changed            // choice for files changed on both sides, "" means Mine
	Each     map[string]Changed // choices for single paths
	DryRun   bool
}

// An UnchangedPathError reports a requested path without a change in the checkpoint.
type UnchangedPathError struct {
	Path string
	Hint string // command that shows the changed paths, or ""
}

func (e *UnchangedPathError) Error() string {
	return fmt.Sprintf("the checkpoint has no change to %q", e.Path)
}

// ExitCode returns the exit code of the error.
func (e *UnchangedPathError) ExitCode() int { return failure.Failure }

// ExitHint returns the command that shows the changed paths.
func (e *UnchangedPathError) ExitHint() string { return e.Hint }

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
	Later    []string // added after the checkpoint; removed if Exact is set
	Merged   []string // files with conflict markers, unmerged in the index

	Committed []string // those of Skipped that a commit has changed, for an undo
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

// lose moves paths from Restored to Skipped after a concurrent change.
func (o *Outcome) lose(paths []string) {
	if len(paths) == 0 {
		return
	}
	isLost := func(p string) bool { return slices.Contains(paths, p) }
	o.Restored, o.Removed = slices.DeleteFunc(o.Restored, isLost), slices.DeleteFunc(o.Removed, isLost)
	o.Skipped = append(o.Skipped, paths...)
	slices.Sort(o.Skipped)
}

// Keep makes data durable that undoing or finishing the steps needs. It runs before any
// change; finished runs after the last step.
type Keep func(ctx context.Context, steps []Step) (finished func() error, err error)

// Restore restores a snapshot. It returns an error that wraps ErrConcurrentChange if
// files change before their replacement, and a *LockedError if another git process holds
// the index lock. If an error occurs after keep, completed changes stay.
func (s *Worktree) Restore(ctx context.Context, snap *Contents, req Request, keep Keep) (*Outcome, error) {
	r := &restoring{s: s, req: &req, snap: snap, keep: keep, done: &Outcome{}}
	return r.done, r.run(ctx)
}

// A restoring is a running restore.
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

// plan returns the decision for every selected path.
func (r *restoring) plan(ctx context.Context, area *lockedIndex) (decision, error) {
	targets, err := Targets(r.s.Objects, r.snap)
	if err != nil {
		return decision{}, err
	}
	later, err := r.s.later(ctx, r.snap, area, targets)
	if err != nil {
		return decision{}, err
	}
	if r.s.Saved != nil {
		if targets, err = r.s.withSaved(r.snap, targets); err != nil {
			return decision{}, err
		}
	}
	for _, t := range within(later, r.req.Paths) {
		r.done.Later = append(r.done.Later, t.Path)
	}
	if r.req.Exact {
		targets = slices.DeleteFunc(targets, func(t Target) bool {
			return t.onlySaved && slices.ContainsFunc(later, func(l Target) bool { return l.Path == t.Path })
		})
		targets = append(targets, later...)
	}
	for _, path := range r.req.Paths {
		if len(within(targets, []string{path})) == 0 {
			return decision{}, &UnchangedPathError{Path: path}
		}
	}
	targets = within(targets, r.req.Paths)
	for i := range targets {
		targets[i].Work = targets[i].Work && (r.req.Worktree || !r.req.Staged)
		targets[i].Index = targets[i].Index && (r.req.Staged || !r.req.Worktree)
		targets[i].choice = r.req.Each[targets[i].Path]
		if len(r.req.Paths) == 0 {
			targets[i].session = r.s.Others[targets[i].Path]
		}
	}
	now, err := r.s.readState(ctx, targets, area, false)
	if err != nil {
		return decision{}, err
	}
	plan, err := r.s.decide(ctx, targets, now, r.req.Changed, r.req.Force)
	plan.unmerged = r.req.Staged || !r.req.Worktree
	return plan, err
}

func (r *restoring) tell(p *decision) {
	r.done.Skipped, r.done.InTheWay, r.done.Sparse, r.done.Unknown = p.changed, p.inTheWay, p.sparse, p.unknown
	r.done.Others = p.others
	r.done.Foreign = slices.Compact(slices.Sorted(slices.Values(p.foreign)))
	r.done.listSteps(p.steps)
}

// carryOut executes the plan after Keep made undo data durable.
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

// Differ returns target paths changed since the snapshot, by the same rules as Restore.
// The second list contains paths blocked by untracked files.
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
	plan, err := s.decide(ctx, targets, now, "", false)
	return plan.changed, plan.inTheWay, err
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

// later returns files added after the checkpoint, as targets to remove. These are staged
// files that exist neither in HEAD nor in the checkpoint's index. If the checkpoint
// captured untracked files, current untracked files missing from it are added. Absence needs
// proof: a file is returned only if the record states its extent, the class of the file is
// complete, and the rules for ignored files are those of the save. Files that the checkpoint
// left out are never returned.
func (s *Worktree) later(ctx context.Context, snap *Contents, area *lockedIndex, targets []Target) ([]Target, error) {
	known := map[string]bool{}
	for _, t := range targets {
		known[t.Path] = true
	}
	facts := snap.Record.Snapshot()
	extent := facts.Extent()
	if !extent.Stated {
		return nil, nil
	}
	files, err := s.laterStaged(ctx, snap, area)
	if err != nil {
		return nil, err
	}
	var list []Target
	for _, f := range files {
		if !known[f.path] && !facts.Lacks(f.path) && extent.Index == checkpoint.Complete {
			list = append(list, Target{Path: f.path, Index: true, Work: f.Mode != trees.ModeGitlink, IndexBase: merged(f.Side), WorkBase: f.Side, later: true})
		}
	}
	if extent.Untracked != checkpoint.NoFiles && !slices.ContainsFunc(facts.Skipped, func(f checkpoint.Skipped) bool { return f.Path == "." }) {
		untracked, err := s.laterUntracked(ctx, snap)
		if err != nil {
			return nil, err
		}
		if len(untracked) > 0 {
			same, err := s.ignoresAlike(ctx, snap)
			if err != nil {
				return nil, err
			}
			if !same {
				untracked = nil
			}
		}
		for _, path := range untracked {
			if !known[path] && !facts.Lacks(path) {
				list = append(list, Target{Path: path, Work: true, any: true, later: true})
			}
		}
	}
	slices.SortFunc(list, func(a, b Target) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

// ignoresAlike reports whether git ignores the same files as at the save: the rules outside of
// the worktree have the recorded digest, and all .gitignore files have their content of the
// save.
func (s *Worktree) ignoresAlike(ctx context.Context, snap *Contents) (bool, error) {
	if s.Ignores == nil || snap.Record.Snapshot().Ignores != s.Ignores() {
		return false, nil
	}
	then := map[string]plumbing.Hash{}
	for _, tree := range []plumbing.Hash{snap.Staged, trees.HashOf(snap.Entries, "worktree"), trees.HashOf(snap.Entries, "untracked")} {
		if err := s.addIgnoreFiles(then, tree); err != nil {
			return false, err
		}
	}
	for _, path := range snap.Record.Snapshot().Deleted {
		delete(then, path)
	}
	g := s.Git
	g.Dir = s.Root
	out, err := g.Output(ctx, "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", ":(glob)**/.gitignore")
	if err != nil {
		return false, fmt.Errorf("list .gitignore files: %w", err)
	}
	paths := git.Fields(out)
	slices.Sort(paths)
	paths = slices.Compact(paths)
	hashes, err := s.Hash(ctx, paths)
	if err != nil {
		return false, err
	}
	now := map[string]plumbing.Hash{}
	for i, path := range paths {
		if !hashes[i].IsZero() {
			now[path] = hashes[i]
		}
	}
	return maps.Equal(then, now), nil
}

// addIgnoreFiles adds the .gitignore files of a tree.
func (s *Worktree) addIgnoreFiles(files map[string]plumbing.Hash, tree plumbing.Hash) error {
	if tree.IsZero() {
		return nil
	}
	changes, err := trees.Diff(s.Objects, plumbing.ZeroHash, tree)
	for _, c := range changes {
		if path.Base(c.Path) == ".gitignore" {
			files[c.Path] = c.New.Hash
		}
	}
	return err
}

// A named is a Side with its path.
type named struct {
	path string
	Side
}

func (s *Worktree) laterStaged(ctx context.Context, snap *Contents, area *lockedIndex) ([]named, error) {
	head, err := s.Head(ctx)
	if err != nil {
		return nil, err
	}
	changes, err := trees.Diff(s.Objects, head, area.tree)
	if err != nil {
		return nil, err
	}
	var files []named
	find := &trees.Finder{Reader: s.Objects}
	for _, c := range changes {
		if !c.Old.Hash.IsZero() {
			continue
		}
		if had, err := sideAt(find, snap.Staged, c.Path); err != nil {
			return nil, err
		} else if had == (Side{}) {
			files = append(files, named{c.Path, Side{c.New.Mode, c.New.Hash}})
		}
	}
	return files, nil
}

func (s *Worktree) laterUntracked(ctx context.Context, snap *Contents) ([]string, error) {
	g := s.Git
	g.Dir = s.Root
	out, err := g.Output(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, fmt.Errorf("list untracked files: %w", err)
	}
	var paths []string
	find, limits := &trees.Finder{Reader: s.Objects}, s.boundary(ctx)
	for _, path := range git.Fields(out) {
		if limits.Find(path).Reason != "" {
			continue
		}
		had, err := sideAt(find, snap.Staged, path)
		if err != nil {
			return nil, err
		}
		if had == (Side{}) {
			paths = append(paths, path)
		}
	}
	return paths, nil
}
