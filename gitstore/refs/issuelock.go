package refs

import (
	"context"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/filelock"
	"git-checkpoint/gitstore/gitcmd"
)

// An IssueLock is the right to read an issue's refs and move them, among the
// processes of this program: the lock of a file, which the git that moves the
// refs inherits, so that it lasts until both have ended. A nil one is of none.
//
// Git's own compare-and-swap is not enough. It looks at packed-refs before it
// locks a ref, and takes a file of the same size, date and inode for the one
// that it has read. Beside `git pack-refs`, it lets a ref move from a value
// that it has no more, and what was saved between is lost. Among processes
// that take the lock, such a git refuses the right value instead. The lock also
// keeps many processes from doing the same work in vain.
//
// The file holds the transaction that is under way, a Note. A git that was
// killed leaves its locks, which no git removes, and may have moved some of the
// refs. A process that has the lock knows that the git of the last holder is dead:
// git's locks of that transaction are removed, and the store completes or rolls back the
// transaction before it does anything else.
//
// An IssueLock may be of several issues, each with a file and the moves of its
// own refs in it. The files are locked in the order of issues, so that there is
// no deadlock.
type IssueLock struct {
	dir     Dir
	files   []*issueLockFile // none where there are no locks
	heldAll bool             // of all issues that were asked for
	held    bool             // Begin and Done leave the note as it is
}

type issueLockFile struct {
	*os.File
	note  *Note // of a process that was killed, then of this one
	begun bool  // the note is of this one
}

// lockTimeout bounds the wait for a lock: a stopped process may hold it. Then
// compare-and-swap has to do.
const lockTimeout = 10 * time.Second

// Lock locks issues, named as in refs. It leaves out those that it cannot lock,
// and returns nil if that is all of them.
func (d Dir) Lock(ctx context.Context, issues []string) *IssueLock {
	t := &IssueLock{dir: d}
	folder := d.noteFolder()
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil
	}
	deadline := time.Now().Add(lockTimeout)
	for _, issue := range slices.Sorted(slices.Values(issues)) {
		if f := d.lockFile(ctx, filepath.Join(folder, issue), time.Until(deadline)); f != nil {
			t.files = append(t.files, &issueLockFile{File: f, note: readNote(f, issue)})
		}
	}
	if len(t.files) == 0 {
		return nil
	}
	t.heldAll = len(t.files) == len(issues)
	t.clean()
	return t
}

// lockFile opens and locks a file. It returns nil if it cannot.
func (d Dir) lockFile(ctx context.Context, path string, limit time.Duration) *os.File {
	f, err := filelock.Open(path, os.O_CREATE)
	if err != nil {
		return nil
	}
	d.Share(filepath.Dir(filepath.Dir(path)), filepath.Dir(path), path) // other users who save here take the lock too
	if !filelock.Wait(ctx, f, limit) {
		f.Close()
		time.Sleep(rand.N(3 * time.Millisecond))
		return nil
	}
	return f
}

// Unlock releases the locks.
func (t *IssueLock) Unlock() {
	if t != nil {
		for _, f := range t.files {
			if strings.HasPrefix(f.note.Issue, incomingNote) && len(f.note.all()) == 0 {
				os.Remove(f.Name()) // no other lock has this name
			}
			f.Close()
		}
	}
}

// HeldAll reports whether all issues that were asked for are locked.
func (t *IssueLock) HeldAll() bool { return t != nil && t.heldAll }

// Locks are the files that have to stay open as long as a git moves the refs.
func (t *IssueLock) Locks() []*os.File {
	if t == nil {
		return nil
	}
	locks := make([]*os.File, len(t.files))
	for k, f := range t.files {
		locks[k] = f.File
	}
	return locks
}

// Begin notes the transaction that is about to begin. A note that cannot be
// written only means that what a kill leaves stays.
func (t *IssueLock) Begin(message string, moves []Move) {
	if t == nil || t.held {
		return
	}
	of := map[string][]Move{}
	for _, m := range moves {
		issue := t.files[0].note.Issue
		if len(t.files) > 1 || !t.heldAll {
			issue = path.Base(m.Name)
		}
		of[issue] = append(of[issue], m)
	}
	for _, f := range t.files {
		if moves := of[f.note.Issue]; moves != nil {
			f.note.Message, f.note.Moves, f.begun = message, moves, true
			f.write()
		}
	}
}

// write puts the note into the file.
func (f *issueLockFile) write() {
	_ = f.Truncate(0)
	if len(f.note.Moves)+len(f.note.stale) > 0 {
		_, _ = f.WriteAt(f.note.encode(), 0)
	}
}

// Failed removes the locks of the git that was to do the transaction, if it was
// killed: else it has removed them.
func (t *IssueLock) Failed(err error) {
	if t != nil && gitcmd.Code(err) < 0 {
		for _, f := range t.files {
			f.note.at = modified(f.File)
		}
		t.clean()
	}
}

// Done ends the transaction that was begun: its refs have moved, or none has.
func (t *IssueLock) Done() {
	if t == nil || t.held {
		return
	}
	for _, f := range t.files {
		if f.begun {
			f.end()
		}
	}
}

// Hold keeps the note of the transaction that was begun, whatever else begins and
// ends, until Release or Unlock. The next Lock then settles the transaction
// like that of a process that was killed.
func (t *IssueLock) Hold() {
	if t != nil {
		t.held = true
	}
}

// Release ends Hold.
func (t *IssueLock) Release() {
	if t != nil {
		t.held = false
	}
}

// end removes the transaction from the note.
func (f *issueLockFile) end() {
	f.note.Moves, f.begun = nil, false
	f.write()
}

// Interrupted are the transactions of processes that were killed. The store
// completes each or rolls it back, which ends with Settled.
func (t *IssueLock) Interrupted() []Note {
	if t == nil {
		return nil
	}
	var notes []Note
	for _, f := range t.files {
		if len(f.note.Moves) > 0 {
			notes = append(notes, *f.note)
		}
	}
	return notes
}

// Keep puts the note of a transaction that is done back in its file, until the
// next one begins.
func (t *IssueLock) Keep(n Note) {
	for _, f := range t.files {
		if f.note.Issue == n.Issue {
			f.note.Message, f.note.Moves = n.Message, n.Moves
			f.write()
		}
	}
}

// Settled ends the transaction of a process that was killed.
func (t *IssueLock) Settled(issue string) {
	for _, f := range t.files {
		if f.note.Issue == issue {
			f.end()
		}
	}
}

// clean removes the locks of a git that was killed. Those that a living git may
// hold stay in the note, for the next Lock.
func (t *IssueLock) clean() {
	notes := make([]*Note, len(t.files))
	for k, f := range t.files {
		notes[k] = f.note
	}
	t.dir.clearShared(notes)
	for _, f := range t.files {
		before := len(f.note.stale)
		if f.note.stale = t.dir.clearLocks(f.note); len(f.note.Moves) == 0 && before > 0 {
			f.write()
		}
	}
}
