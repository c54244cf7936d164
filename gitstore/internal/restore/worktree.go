// Package restore restores checkpoints to a worktree and its index without losing existing
// changes, and reverts restores and removals.
//
//	selected   paths that the checkpoint changed, that changed since, or that came later
//	readState  current state of each path
//	compare    where the present versions are stored
//	decide     a step for each restorable path, as a pure function; plan.go has the rules
//	mergeAll   files that both sides changed are merged
//	keepAll    the replaced content is stored
//	makeReady  git creates new files outside the worktree
//	note       the steps become a pending entry (package operation)
//	apply      files are exchanged one by one, then the index as a whole
//
// An undo takes the inverted steps of an entry, and a redo takes its steps again. So do abort and continue
// after a kill.
//
// A worktree decides and writes the files of one restore or undo. Restorer checks the place, writes
// the entry, and undoes, redoes, finishes or aborts. Concurrent edits of the user are
// kept.
package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A worktree is the worktree with its index during one restore, undo or redo.
type worktree struct {
	*Restorer
	objects *repo.ObjectWriter // reads stored objects and adds new ones
	in      *places            // open while the index is

	// Of a restore.
	req    *RestoreRequest
	snap   *contents.Contents
	past   *past             // of the checkpoint to restore
	look   *Look             // files that differ from the index, and untracked files
	others map[string]string // paths that another session in this worktree changed, with the session
	// modes has the permissions of files at the save, if they are tighter than the umask.
	modes          map[string]fs.FileMode
	lost           bool     // all files of the worktree are missing
	isNoted        bool     // the entry of the operation has the steps
	selected, open []string // paths at the save, and those on which the files do not agree

	// Of an undo or a redo.
	former formerIndex   // before the operation to undo
	before plumbing.Hash // tree of HEAD at the operation to undo

	kept string // folder for files that the operation sets aside
}

func (s *Restorer) worktree() *worktree {
	return &worktree{Restorer: s, objects: s.repo.NewObjectWriter()}
}

// sweep removes leftovers of killed restores from State. No other restore may be running.
func (s *worktree) sweep() error {
	s.lockedIndexFiles().freeStale()
	if err := os.RemoveAll(s.stagingDir()); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil // not empty: a git process that survived the kill still creates files
}

// takeSteps changes the files and index entries of steps from Before to After. A path keeps a version other
// than Before, and a version that a commit has taken. note is the parameter of carryOut.
func (s *worktree) takeSteps(ctx context.Context, steps []Step, note func([]Step) error) (*Outcome, error) {
	area, err := s.openLockedIndex(ctx, true)
	if err != nil {
		return &Outcome{}, err
	}
	defer area.close()
	taken, done, err := s.planSteps(ctx, steps, area)
	if err != nil {
		return &Outcome{}, err
	}
	for _, st := range steps { // a killed command may have left a copy beside the path, and directories of a file
		if pl, err := s.in.open(st.Path, false); err == nil {
			_ = pl.dir.Remove(nearName(st.Path))
		}
		if st.removes() && !slices.Contains(done.Restored, st.Path) && !slices.Contains(done.Skipped, st.Path) {
			s.prune(s.in, st.Path, st.Made)
		}
	}
	err = s.carryOut(ctx, area, taken, done, note)
	done.lose(done.InTheWay, &done.Skipped)
	done.InTheWay = nil
	return done, err
}

// carryOut executes steps. If note is not nil, carryOut first keeps the present files in the steps, and
// note stores the steps in the entry. Files that have changed meanwhile stay, and are listed as skipped.
// Files that cannot be set aside are listed as in the way.
func (s *worktree) carryOut(ctx context.Context, area *lockedIndex, steps []Step, done *Outcome, note func([]Step) error) (err error) {
	w, err := s.openStaging()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := faultPoint("planned"); err != nil {
		return err
	}
	if note != nil {
		if err := s.keepAll(ctx, steps); err != nil {
			return err
		}
	}
	if err := w.makeReady(ctx, steps); err != nil {
		return err
	}
	if note != nil {
		if err := note(steps); err != nil {
			return err
		}
	}
	if err := faultPoint("entry"); err != nil {
		return err
	}
	lost, err := s.apply(ctx, w, area, steps)
	done.lose(lost, &done.Skipped)
	done.lose(w.stays, &done.InTheWay)
	s.open = slices.Concat(s.open, lost, w.stays)
	if err != nil {
		return err
	}
	return faultPoint("index")
}

// keepAll stores the current contents of the files of all steps, except for files that are set aside. If a
// file changed since readState, it returns ErrConcurrentChange before the restore changes anything.
func (s *worktree) keepAll(ctx context.Context, steps []Step) error {
	isLFS, err := s.findLFS(ctx, steps)
	if err != nil {
		return err
	}
	for i := range steps {
		was := &steps[i].Before.Disk
		if !steps[i].Work || was.Mode == 0 {
			continue
		}
		pl, err := s.in.open(steps[i].Path, false)
		if err == nil && !was.isAside() && !isLFS[steps[i].Path] && was.info.Size() <= maxInMemory {
			d, data, failed := readDisk(pl, true)
			switch {
			case failed == nil && sameFile(was.info, d.info):
				*was = d
				s.objects.Add(plumbing.BlobObject, data)
				continue
			case failed == nil:
				err = ErrConcurrentChange
			case !errors.Is(failed, fs.ErrPermission):
				err = failed
			}
		}
		if err != nil {
			return fmt.Errorf("keep %q: %w", steps[i].Path, err)
		}
		*was = unread(*was)
	}
	return nil
}

// planSteps returns the steps that takeSteps takes now, and their result.
func (s *worktree) planSteps(ctx context.Context, steps []Step, area *lockedIndex) ([]Step, *Outcome, error) {
	targets, byPath := make([]Target, len(steps)), map[string]*Step{}
	for i := range steps {
		st := &steps[i]
		byPath[st.Path] = st
		// The sides of the worktree are raw files.
		targets[i].Target = contents.Target{Path: st.Path, Index: st.Index, Work: st.Work, IndexWant: st.After.Index, WorkWant: st.After.Disk.Side}
		targets[i].kept = []plumbing.Hash{st.Before.Disk.Hash, st.After.Disk.Hash}
	}
	if err := s.readState(ctx, targets, area, true); err != nil {
		return nil, nil, err
	}
	find := &trees.Finder{Reader: s.objects}
	for i := range targets {
		t, st := &targets[i], &steps[i]
		t.now.sparse = false // restored files are in the worktree
		t.now.Work = s.alike(t.now.Disk, st)
		var entries, files [2]Side // in the former HEAD and in the present one
		for n, tree := range []plumbing.Hash{s.before, area.head} {
			var err error
			if entries[n], err = contents.At(find, tree, st.Path); err != nil {
				return nil, nil, err
			}
			if files[n] = st.Before.Disk.Side; entries[n] != st.Before.Work {
				files[n] = Side{Mode: trees.ModeTree} // a raw file that no path has
			}
		}
		t.IndexBase, t.WorkBase = contents.Merged(entries[0]), files[0]
		t.entry = undoOf(t.IndexWant, st.Before.Index, t.now.Index, t.IndexBase, contents.Merged(entries[1]))
		t.file = undoOf(t.WorkWant, st.Before.Disk.Side, t.now.Work, files[0], files[1])
	}
	plan := decide(targets, choices{back: true, choice: Mine})
	for i := range plan.steps {
		st, of := &plan.steps[i], byPath[plan.steps[i].Path]
		if st.Before.Work = of.Before.Work; !st.Work { // it is done
			st.Before.Work = of.After.Work
		}
		st.After, st.Made, st.Sparse, st.Assume, st.of = of.After, of.Made, of.Sparse, of.Assume, of
	}
	done := &Outcome{Skipped: slices.Concat(plan.Skipped, plan.InTheWay, plan.Committed), Committed: plan.Committed}
	slices.Sort(done.Skipped)
	done.Skipped = slices.Compact(done.Skipped)
	for _, path := range done.Skipped {
		byPath[path].left = true
	}
	done.listSteps(plan.steps)
	return plan.steps, done, nil
}

// alike returns the raw version of a step that git treats as equal to a file, otherwise that of the file:
// the bytes are the same, and so is the executable bit if core.fileMode is set.
func (s *worktree) alike(now fileOnDisk, st *Step) Side {
	const exec = 0o100
	if now.Side == st.After.Disk.Side {
		return now.Side
	}
	for _, d := range []Side{st.Before.Disk.Side, st.After.Disk.Side} {
		isSame := now.Hash == d.Hash && (now.Mode == 0) == (d.Mode == 0) && (now.Mode == trees.ModeSymlink) == (d.Mode == trees.ModeSymlink)
		if isSame && (now.Mode&exec == d.Mode&exec || !s.configBool("core.filemode", true)) {
			return d
		}
	}
	return now.Side
}
