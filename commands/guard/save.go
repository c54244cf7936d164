package guard

import (
	"context"
	"os"
	"time"

	"git-checkpoint/commands/terminal"
	"git-checkpoint/gitstore/checkpoint"
)

// save has a checkpoint saved while signals are listened to. A second one ends
// it.
func (g *Guard) save(t checkpoint.Trigger) {
	if s := g.beside(func() { g.Work.Save(g.ctx, t) }, func() {}); s != nil {
		g.rescue(s)
	}
}

// lastPush bounds the push after an interrupt: somebody waits.
const lastPush = 15 * time.Second

// push has pushed what was saved, for so long at most, or for as long as a
// connection may take. A signal ends it: what it is about has to be saved
// first.
func (g *Guard) push(limit time.Duration) {
	if !g.Work.Pushes() {
		return
	}
	ctx, stop := context.WithCancel(g.ctx)
	if limit > 0 {
		ctx, stop = context.WithTimeout(g.ctx, limit)
	}
	defer stop()
	if s := g.beside(func() { g.Work.Push(ctx, limit) }, stop); s != nil {
		g.rescue(s)
	}
}

// beside does work while signals are listened to. The first signal has the
// work stopped, as far as it can be, and is returned.
func (g *Guard) beside(work, stop func()) (waiting os.Signal) {
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

// Saved says from within Work.Save that all is safe: a signal that comes now
// need not wait.
func (g *Guard) Saved() { g.busy.Store(false) }

// Tell says something, later where the command has the screen.
func (g *Guard) Tell(say func()) {
	if g.ownsScreen() {
		g.untold = append(g.untold, say)
		return
	}
	say()
}

// catchUp says what had to wait.
func (g *Guard) catchUp() {
	for _, say := range g.untold {
		say()
	}
	g.untold = nil
}

// ownsScreen reports whether the command has the terminal for itself.
func (g *Guard) ownsScreen() bool { return !g.apart && terminal.ReadsKeys() }
