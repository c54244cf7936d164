package refs

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/fsutil/filelock"
	"git-checkpoint/gitstore/internal/git"

	"github.com/go-git/go-git/v5/plumbing"
)

// An IssueLock protects the refs of one or more issues against other processes of this
// program. It locks a file, which child git processes inherit, so that the lock lasts
// until this process and its git have exited. A nil IssueLock locks no issue.
//
// Git's compare-and-swap alone is not sufficient. Git reads packed-refs before it locks a
// ref, and assumes that a file of equal size, date and inode is unchanged. During `git
// pack-refs`, git may therefore accept an outdated old value, which loses a concurrent
// save. Among processes with an IssueLock, such a git rejects the correct old value
// instead. The lock also avoids duplicate work in parallel processes.
//
// The file contains the running transaction, a Note. A killed git leaves its lock files,
// which git never removes, and may have moved a part of the refs. The next process that
// gets the IssueLock knows that the git of the previous owner has exited. It removes that
// transaction's lock files, and the store completes or rolls back the transaction before
// other changes.
//
// An IssueLock of several issues has one file per issue, with the moves of that issue's
// refs. Files are locked in the order of issues to prevent deadlocks.
type IssueLock struct {
	dir     Dir
	files   []*issueLockFile // empty if no file is locked
	heldAll bool             // all requested issues are locked
	held    bool             // Begin and Done keep the note unchanged
}

type issueLockFile struct {
	*filelock.File
	note  *Note // note of a killed process, later of this process
	begun bool  // note belongs to this process
}

// lockTimeout limits the wait for a lock that a stopped process may hold. After the
// timeout, the caller relies on compare-and-swap.
const lockTimeout = 10 * time.Second

// Lock locks issues, named as in refs. It skips issues that it cannot lock, and returns
// nil if it can lock no issue.
func (d Dir) Lock(ctx context.Context, issues []string) *IssueLock {
	t := &IssueLock{dir: d}
	folder := d.noteFolder()
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil
	}
	deadline := time.Now().Add(lockTimeout)
	for _, issue := range slices.Sorted(slices.Values(issues)) {
		if f := d.lockFile(ctx, filepath.Join(folder, issue), time.Until(deadline)); f != nil {
			t.files = append(t.files, &issueLockFile{File: f, note: readNote(f.File, issue)})
		}
	}
	if len(t.files) == 0 {
		return nil
	}
	t.heldAll = len(t.files) == len(issues)
	t.clean()
	return t
}

// lockFile opens and locks a file. It returns nil on failure.
func (d Dir) lockFile(ctx context.Context, path string, limit time.Duration) *filelock.File {
	f, err := filelock.Open(path, os.O_CREATE)
	if err != nil {
		return nil
	}
	d.Share(filepath.Dir(filepath.Dir(path)), filepath.Dir(path), path) // other users of a shared repository lock it too
	if f.Wait(ctx, limit) != nil {
		f.Close()
		time.Sleep(rand.N(3 * time.Millisecond))
		return nil
	}
	return f
}

// Unlock releases all locks.
func (t *IssueLock) Unlock() {
	if t != nil {
		for _, f := range t.files {
			if strings.HasPrefix(f.note.Issue, incomingNote) && len(f.note.all()) == 0 {
				os.Remove(f.Name()) // names of incoming notes are unique
			}
			f.Close()
		}
	}
}

// HeldAll reports whether all requested issues are locked.
func (t *IssueLock) HeldAll() bool { return t != nil && t.heldAll }

// Locks returns the locked files. Pass them to each git that updates the refs, so that
// they stay open until git exits.
func (t *IssueLock) Locks() []*os.File {
	if t == nil {
		return nil
	}
	locks := make([]*os.File, len(t.files))
	for k, f := range t.files {
		locks[k] = f.File.File
	}
	return locks
}

// Begin writes a note of the transaction that follows. Write errors are ignored: they
// only prevent the cleanup after a kill.
func (t *IssueLock) Begin(message string, moves []Move) {
	if t == nil || t.held {
		return
	}
	of := map[string][]Move{}
	for _, m := range moves {
		issue := t.files[0].note.Issue
		isOther := func(f *issueLockFile) bool { return f.note.Issue == path.Base(m.Name) }
		if !t.heldAll || slices.ContainsFunc(t.files, isOther) { // a ref of no issue moves with the first one
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

// write writes the note to the file.
func (f *issueLockFile) write() {
	_ = f.Truncate(0)
	if len(f.note.Moves)+len(f.note.stale) > 0 {
		_, _ = f.WriteAt(f.note.encode(), 0)
	}
}

// Failed removes lock files of a killed git, given the error of the git process. A git
// that fails otherwise has removed its lock files itself.
func (t *IssueLock) Failed(err error) {
	if t != nil && git.Code(err) < 0 {
		for _, f := range t.files {
			f.note.at = modified(f.File.File)
		}
		t.clean()
	}
}

// Done ends the transaction: all its refs have moved, or no ref has moved.
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

// Hold keeps the current note, regardless of other transactions, until Release or Unlock.
// The next Lock then settles the transaction like that of a killed process.
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

// Interrupted returns the transactions of killed processes. The store must complete each
// transaction or roll it back, then call Settled.
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

// Settled ends the transaction of a killed process.
func (t *IssueLock) Settled(issue string) {
	for _, f := range t.files {
		if f.note.Issue == issue {
			f.end()
		}
	}
}

// clean removes lock files of a killed git. If a running git may hold a lock file, its
// move stays in the note for the next Lock.
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

// A Note is the record of a started transaction. It is written before the first lock file
// is created and removed after the last ref has moved. The file contains
//
//	move <ref> <old> <new>    a move of the transaction, in order
//	stale <time> <ref> <old> <new>
//	                          a move of an earlier transaction whose lock file
//	                          may still exist; in nanoseconds since 1970
//	message <text>            the reflog message
//	end
//
// A note without an end line belongs to a process that had not created a lock file yet.
type Note struct {
	Issue   string // issue as named in refs
	Message string
	Moves   []Move

	stale []staleMove
	at    time.Time // modification time of the note; its lock files are younger
}

// A staleMove is a move whose lock file may remain from a killed git.
type staleMove struct {
	Move
	at time.Time // modification time of its note
}

// Bookkeeping replaces the issue in notes of transactions without refs of chains. It is
// not a valid issue name.
const Bookkeeping = "%refs"

// IncomingRefs is the prefix of temporary refs that a fetch creates.
const IncomingRefs = "refs/git-checkpoint/incoming/"

// incomingNote is the prefix of notes of fetches, which belong to no issue.
const incomingNote = "%incoming-"

// LockIncoming writes a note that git will create refs with the given names below
// IncomingRefs. Unlock removes the note. If this process is killed, the note identifies
// the lock files that its git has left.
func (d Dir) LockIncoming(ctx context.Context, names []string) *IssueLock {
	t := d.Lock(ctx, []string{incomingNote + crand.Text()})
	moves := make([]Move, len(names))
	for i, name := range names {
		moves[i].Name = name
	}
	t.Begin("fetch", moves)
	return t
}

// encode returns the text of a note.
func (n *Note) encode() []byte {
	var b bytes.Buffer
	for _, m := range n.Moves {
		fmt.Fprintf(&b, "move %s %s %s\n", m.Name, m.Old, m.New)
	}
	for _, m := range n.stale {
		fmt.Fprintf(&b, "stale %d %s %s %s\n", m.at.UnixNano(), m.Name, m.Old, m.New)
	}
	fmt.Fprintf(&b, "message %s\nend\n", strings.Join(strings.FieldsFunc(n.Message, isSpace), " "))
	return b.Bytes()
}

// readNote reads a note. An empty or incomplete note has no moves.
func readNote(f *os.File, issue string) *Note {
	n := &Note{Issue: issue}
	if n.at = modified(f); n.at.IsZero() {
		return n
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<24))
	if err != nil || !bytes.HasSuffix(data, []byte("\nend\n")) {
		return n
	}
	for line := range strings.Lines(string(data)) {
		kind, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch kind {
		case "message":
			n.Message = rest
		case "move":
			if m, ok := parseMove(rest); ok {
				n.Moves = append(n.Moves, m)
			}
		case "stale":
			at, rest, _ := strings.Cut(rest, " ")
			nanos, err := strconv.ParseInt(at, 10, 64)
			if m, ok := parseMove(rest); ok && err == nil {
				n.stale = append(n.stale, staleMove{m, time.Unix(0, nanos)})
			}
		}
	}
	return n
}

// parseMove parses "<ref> <old> <new>".
func parseMove(text string) (Move, bool) {
	words := strings.Fields(text)
	if len(words) != 3 || !strings.HasPrefix(words[0], "refs/") || !MayBe(words[0]) || !plumbing.IsHash(words[1]) || !plumbing.IsHash(words[2]) {
		return Move{}, false
	}
	return Move{words[0], plumbing.NewHash(words[1]), plumbing.NewHash(words[2])}, true
}

// modified returns the modification time of a file, zero if the file is empty.
func modified(f *os.File) time.Time {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return time.Time{}
	}
	return info.ModTime()
}

// all returns the moves whose lock files may remain.
func (n *Note) all() []staleMove {
	all := slices.Clone(n.stale)
	for _, m := range n.Moves {
		all = append(all, staleMove{m, n.at})
	}
	return all
}

// lockedPackedRefs returns the oldest move for which git locks packed-refs, or nil.
func (n *Note) lockedPackedRefs() *staleMove {
	for _, m := range n.all() {
		if m.New.IsZero() || m.New == m.Old {
			return &m
		}
	}
	return nil
}
