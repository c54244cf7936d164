package commands

import (
	"fmt"
	"io"
	"sync"
	"time"

	"git-checkpoint/commands/output"
)

// A ticker tells a person at a terminal how far something has come, from its
// second second on. Its zero value tells nobody.
type ticker struct {
	mu    sync.Mutex
	w     io.Writer
	what  string
	count string // "3 of 10 issues", "" while that is not known
	shown bool
	ended chan struct{}
}

// tickEvery is how often a line is written anew.
const tickEvery = 200 * time.Millisecond

// tick begins to tell of what is done, where somebody sees it.
func (c *call) tick(what string) *ticker {
	t := &ticker{w: c.env.Stderr, what: output.Clean(what)}
	if c.json || c.flags.Bool("quiet") || !isTerminal(c.env.Stderr) {
		return t
	}
	t.ended = make(chan struct{})
	go t.run(time.Second, tickEvery)
	return t
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
		t.shown = true
		fmt.Fprintf(t.w, "\r\x1b[K%s", t.what+t.count)
	}
}

// at tells how many issues are done.
func (t *ticker) at(done, total int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count = fmt.Sprintf(": %d of %d issues", done, total)
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
	}
}
