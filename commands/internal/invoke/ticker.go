package invoke

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/terminal"
)

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
	shown bool
	ended chan struct{}
}

// Intervals between updates. On terminals without erase, updates are rare, so that a
// screen reader does not read too many lines.
const (
	tickEvery     = 200 * time.Millisecond
	tickLineEvery = 10 * time.Second
)

// Tick starts a progress line on a terminal.
func (c *Invocation) Tick(what string) *ticker { return c.TickOf(what, "") }

// TickOf is tick with a noun for the counted objects.
func (c *Invocation) TickOf(what, of string) *ticker {
	t := &ticker{w: c.Env.Stderr, what: output.Clean(what), of: of}
	if c.JSON || c.Common.Quiet || !terminal.Is(c.Env.Stderr) {
		return t
	}
	every, terminal := tickEvery, c.Env.Getenv("TERM")
	if t.width = widthOf(c.Env.Stderr); terminal == "" || terminal == "dumb" {
		t.lines, every = true, tickLineEvery
	}
	t.ended = make(chan struct{})
	c.Ticker = t
	after := tickAfter(c)
	if after == 0 {
		t.write()
		after = every
	}
	go t.run(after, every)
	return t
}

// tickAfter returns the delay before the first line. As in git, GIT_PROGRESS_DELAY sets
// it in seconds.
func tickAfter(c *Invocation) time.Duration {
	if n, err := strconv.Atoi(c.Env.Getenv("GIT_PROGRESS_DELAY")); err == nil && n >= 0 {
		return time.Duration(n) * time.Second
	}
	return time.Second
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

func (t *ticker) write() {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.ended:
	default:
		text := t.what + t.count
		if t.width > 0 {
			text = output.Truncate(text, t.width-1)
		}
		if t.lines {
			fmt.Fprintf(t.w, "%s\n", text)
			return
		}
		t.shown = true
		fmt.Fprintf(t.w, "\r\x1b[K%s", text)
	}
}

// At sets the number of completed objects.
func (t *ticker) At(done, total int) { t.AtOf(done, total, t.of) }

// AtOf is at with another noun.
func (t *ticker) AtOf(done, total int, of string) {
	if t == nil || t.ended == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count = fmt.Sprintf(": %d of %d %s", done, total, cmp.Or(of, "issues"))
}

// About sets the current work.
func (t *ticker) About(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.what, t.count = output.Clean(what), ""
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

// End erases the line and stops the updates. It can be called again.
func (t *ticker) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended == nil {
		return
	}
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
