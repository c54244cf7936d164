package invoke

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"git-checkpoint/commands/internal/terminal"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// ColorFlag returns the flag --color.
func ColorFlag(when *string) cli.Flag {
	return &cli.StringFlag{Name: "color", Usage: "use colors and the terminal form: `auto`, always or never", Destination: when}
}

// Screen returns the screen for results. when is the value of --color. If the output is for
// scripts, ok is false, and the output is plain text of a stable form.
func (c *Invocation) Screen(when string) (s view.Screen, ok bool, err error) {
	switch when {
	case "", "auto", "always", "never":
	default:
		return s, false, failure.Usagef("--color: %q: want auto, always or never", when)
	}
	ok = when == "always" || c.AtTerminal()
	if !ok || c.Line.JSON {
		return s, false, nil
	}
	width, err := strconv.Atoi(strings.TrimSpace(c.Env.Getenv("COLUMNS")))
	if err != nil || width <= 0 {
		width = cmp.Or(widthOf(c.Env.Stdout), 80)
	}
	return view.Screen{Width: width, Color: colors(c, when)}, true, nil
}

// AtTerminal reports whether a person reads the output: on a terminal, or in a pager of
// this program or of git.
func (c *Invocation) AtTerminal() bool {
	inPager := c.Env.Getenv("GIT_PAGER_IN_USE")
	return terminal.Is(c.Env.Stdout) || inPager != "" && !IsOff(inPager)
}

// ErrNoAnswer reports that a question got no valid answer.
var ErrNoAnswer = errors.New("no answer")

// ErrEndOfInput is an ErrNoAnswer at the end of the input.
var ErrEndOfInput = fmt.Errorf("%w: end of input", ErrNoAnswer)

// YesNo maps the answers to a question whose default is no.
var YesNo = map[string]string{"y": "y", "yes": "y", "n": "n", "no": "n", "": "n"}

// A Dialog asks questions at a terminal.
type Dialog struct {
	ctx context.Context
	TTY io.ReadWriteCloser
	in  *bufio.Reader
}

// Dialog opens the terminal, and ends the progress line, which would erase the question.
// Without a terminal it fails with a hint, which contains the flag that answers the question.
func (c *Invocation) Dialog(hint string) (*Dialog, error) {
	tty, err := c.Env.Tty()
	if err != nil {
		return nil, failure.Errorf(failure.NeedsAnswer, hint, "%s: needs an answer, but %w", c.Line.Name, err)
	}
	c.Out.Ticker.End()
	return &Dialog{ctx: c.Ctx, TTY: tty, in: bufio.NewReader(tty)}, nil
}

// Close closes the terminal.
func (d *Dialog) Close() { d.TTY.Close() }

// Ask repeats a question until it gets one of the answers, and returns the value of the
// answer. The answer "" is the default for an empty line. The end of the input is no
// answer, so the default does not apply.
func (d *Dialog) Ask(question string, answers map[string]string) (string, error) {
	for range 3 {
		if _, err := io.WriteString(d.TTY, question); err != nil {
			return "", err
		}
		line, err := d.line()
		if d.ctx.Err() != nil {
			_, _ = io.WriteString(d.TTY, "\n") // later output begins on a new line
			return "", d.ctx.Err()
		}
		answer := strings.ToLower(strings.TrimSpace(line))
		if err != nil && answer == "" {
			_, _ = io.WriteString(d.TTY, "\n")
			return "", ErrEndOfInput
		}
		if meant, ok := answers[answer]; ok {
			return meant, nil
		}
	}
	_, _ = io.WriteString(d.TTY, "\n")
	return "", ErrNoAnswer
}

// Confirm asks a yes/no question whose default is no.
func (c *Invocation) Confirm(question, hint string) (bool, error) {
	if c.Line.JSON {
		return false, failure.Errorf(failure.NeedsAnswer, hint, "%s: needs an answer, but --json asks no questions", c.Line.Name)
	}
	d, err := c.Dialog(hint)
	if err != nil {
		return false, err
	}
	defer d.Close()
	answer, err := d.Ask(question, YesNo)
	if errors.Is(err, ErrNoAnswer) {
		return false, failure.Errorf(failure.NeedsAnswer, hint, "%s: %w", c.Line.Name, err)
	}
	return answer == "y", err
}

// Tick starts a progress line on a terminal.
func (c *Invocation) Tick(what string) *ticker { return c.TickOf(what, "") }

// Intervals between updates. On terminals without erase, updates are rare, so that a
// screen reader does not read too many lines.
const (
	tickEvery     = 200 * time.Millisecond
	tickLineEvery = 10 * time.Second
)

// TickFiles starts a progress line for work on files, but not if git runs filters: a filter
// may ask a question on the terminal, which an update would erase.
func (c *Invocation) TickFiles(what string) *ticker {
	if slices.ContainsFunc(c.Store.Config(), func(e gitstore.ConfigEntry) bool { return strings.HasPrefix(e.Key, "filter.") }) {
		return &ticker{}
	}
	return c.Tick(what)
}

// TickRemote starts a progress line for work with a remote. ssh and git may ask for a
// password on the terminal, so the line appears at once, and then changes only between
// connections.
func (c *Invocation) TickRemote(what string) *ticker {
	t := c.newTicker(what, "")
	t.still = true
	if t.ended != nil && !t.lines {
		t.write()
	}
	return t
}

// newTicker returns a ticker without updates. It is inert if nobody reads its output.
func (c *Invocation) newTicker(what, of string) *ticker {
	t := &ticker{w: c.Env.Stderr, what: view.Clean(what), of: of}
	if c.Line.JSON || c.Line.Common.Quiet || !terminal.Is(c.Env.Stderr) {
		return t
	}
	name := c.Env.Getenv("TERM")
	t.width, t.lines = widthOf(c.Env.Stderr), name == "" || name == "dumb"
	t.ended = make(chan struct{})
	c.Out.Ticker = t
	return t
}

// TickOf is tick with a noun for the counted objects.
func (c *Invocation) TickOf(what, of string) *ticker {
	t := c.newTicker(what, of)
	if t.ended == nil {
		return t
	}
	every := tickEvery
	if t.lines {
		every = tickLineEvery
	}
	after := time.Second
	if n, err := strconv.Atoi(c.Env.Getenv("GIT_PROGRESS_DELAY")); err == nil && n >= 0 { // as in git
		after = time.Duration(n) * time.Second
	}
	if after == 0 {
		t.write()
		after = every
	}
	go t.run(after, every)
	return t
}

// widthOf returns the width of a terminal, or 0 if it is unknown.
func widthOf(w any) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// colors reports whether output is coloured, by git's settings and NO_COLOR.
func colors(c *Invocation, when string) bool {
	if when == "always" || when == "never" {
		return when == "always"
	}
	for _, key := range []string{"color.checkpoint", "color.ui"} {
		if e, set := gitstore.LastEntry(c.Store.Config(), key); set {
			if IsOff(e.Value) || e.Value == "never" {
				return false
			}
			break
		}
	}
	kind := c.Env.Getenv("TERM")
	return c.Env.Getenv("NO_COLOR") == "" && kind != "" && kind != "dumb"
}

// line reads a line, or returns at Ctrl+C. A signal does not interrupt a read from a
// terminal, so the read runs in a goroutine.
func (d *Dialog) line() (string, error) {
	line, _, err := Await(d.ctx, 0, func() (string, error) { return d.in.ReadString('\n') })
	return line, err
}

// A ticker prints progress to a terminal, from the second second on. The zero value
// prints nothing.
type ticker struct {
	mu    sync.Mutex
	w     io.Writer
	what  string
	of    string // noun of the counted objects, "" for issues
	count string // "3 of 10 issues", or "" while unknown
	width int    // terminal width, 0 for no limit
	lines bool   // the terminal cannot erase a line: print a new line each time
	still bool   // updates only at calls
	shown bool
	ended chan struct{}
}

// At sets the number of completed objects.
func (t *ticker) At(done, total int) { t.AtOf(done, total, t.of) }

// AtOf is at with another noun.
func (t *ticker) AtOf(done, total int, of string) {
	if t == nil || t.ended == nil {
		return
	}
	t.mu.Lock()
	t.count = fmt.Sprintf(": %d of %d %s", done, total, cmp.Or(of, "issues"))
	t.mu.Unlock()
	if t.still && !t.lines {
		t.write()
	}
}

// About sets the current work.
func (t *ticker) About(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.what, t.count = view.Clean(what), ""
}

// End erases the line and stops the updates. It can be called again.
func (t *ticker) End() {
	if t == nil || t.ended == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.ended:
		return
	default:
		close(t.ended)
	}
	if t.shown {
		fmt.Fprint(t.w, "\r\x1b[K")
		t.shown = false
	}
}

func (t *ticker) write() {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.ended:
	default:
		text := t.what + t.count
		if t.still {
			text += " ... "
		}
		if t.width > 0 {
			text = view.Truncate(text, t.width-1)
		}
		if t.lines {
			fmt.Fprintf(t.w, "%s\n", text)
			return
		}
		t.shown = true
		fmt.Fprintf(t.w, "\r\x1b[K%s", text)
	}
}

// run prints after a delay, and then at each interval.
func (t *ticker) run(after, every time.Duration) {
	for wait := after; ; wait = every {
		select {
		case <-t.ended:
			return
		case <-time.After(wait):
			t.write()
		}
	}
}

// hide erases the line before other output. The next update prints it again.
func (t *ticker) hide() {
	if t == nil || t.ended == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shown {
		fmt.Fprint(t.w, "\r\x1b[K")
		t.shown = false
	}
}
