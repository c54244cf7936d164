package commands

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"sync/atomic"
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
	deadline  time.Time               // of all tries together, with --timeout
	late      bool                    // it ran into --timeout
	busy      atomic.Bool             // something is being saved or pushed

	slow   bool            // the issue's source is a forge or a program
	saved  *gitstore.Saved // the newest
	why    string          // nothing was saved
	warned map[string]bool
	untold []func() // what waits for the screen
}

// run runs the command, again after a transient failure, and returns its exit
// code.
func (g *guard) run(path string) (int, error) {
	g.sigs = make(chan os.Signal, 16)
	signal.Notify(g.sigs, watched()...)
	defer signal.Stop(g.sigs)
	surviveClosedPipes()
	g.apart = !hasTerminal()
	g.deadline = time.Now().Add(g.limits.timeout)
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
		if g.limits.timeout > 0 && time.Until(g.deadline) <= wait {
			g.c.say("run: %s; not again, --timeout is near", why)
			return code, nil
		}
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
		late = time.After(time.Until(g.deadline))
	}
	for {
		select {
		case <-g.done:
			return g.ended()
		case s := <-g.sigs:
			g.interrupted(s)
		case <-tick:
			g.save(checkpoint.Interval)
			g.push(g.limits.every)
		case <-late:
			g.late = true
			g.save(checkpoint.SessionEnd)
			g.end()
			g.push(0)
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
	case g.second && code == killedByUs:
		return 128 + signalNumber(g.lastSignal())
	case code != 0 && len(g.signalled) == 0 && !g.late:
		g.save(checkpoint.SessionEnd)
		g.push(0)
	}
	return code
}
