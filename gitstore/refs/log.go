package refs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A ReflogEntry is what a reflog says of a move beside the values.
type ReflogEntry struct {
	Name, Email string // as they stand in commits
	At          time.Time
	Message     string
}

// line is the line of a reflog: old value, new value, who, when, zone, a tab and
// the message in one line.
func (e ReflogEntry) line(m Move) string {
	return fmt.Sprintf("%s %s %s <%s> %d +0000\t%s\n", m.Old, m.New, e.Name, e.Email, e.At.Unix(),
		strings.Join(strings.FieldsFunc(e.Message, isSpace), " "))
}

// isSpace is what git takes for a space.
func isSpace(r rune) bool { return strings.ContainsRune(" \t\n\r", r) }

// logs are the open reflogs of some refs.
type logs []*log

type log struct {
	*os.File
	before int64 // its size before the line that was added
}

// openLogs opens reflogs that are there. Their refs are locked, so that no git
// replaces one. Git too gives a reflog its modes whenever it adds to it.
func (d Dir) openLogs(moves []Move) (logs, error) {
	var all logs
	for _, m := range moves {
		path := d.log(m.Name)
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
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
		_ = f.Close()
	}
}

// append adds a line, whole or not at all: half of one would take the next one
// along.
func (l *log) append(line string) (err error) {
	if l.before, err = l.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	if _, err = l.WriteString(line); err != nil {
		return errors.Join(err, l.takeBack())
	}
	return nil
}

// takeBack removes what was added.
func (l *log) takeBack() error { return l.Truncate(l.before) }

// log is the file of a ref's reflog.
func (d Dir) log(name string) string { return filepath.Join(d.Path, "logs", filepath.FromSlash(name)) }
