package commands

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// A guard runs a command and saves checkpoints around it. One goroutine
// decides; saves and the wait for the command run beside it.
type guard struct {
	c      *call
	issue  checkpoint.Issue
	limits runLimits
	cancel func() // ends what is being saved

	cmd   *exec.Cmd
	tail  *tail // of standard error, nil where nobody reads it
	apart bool  // the command has a process group of its own
	done  chan error

	sigs      chan os.Signal
	signalled map[os.Signal]time.Time // when it came last
	echoed    map[os.Signal]bool      // git has passed it on
	second    bool                    // the command is to end at once
	late      bool                    // it ran into --timeout
	busy      bool                    // something is being saved or pushed

	slow   bool            // the issue's source is a forge or a program
	saved  *gitstore.Saved // the newest
	why    string          // nothing was saved
	warned map[string]bool
	untold []func() // what waits for the screen
}

// sameSignal is how long a signal that comes again may be the one before: git,
// whose child `git checkpoint` is, passes on what it got, once, though a
// terminal tells both.
const sameSignal = 200 * time.Millisecond

// grace is how long a command may take to end after it was asked to.
const grace = 10 * time.Second

// run runs the command, again after a transient failure, and returns its exit
// code.
func (g *guard) run(path string) (int, error) {
	g.sigs = make(chan os.Signal, 16)
	signal.Notify(g.sigs, watched()...)
	defer signal.Stop(g.sigs)
	surviveClosedPipes()
	g.apart = !hasTerminal()
	for retry := 0; ; retry++ {
		if err := g.start(path); err != nil {
			return 0, cannotRun(exitCannotRun, g.c.paths[0], errors.Unwrap(err))
		}
		code := g.watch()
		g.catchUp()
		if len(g.signalled) > 0 || g.late || code == 0 {
			return code, nil
		}
		why := g.transient(code)
		if why == "" || retry == g.limits.retries {
			return code, nil
		}
		wait := backoff(g.limits.wait, retry)
		g.c.say("run: %s; again in %s (%d of %d)", why, wait, retry+1, g.limits.retries)
		if !g.pause(wait) {
			return 128 + signalNumber(g.lastSignal()), nil
		}
	}
}

// start starts the command. It has what this process has, and knows the issue.
func (g *guard) start(path string) error {
	g.cmd = exec.Command(path)
	g.cmd.Args = g.c.paths
	g.cmd.Env = append(os.Environ(), "GIT_CHECKPOINT_ISSUE="+string(g.issue))
	g.cmd.Stdin, g.cmd.Stdout, g.cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	g.tail = nil
	if g.limits.retries > 0 && !isTerminal(os.Stderr) {
		g.tail = &tail{to: os.Stderr}
		g.cmd.Stderr, g.cmd.WaitDelay = g.tail, time.Second
	}
	if g.apart {
		ownGroup(g.cmd)
	}
	g.signalled, g.echoed = map[os.Signal]time.Time{}, map[os.Signal]bool{}
	if err := g.cmd.Start(); err != nil {
		return err
	}
	g.done = make(chan error, 1)
	go func() { g.done <- g.cmd.Wait() }()
	return nil
}

// watch saves checkpoints until the command has ended, and one where that was
// no success and none was asked for.
func (g *guard) watch() int {
	var tick, late <-chan time.Time
	if g.limits.every > 0 {
		t := time.NewTicker(g.limits.every)
		defer t.Stop()
		tick = t.C
	}
	if g.limits.timeout > 0 {
		late = time.After(g.limits.timeout)
	}
	for {
		select {
		case <-g.done:
			return g.ended()
		case s := <-g.sigs:
			g.interrupted(s)
		case <-tick:
			g.save(checkpoint.Interval)
			g.push()
		case <-late:
			g.late = true
			g.save(checkpoint.SessionEnd)
			g.end()
			g.push()
		}
	}
}

// ended saves what a command has left that did not succeed, and returns its
// exit code. A signal that ended it may only be on its way to us.
func (g *guard) ended() int {
	code := exitCodeOf(g.cmd.ProcessState)
	if code != 0 && len(g.signalled) == 0 {
		select {
		case s := <-g.sigs:
			g.interrupted(s)
		case <-time.After(sameSignal / 2):
		}
	}
	switch {
	case g.second:
		return 128 + signalNumber(g.lastSignal())
	case code != 0 && len(g.signalled) == 0 && !g.late:
		g.save(checkpoint.SessionEnd)
		g.push()
	}
	return code
}

// interrupted saves, then passes the signal on. What came again ends the
// command at once.
func (g *guard) interrupted(s os.Signal) {
	if !g.again(s) {
		g.rescue(s)
	}
}

func (g *guard) rescue(s os.Signal) {
	g.save(checkpoint.UserInterrupt)
	g.forward(s)
	g.push()
}

// again takes note of a signal, and reports whether it needs no save: it is
// one that was seen, or ends the command.
func (g *guard) again(s os.Signal) bool {
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
func (g *guard) isEcho(s os.Signal, after time.Duration) bool {
	return !g.echoed[s] && after < sameSignal && (g.busy || after < sameSignal/10) && g.c.env.Getenv("GIT_EXEC_PATH") != ""
}

// save saves a checkpoint while signals are listened to. A second one ends it.
func (g *guard) save(t checkpoint.Trigger) {
	g.beside(func() { g.saveOnce(t) })
}

// push pushes what was saved, where that is asked for.
func (g *guard) push() {
	if g.saved != nil && g.c.pushes() {
		g.beside(func() {
			if err := g.c.tryPush(g.issue, true); err != nil {
				g.warn(notPushed, err)
			}
		})
	}
}

// beside does work while signals are listened to. The first signal waits for
// the end of what is under way, and has its own save then.
func (g *guard) beside(work func()) {
	if g.second {
		return
	}
	g.busy = true
	done := make(chan struct{})
	go func() { defer close(done); work() }()
	var waiting os.Signal
	for {
		select {
		case <-done:
			g.busy = false
			if waiting != nil && !g.second {
				g.rescue(waiting)
			}
			return
		case s := <-g.sigs:
			if first := len(g.signalled) == 0; !g.again(s) && first {
				waiting = s
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
	switch {
	case errors.Is(err, gitstore.ErrUnchanged):
	case g.c.ctx.Err() != nil:
		g.warn("not saved (%s): interrupted", t)
	case err != nil:
		g.warn("not saved (%s): %v", t, err)
	default:
		g.saved = saved
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
	store, err := gitstore.Open(c.ctx, gitstore.Options{Now: c.env.Now, Apart: true})
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
	return c.store.Save(c.ctx, req)
}

// end asks the command to end, and kills it where it does not.
func (g *guard) end() {
	g.send(terminate)
	time.AfterFunc(grace, g.kill)
}

// pause waits, and reports whether no signal came.
func (g *guard) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case s := <-g.sigs:
		g.signalled[s] = time.Now()
		return false
	}
}

// lastSignal is the one that came last.
func (g *guard) lastSignal() os.Signal {
	var last os.Signal
	for s, at := range g.signalled {
		if last == nil || at.After(g.signalled[last]) {
			last = s
		}
	}
	return last
}
