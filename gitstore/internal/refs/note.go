package refs

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

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
	t := d.Lock(ctx, []string{incomingNote + rand.Text()})
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
