package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The journal names the safety snapshot of the restore that is under way in
// this worktree. While it is there, the restore is not finished.
func (s *Store) journal() string { return filepath.Join(s.stateDir(), "restore") }

func (s *Store) writeJournal(sf *safety) error {
	return writeFile(s.journal(), []byte(sf.ref+"\n"))
}

func (s *Store) removeJournal() error { return ignoreMissing(os.Remove(s.journal())) }

// Pending is the safety snapshot of a restore that was killed in this
// worktree, "" when there is none.
func (s *Store) Pending() string {
	data, err := os.ReadFile(s.journal())
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// lockWorktree keeps two restores out of one worktree.
func (s *Store) lockWorktree() (release func(), err error) {
	if err := os.MkdirAll(s.stateDir(), 0o777); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(s.stateDir(), "restore.lock"), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	if !tryLock(f) {
		f.Close()
		return nil, &RefusedError{Reason: "another restore is under way in this worktree"}
	}
	return func() { f.Close() }, nil
}

// finishPending completes a restore that was killed, before anything else is
// restored on top of it. A journal whose snapshot is gone names nothing that
// could be finished.
func (s *Store) finishPending(ctx context.Context) error {
	ref := s.Pending()
	if ref == "" {
		return ignoreMissing(s.removeJournal())
	}
	commit, err := s.readRef(ctx, ref)
	if err != nil {
		return err
	}
	if commit.IsZero() {
		return s.removeJournal()
	}
	sf, err := s.readSafety(ref, commit)
	if err != nil {
		return err
	}
	steps, err := sf.steps()
	if err != nil {
		return err
	}
	if steps, err = s.stillToDo(ctx, steps); err != nil {
		return err
	}
	if err := s.act(ctx, steps); err != nil {
		return fmt.Errorf("finish the restore of %s: %w", sf.plan.Checkpoint, err)
	}
	return s.removeJournal()
}

// stillToDo are the steps, or the sides of them, that were not done and whose
// path nobody else has changed.
func (s *Store) stillToDo(ctx context.Context, steps []step) ([]step, error) {
	var targets []target
	for _, st := range steps {
		targets = append(targets, target{path: st.path, index: st.index, work: st.work})
	}
	now, err := s.observe(ctx, targets)
	if err != nil {
		return nil, err
	}
	var left []step
	for _, st := range steps {
		at := now(st.path)
		st.index = st.index && at.index == st.before.index
		st.work = st.work && at.work == st.before.work && at.blockage == ""
		if st.index || st.work {
			left = append(left, st)
		}
	}
	return left, nil
}

// Continue finishes a restore that was killed; it reports whether there was
// one.
func (s *Store) Continue(ctx context.Context) (bool, error) {
	release, err := s.lockWorktree()
	if err != nil {
		return false, err
	}
	defer release()
	if s.Pending() == "" {
		return false, nil
	}
	return true, s.finishPending(ctx)
}

// Abort takes back what a killed restore has done; it reports whether there
// was one.
func (s *Store) Abort(ctx context.Context) (bool, error) {
	ref := s.Pending()
	if ref == "" {
		return false, nil
	}
	release, err := s.lockWorktree()
	if err != nil {
		return false, err
	}
	defer release()
	commit, err := s.readRef(ctx, ref)
	if err != nil {
		return false, err
	}
	if commit.IsZero() {
		return true, s.removeJournal()
	}
	sf, err := s.readSafety(ref, commit)
	if err != nil {
		return false, err
	}
	if _, err := s.takeBack(ctx, sf); err != nil {
		return false, err
	}
	return true, s.removeJournal()
}

// undoRestore takes a finished restore back and forgets its snapshot.
func (s *Store) undoRestore(ctx context.Context, sf *safety) (*Restored, error) {
	release, err := s.lockWorktree()
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.finishPending(ctx); err != nil {
		return nil, err
	}
	done, err := s.takeBack(ctx, sf)
	if err != nil || len(done.Skipped) > 0 {
		return done, err
	}
	return done, s.moveRefs(ctx, "undo", refMove{name: sf.ref, old: sf.commit})
}

// takeBack makes every path what it was before, where it still is what the
// restore made of it.
func (s *Store) takeBack(ctx context.Context, sf *safety) (*Restored, error) {
	done := &Restored{ID: sf.plan.Checkpoint}
	steps, err := sf.steps()
	if err != nil {
		return nil, err
	}
	var targets []target
	for _, st := range steps {
		targets = append(targets, target{path: st.path, index: st.index, work: st.work})
	}
	now, err := s.observe(ctx, targets)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(s.repo.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var index []step
	for _, st := range steps {
		at := now(st.path)
		index, err = s.takeBackStep(root, st, at, index, done)
		if err != nil {
			return done, fmt.Errorf("take back %q: %w", st.path, err)
		}
	}
	return done, s.actIndex(ctx, index)
}

func (s *Store) takeBackStep(root *os.Root, st step, at state, index []step, done *Restored) ([]step, error) {
	indexOurs := st.index && at.index == st.indexAfter
	workOurs := st.work && at.work == st.workAfter && at.blockage == ""
	indexBack := !st.index || indexOurs || at.index == st.before.index
	workBack := !st.work || workOurs || at.work == st.before.work
	if !indexBack || !workBack {
		done.Skipped = append(done.Skipped, st.path)
		return index, nil
	}
	if workOurs {
		if st.before.work == (side{}) {
			if err := s.removeFile(st.path); err != nil {
				return index, err
			}
		} else if err := s.putBack(root, st); err != nil && !errors.Is(err, fs.ErrExist) {
			return index, err
		}
	}
	if indexOurs {
		st.indexAfter, st.intentOnly = st.before.index, false
		index = append(index, st)
	}
	if workOurs || indexOurs {
		done.Restored = append(done.Restored, st.path)
	}
	return index, nil
}
