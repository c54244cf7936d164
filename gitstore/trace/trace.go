// Package trace writes what a command does, for people who look for a slow or failing step, in
// the manner of GIT_TRACE. A line has the time of the begin, the process id, the kind, the
// duration and a text:
//
//	14:30:00.123456 4711 process    3.214 ms git update-ref --stdin -z
//
// Texts have names of commands, refs and files of the program. They have no values of options,
// no paths of the worktree, no content and no address, which can contain secrets.
package trace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// Variable is the environment variable that turns the trace on: 1, true or 2 for standard error,
// or the absolute path of a file to append to. Its other values turn it off, as git's do.
const Variable = "GIT_CHECKPOINT_TRACE"

// Kinds of lines.
const (
	Command = "command" // a command of this program
	Step    = "step"    // a part of a command
	Process = "process" // another program
	Ref     = "ref"     // the move of a ref
	Lock    = "lock"    // the wait for a lock
	Sync    = "sync"    // a sync of a file or of the disk
	Request = "request" // a request to a forge
)

// out is the file of the lines, nil if the trace is off.
var out atomic.Pointer[os.File]

// Open turns the trace on as a value of Variable says. close turns it off.
func Open(value string) (end func(), err error) {
	var f *os.File
	switch value {
	case "", "0", "false":
		return func() {}, nil
	case "1", "true", "2":
		f = os.Stderr
	default:
		if !filepath.IsAbs(value) {
			return func() {}, errors.New(Variable + ": want 1 or the absolute path of a file")
		}
		if f, err = os.OpenFile(value, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600); err != nil {
			return func() {}, fmt.Errorf("%s: %w", Variable, err)
		}
	}
	out.Store(f)
	return func() {
		out.Store(nil)
		if f != os.Stderr {
			f.Close()
		}
	}, nil
}

// On reports whether the trace is on.
func On() bool { return out.Load() != nil }

// A Span is something that takes time. The zero value writes nothing.
type Span struct {
	kind, text string
	begin      time.Time
}

// Begin begins a span. Its line is written at the end.
func Begin(kind, text string) Span {
	if !On() {
		return Span{}
	}
	return Span{kind, text, time.Now()}
}

// End writes the line of a span.
func (s Span) End() { s.EndWith("") }

// EndWith is End with more text.
func (s Span) EndWith(more string) {
	f := out.Load()
	if f == nil || s.begin.IsZero() {
		return
	}
	text := strings.Map(printable, strings.TrimSuffix(s.text+" "+more, " "))
	took := float64(time.Since(s.begin).Microseconds()) / 1000
	// One write, so that lines of several processes do not mix.
	_, _ = fmt.Fprintf(f, "%s %d %-8s %9.3f ms %s\n", s.begin.Format("15:04:05.000000"), os.Getpid(), s.kind, took, text)
}

func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return '?'
	}
	return r
}

// Words returns a command line without what can be content: the name of the program, its first
// word, and options without their values. Other arguments are counted.
func Words(program string, args []string) string {
	words, others := []string{filepath.Base(program)}, 0
	setting, subcommand := false, false
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		switch {
		case setting: // -c NAME=VALUE
			words, setting = append(words, name), false
		case strings.HasPrefix(arg, "-"):
			words, setting = append(words, name), arg == "-c"
		case !subcommand:
			words, subcommand = append(words, name), true
		default:
			others++
		}
	}
	if others > 0 {
		words = append(words, fmt.Sprintf("(%d arguments)", others))
	}
	return strings.Join(words, " ")
}
