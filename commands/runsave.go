package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// save saves a checkpoint while signals are listened to. A second one ends it.
func (g *guard) save(t checkpoint.Trigger) {
	if s := g.beside(func() { g.saveOnce(t) }, func() {}); s != nil {
		g.rescue(s)
	}
}

// lastPush bounds the push after an interrupt: somebody waits.
const lastPush = 15 * time.Second

// push pushes what was saved, where that is asked for, for so long at most,
// or for as long as a connection may take. A signal ends it: what it is about
// has to be saved first.
func (g *guard) push(limit time.Duration) {
	if g.saved == nil || !g.c.pushes() {
		return
	}
	whole := g.c.ctx
	ctx, stop := context.WithCancel(whole)
	if limit > 0 {
		ctx, stop = context.WithTimeout(whole, limit)
	}
	defer stop()
	g.c.ctx = ctx
	s := g.beside(func() { g.pushOnce(ctx, limit) }, stop)
	if g.c.ctx = whole; s != nil {
		g.rescue(s)
	}
}

func (g *guard) pushOnce(ctx context.Context, limit time.Duration) {
	err := g.c.tryPush(g.issue, true)
	switch {
	case err == nil || errors.Is(ctx.Err(), context.Canceled):
	case ctx.Err() != nil:
		g.warn(notPushed, fmt.Errorf("no answer within %s", limit))
	default:
		g.warn(notPushed, err)
	}
}

// beside does work while signals are listened to. The first signal has the
// work stopped, as far as it can be, and is returned.
func (g *guard) beside(work, stop func()) (waiting os.Signal) {
	if g.second {
		return nil
	}
	g.busy.Store(true)
	done := make(chan struct{})
	go func() { defer close(done); work() }()
	for {
		select {
		case <-done:
			if g.busy.Store(false); g.second {
				return nil
			}
			return waiting
		case s := <-g.sigs:
			if first := len(g.signalled) == 0; !g.again(s) && first {
				waiting = s
				stop()
			}
		}
	}
}

// saveOnce saves. Whatever goes wrong is a warning: the command goes on.
func (g *guard) saveOnce(t checkpoint.Trigger) {
	if on, why := g.c.settings.TriggerEnabled(t); !on {
		g.why = why
		return
	}
	saved, err := g.trySave(t)
	if err != nil && !errors.Is(err, gitstore.ErrUnchanged) && g.c.ctx.Err() == nil {
		// A Ctrl+C may hit a git that was just started, before it has a group
		// of its own.
		saved, err = g.trySave(t)
	}
	switch {
	case errors.Is(err, gitstore.ErrUnchanged):
	case g.c.ctx.Err() != nil:
		g.warn("not saved (%s): interrupted", t)
	case err != nil:
		g.warn("not saved (%s): %v", t, err)
	default:
		g.saved = saved
		g.busy.Store(false)
		g.tell(func() { g.c.say("saved %s (%s)", saved.ID, t) })
		for _, w := range savedWarnings(g.c, saved) {
			g.warn("%s", w)
		}
	}
}

// tell says something, later where the command has the screen.
func (g *guard) tell(say func()) {
	if g.ownsScreen() {
		g.untold = append(g.untold, say)
		return
	}
	say()
}

// warn warns once of each thing.
func (g *guard) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !g.warned[text] {
		g.warned[text] = true
		g.tell(func() { g.c.warn("%s", text) })
	}
}

// catchUp says what had to wait.
func (g *guard) catchUp() {
	for _, say := range g.untold {
		say()
	}
	g.untold = nil
}

// trySave opens the repository anew: the command may have changed anything.
func (g *guard) trySave(t checkpoint.Trigger) (*gitstore.Saved, error) {
	c := g.c
	opts := gitstore.Options{Now: c.env.Now, Apart: true}
	if _, err := os.Getwd(); err != nil { // the folder it was started in is gone
		opts.Dir = first(c.store.Root(), c.store.CommonDir())
	}
	store, err := gitstore.Open(c.ctx, opts)
	if err != nil {
		return nil, err
	}
	c.close()
	c.store = store
	if t == checkpoint.UserInterrupt && g.slow { // there may be seconds left, and no more
		_ = c.settings.Set("issue_source", "none", "run")
	}
	req, err := c.saveRequest(g.issue, t)
	if err != nil { // a file of state, perhaps, that is gone or half written
		g.warn("saved without --state: %v", err)
		state := c.flags.String("state")
		_ = c.flags.Set("state", "")
		req, err = c.saveRequest(g.issue, t)
		_ = c.flags.Set("state", state)
	}
	if err != nil {
		return nil, err
	}
	req.IfChanged = t == checkpoint.Interval
	saved, err := c.store.Save(c.ctx, req)
	if err == nil {
		c.endMirror()
	}
	return saved, err
}
