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

// A Note is a transaction that was begun: an intent, written before the first
// lock is taken and removed after the last ref has moved. The file is
//
//	move <ref> <old> <new>    a move of the transaction, in its order
//	stale <time> <ref> <old> <new>
//	                          one of an earlier transaction whose lock may still
//	                          be there; in nanoseconds since 1970
//	message <text>            the reflog message
//	end
//
// A note without its end is that of a process which had not taken a lock.
type Note struct {
	Issue   string // as it is named in refs
	Message string
	Moves   []Move

	stale []staleMove
	at    time.Time // when it was written: the locks are younger
}

// A staleMove is a move whose lock a killed git may have left.
type staleMove struct {
	Move
	at time.Time // when its note was written
}

// Bookkeeping stands for the issue in the note of a transaction that has no refs
// of chains. No issue is named so.
const Bookkeeping = "%refs"

// IncomingRefs is the folder of the refs that a fetch makes under names of its own.
const IncomingRefs = "refs/git-checkpoint/incoming/"

// incomingNote begins the names of the notes of fetches, which are no issue's.
const incomingNote = "%incoming-"

// LockIncoming notes that a git is going to make refs of new names below
// IncomingRefs. The note is removed by Unlock. If this process is
// killed, the note tells whose the locks are that its git has left.
func (d Dir) LockIncoming(ctx context.Context, names []string) *IssueLock {
	t := d.Lock(ctx, []string{incomingNote + rand.Text()})
	moves := make([]Move, len(names))
	for i, name := range names {
		moves[i].Name = name
	}
	t.Begin("fetch", moves)
	return t
}

// encode is the text of a note.
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

// readNote reads a note. One that is empty or not complete has no moves.
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

// parseMove reads "<ref> <old> <new>".
func parseMove(text string) (Move, bool) {
	words := strings.Fields(text)
	if len(words) != 3 || !strings.HasPrefix(words[0], "refs/") || !MayBe(words[0]) || !plumbing.IsHash(words[1]) || !plumbing.IsHash(words[2]) {
		return Move{}, false
	}
	return Move{words[0], plumbing.NewHash(words[1]), plumbing.NewHash(words[2])}, true
}

// modified is when a file was written last, zero for an empty one.
func modified(f *os.File) time.Time {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return time.Time{}
	}
	return info.ModTime()
}

// all are the moves whose locks may have been left.
func (n *Note) all() []staleMove {
	all := slices.Clone(n.stale)
	for _, m := range n.Moves {
		all = append(all, staleMove{m, n.at})
	}
	return all
}

// lockedPackedRefs is the oldest move for which git had to lock packed-refs, nil
// for none.
func (n *Note) lockedPackedRefs() *staleMove {
	for _, m := range n.all() {
		if m.New.IsZero() || m.New == m.Old {
			return &m
		}
	}
	return nil
}
