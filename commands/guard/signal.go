package guard

import (
	"os"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// sameSignal is how long a signal that comes again may be the one before: git,
// whose child `git checkpoint` is, passes on what it got, once, though a
// terminal tells both.
const sameSignal = 200 * time.Millisecond

// grace is how long a command may take to end after it was asked to.
const grace = 10 * time.Second

// killedByUs is the code of a command that a second Ctrl+C ended.
const killedByUs = 128 + 9

// interrupted saves, then passes the signal on. What came again ends the
// command at once.
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

// again takes note of a signal, and reports whether it needs no save: it is
// one that was seen, or ends the command.
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
	case other: // such as SIGTERM after SIGINT: there is less time than was thought
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

// isEcho takes a signal for what git passes on. When everything is saved there
// is little to lose by taking it for a second Ctrl+C.
func (g *Guard) isEcho(s os.Signal, after time.Duration) bool {
	return !g.echoed[s] && after < sameSignal && (g.busy.Load() || after < sameSignal/10) && g.ByGit
}

// end asks the command to end, and kills it where it does not.
func (g *Guard) end() {
	g.send(terminate)
	time.AfterFunc(grace, g.kill)
}

// pause waits, and reports whether no signal came.
func (g *Guard) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case s := <-g.sigs:
		g.signalled[s] = time.Now()
		return false
	}
}

// lastSignal is the one that came last.
func (g *Guard) lastSignal() os.Signal {
	var last os.Signal
	for s, at := range g.signalled {
		if last == nil || at.After(g.signalled[last]) {
			last = s
		}
	}
	return last
}
