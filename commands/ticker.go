package commands

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"git-checkpoint/commands/output"
	"git-checkpoint/commands/terminal"
)

// A ticker tells a person at a terminal how far something has come, from its
// second second on. Its zero value tells nobody.
type ticker struct {
	mu    sync.Mutex
	w     io.Writer
	what  string
	of    string // what is counted, "" for issues
	count string // "3 of 10 issues", "" while that is not known
	width int    // of the terminal, 0 for no limit
	lines bool   // the terminal cannot take a line away: a new one each time
	shown bool
	ended chan struct{}
}

// How often a line is written anew; where they stay, so that nobody who hears
// them is told more than need be.
const (
	tickEvery     = 200 * time.Millisecond
	tickLineEvery = 10 * time.Second
)

// tick begins to tell of what is done, where somebody sees it.
func (c *Invocation) tick(what string) *ticker { return c.tickOf(what, "") }

// tickOf is tick with a word for what is counted.
func (c *Invocation) tickOf(what, of string) *ticker {
	t := &ticker{w: c.env.Stderr, what: output.Clean(what), of: of}
	if c.json || c.flags.Bool("quiet") || !terminal.Is(c.env.Stderr) {
		return t
	}
	every, terminal := tickEvery, c.env.Getenv("TERM")
	if t.width = widthOf(c.env.Stderr); terminal == "" || terminal == "dumb" {
		t.lines, every = true, tickLineEvery
	}
	t.ended = make(chan struct{})
	c.ticker = t
	after := c.tickAfter()
	if after == 0 {
		t.write()
		after = every
	}
	go t.run(after, every)
	return t
}

// tickAfter is how long things may take before anybody is told, as git has it.
func (c *Invocation) tickAfter() time.Duration {
	if n, err := strconv.Atoi(c.env.Getenv("GIT_PROGRESS_DELAY")); err == nil && n >= 0 {
		return time.Duration(n) * time.Second
	}
	return time.Second
}

// run writes after a while, and then again and again.
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

// at tells how many issues, or what else is counted, are done.
func (t *ticker) at(done, total int) { t.atOf(done, total, t.of) }

// atOf is at for something else that is counted.
func (t *ticker) atOf(done, total int, of string) {
	if t == nil || t.ended == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count = fmt.Sprintf(": %d of %d %s", done, total, cmp.Or(of, "issues"))
}

// about says what is done now.
func (t *ticker) about(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.what, t.count = output.Clean(what), ""
}

// hide makes room for what else is written; the line comes again.
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

// end takes the line away, and writes no other. It may be called again.
func (t *ticker) end() {
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
