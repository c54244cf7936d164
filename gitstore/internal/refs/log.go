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

// append appends a line or nothing, because half a line would corrupt the next line.
func (l *log) append(line string) (err error) {
	if l.before, err = l.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	if _, err = l.WriteString(line); err != nil {
		return errors.Join(err, l.takeBack())
	}
	return nil
}

// takeBack removes the appended line.
func (l *log) takeBack() error { return l.Truncate(l.before) }

// log returns the path of a ref's reflog.
func (d Dir) log(name string) string { return filepath.Join(d.Path, "logs", filepath.FromSlash(name)) }
