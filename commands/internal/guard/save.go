package guard

import (
	"context"
	"os"
	"time"

	"git-checkpoint/commands/internal/terminal"
	"git-checkpoint/gitstore/checkpoint"
)

// save saves a checkpoint while signals are handled. A second signal aborts the save.
func (g *Guard) save(t checkpoint.Trigger) {
	if s := g.beside(func() { g.Work.Save(g.ctx, t) }, func() {}); s != nil {
		g.rescue(s)
	}
}

// lastPush limits the push after an interrupt, because the user is waiting.
const lastPush = 15 * time.Second

// push pushes saved checkpoints within limit; 0 means no limit beyond a connection's own
// timeout. A signal aborts the push, because a save has priority.
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

// beside runs work while signals are handled. The first signal calls stop and is returned
// after work ends.
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

// Saved marks the checkpoint as stored. Work.Save calls Saved, so that later signals need
// not wait for Save to return.
func (g *Guard) Saved() { g.busy.Store(false) }

// Tell prints a message with say. If the command controls the terminal, the message is
// deferred until the command ends.
func (g *Guard) Tell(say func()) {
	if g.ownsScreen() {
		g.untold = append(g.untold, say)
		return
	}
	say()
}

// catchUp prints deferred messages.
func (g *Guard) catchUp() {
	for _, say := range g.untold {
		say()
	}
	g.untold = nil
}

// ownsScreen reports whether the command controls the terminal, like an editor or a
// pager.
func (g *Guard) ownsScreen() bool { return !g.apart && terminal.ReadsKeys() }
