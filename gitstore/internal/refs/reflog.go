package refs

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/fsutil"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Logged is a reflog entry.
type Logged struct {
	Old, New plumbing.Hash
	Message  string
	At       time.Time
}

// ReadLog reads the reflog file of a ref that all worktrees share and returns its
// entries, newest first. A line contains old hash, new hash, ident, time, timezone, a tab
// and the message. Like git, ReadLog skips invalid lines, such as remnants of a power
// failure. If the ref has no reflog, ReadLog returns no entries.
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

// Happened returns the entries of moves that took effect. Git and this package append a
// reflog entry, then rename the lock file to the ref. A process that is killed in between
// leaves an extra entry. The entries are newest first, and tip is the ref's value.
//
// A move did not take effect if the next move, or tip, starts from its old value. Other
// gaps mean missing entries, because git expired an entry or a fetch wrote no entry.
// Happened removes a rolled-back move and its rollback too.
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

// RollbackPrefix is the prefix of the reflog message of a rollback. The message of the
// rolled-back move follows.
const RollbackPrefix = "rollback: "
