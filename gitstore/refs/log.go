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

// An Entry is what a reflog says of a move beside the values.
type Entry struct {
	Name, Email string // as they stand in commits
	At          time.Time
	Message     string
}

// line is the line of a reflog: old value, new value, who, when, zone, a tab and
// the message in one line.
func (e Entry) line(m Move) string {
	return fmt.Sprintf("%s %s %s <%s> %d +0000\t%s\n", m.Old, m.New, e.Name, e.Email, e.At.Unix(),
		strings.Join(strings.Fields(e.Message), " "))
}

// logs are the open reflogs of some refs.
type logs []*log

type log struct{ *os.File }

// openLogs opens reflogs that are there. Their refs are locked, so that no git
// replaces one.
func (d Dir) openLogs(moves []Move) (logs, error) {
	var all logs
	for _, m := range moves {
		f, err := os.OpenFile(filepath.Join(d.Path, "logs", filepath.FromSlash(m.Name)), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return all, err
		}
		all = append(all, &log{f})
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
func (l *log) append(line string) error {
	size, err := l.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err = l.WriteString(line); err != nil {
		return errors.Join(err, l.Truncate(size))
	}
	return nil
}
