package guard

import (
	"os"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// sameSignal is the period in which a repeated signal can be git's copy of the first
// signal. The terminal signals both git and its child `git checkpoint`, and git forwards
// the signal to its child once.
const sameSignal = 200 * time.Millisecond

// grace is the time between the request to end and the kill.
const grace = 10 * time.Second

// killedByUs is the exit code of a command killed after a second Ctrl+C.
const killedByUs = 128 + 9

// interrupted saves a checkpoint, then forwards the signal. A repeated signal kills the
// command immediately.
func (g *Guard) interrupted(s os.Signal) {
	if !g.again(s) {
		g.rescue(s)
	}
}

func (g *Guard) rescue(s os.Signal) {
	g.save(checkpoint.UserInterrupt)
	g.forward(s)
	g.push(lastPush)
}

// again records a signal and reports whether it needs no save: it is git's copy, a
// different second signal, or a repetition that kills the command.
func (g *Guard) again(s os.Signal) bool {
	at, seen := g.signalled[s]
	now := time.Now()
	if seen && g.isEcho(s, now.Sub(at)) {
		g.echoed[s] = true
		return true
	}
	other := len(g.signalled) > 0 && !seen
	g.signalled[s] = now
	switch {
	case other: // e.g. SIGTERM after SIGINT: less time remains
		g.forward(s)
		return true
	case !seen || g.ownsScreen():
		return false
	}
	g.second = true
	g.cancel()
	g.kill()
	return true
}

// isEcho reports whether a signal counts as git's forwarded copy. After a completed save
// the period is shorter, because treating a copy as a second Ctrl+C then loses little.
func (g *Guard) isEcho(s os.Signal, after time.Duration) bool {
	return !g.echoed[s] && after < sameSignal && (g.busy.Load() || after < sameSignal/10) && g.ByGit
}

// end asks the command to end, and kills it after grace.
func (g *Guard) end() {
	g.send(terminate)
	time.AfterFunc(grace, g.kill)
}

// pause waits for d and reports whether no signal arrived.
func (g *Guard) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case s := <-g.sigs:
		g.signalled[s] = time.Now()
		return false
	}
}

func (g *Guard) lastSignal() os.Signal {
	var last os.Signal
	for s, at := range g.signalled {
		if last == nil || at.After(g.signalled[last]) {
			last = s
		}
	}
	return last
}
