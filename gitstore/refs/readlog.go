package refs

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/internal/fsutil"

	"github.com/go-git/go-git/v5/plumbing"
)

// Logged is what a reflog says of one move.
type Logged struct {
	Old, New plumbing.Hash
	Message  string
	At       time.Time
}

// ReadLog reads the file in which git keeps the reflog of a ref that all worktrees
// share, newest first: lines of old hash, new hash, ident, time, zone, a tab and
// the message. A line that is none, as a loss of power leaves it, is passed over,
// which is what git does. A ref that has no reflog has no entries.
func ReadLog(path, ref string) ([]Logged, error) {
	data, err := os.ReadFile(filepath.Join(path, "logs", filepath.FromSlash(ref)))
	if err != nil {
		return nil, fsutil.IgnoreMissing(err)
	}
	var entries []Logged
	for line := range bytes.Lines(data) {
		if e, ok := parseLogged(strings.TrimSuffix(string(line), "\n")); ok {
			entries = append(entries, e)
		}
	}
	slices.Reverse(entries)
	return entries, nil
}

func parseLogged(line string) (Logged, bool) {
	head, message, _ := strings.Cut(line, "\t")
	words := strings.Fields(head)
	if len(words) < 4 || !plumbing.IsHash(words[0]) || !plumbing.IsHash(words[1]) {
		return Logged{}, false
	}
	seconds, err := strconv.ParseInt(words[len(words)-2], 10, 64)
	return Logged{plumbing.NewHash(words[0]), plumbing.NewHash(words[1]), message, time.Unix(seconds, 0)}, err == nil
}

// Happened leaves out the entries of moves that did not happen. Git and this
// package add an entry to the reflog before they rename the lock to the ref, so
// a process that is killed between the two leaves one. The entries are newest
// first, and tip is the ref's value.
//
// A move did not happen if the ref stood at its old value afterwards: the next
// move, or tip, goes on from there. Any other gap is that of an entry which is
// missing, because git expired it or a fetch wrote none. A move that was rolled
// back is left out with its rollback.
func Happened(entries []Logged, tip plumbing.Hash) []Logged {
	var real []Logged
	rollbacks := 0
	for _, e := range entries {
		switch {
		case e.New != tip && e.Old == tip:
			continue
		case strings.HasPrefix(e.Message, RollbackPrefix):
			rollbacks++
		case rollbacks > 0:
			rollbacks--
		default:
			real = append(real, e)
		}
		tip = e.Old
	}
	return real
}

// RollbackPrefix begins the reflog message of a rollback: the message of the
// move follows.
const RollbackPrefix = "rollback: "
