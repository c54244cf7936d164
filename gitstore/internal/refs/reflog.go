package refs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/fsutil"

	"github.com/go-git/go-git/v5/plumbing"
)

// A ReflogEntry contains the fields of a reflog entry beside the two object ids.
type ReflogEntry struct {
	Name, Email string // same format as in commits
	At          time.Time
	Message     string
}

// line returns the reflog line of a move: old id, new id, name, email, time, timezone, a
// tab and the message on one line.
func (e ReflogEntry) line(m Move) string {
	return fmt.Sprintf("%s %s %s <%s> %d +0000\t%s\n", m.Old, m.New, e.Name, e.Email, e.At.Unix(),
		strings.Join(strings.FieldsFunc(e.Message, isSpace), " "))
}

// isSpace reports whether git treats r as a space.
func isSpace(r rune) bool { return strings.ContainsRune(" \t\n\r", r) }

// logs are open reflogs of the moved refs.
type logs []*log

type log struct {
	*os.File
	before int64 // size before the new line
}

// openLogs opens existing reflogs. The caller has locked the refs, so git does not
// replace the files. Like git, openLogs sets the shared modes of each reflog.
func (d Dir) openLogs(moves []Move) (logs, error) {
	var all logs
	for _, m := range moves {
		path := d.log(m.Name)
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if errors.Is(err, fs.ErrNotExist) && hasNoReflog(m.Name) {
			all = append(all, nil)
			continue
		}
		if err != nil {
			return all, err
		}
		d.Share(path)
		all = append(all, &log{File: f})
	}
	return all, nil
}

func (l logs) close() {
	for _, f := range l {
		if f != nil {
			_ = f.Close()
		}
	}
}

// append appends a line or nothing, because half a line would corrupt the next line.
func (l *log) append(line string) (err error) {
	if l == nil { // the ref has no reflog
		return nil
	}
	if l.before, err = l.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	if _, err = l.WriteString(line); err != nil {
		return errors.Join(err, l.takeBack())
	}
	return nil
}

// takeBack removes the appended line.
func (l *log) takeBack() error {
	if l == nil {
		return nil
	}
	return l.Truncate(l.before)
}

// log returns the path of a ref's reflog.
func (d Dir) log(name string) string { return filepath.Join(d.Path, "logs", filepath.FromSlash(name)) }

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
