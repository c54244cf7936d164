// Package guard runs a command and has the work saved around it: before a
// signal reaches the command, at intervals, and when it fails.
package guard

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"sync/atomic"
	"time"

	"git-checkpoint/commands/terminal"
	"git-checkpoint/gitstore/checkpoint"
)

// Work is what a command works on.
type Work interface {
	// Save saves a checkpoint. Whatever goes wrong is told: the command goes
	// on. The context ends when somebody cannot wait.
	Save(ctx context.Context, t checkpoint.Trigger)
	// Pushes reports whether something was saved that is to be pushed.
	Pushes() bool
	// Push pushes it. The context ends after limit, 0 for none.
	Push(ctx context.Context, limit time.Duration)
	// Say tells the user how it goes on.
	Say(format string, args ...any)
}

// Limits are how often and how long a command runs.
type Limits struct {
	Every   time.Duration // between two saves, 0 for none
	Timeout time.Duration // of all tries together, 0 for none
	Wait    time.Duration // before the first retry
	Retries int           // after failures that will pass
}

// A Guard runs a command. One goroutine decides; saves and the wait for the
// command run beside it.
type Guard struct {
	Path   string   // of the program
	Args   []string // with its name
	Env    []string // of the command
	Limits Limits
	Work   Work
	ByGit  bool // this program is a child of git, which passes signals on

	ctx    context.Context // of what is being saved
	cancel func()

	cmd   *exec.Cmd
	tail  *tail // of standard error, nil where nobody reads it
	apart bool  // the command has a process group of its own
	done  chan error

	sigs      chan os.Signal
	signalled map[os.Signal]time.Time // when it came last
	echoed    map[os.Signal]bool      // git has passed it on
	second    bool                    // the command is to end at once
	deadline  time.Time               // of all tries together
	late      bool                    // it ran into Limits.Timeout
	busy      atomic.Bool             // something is being saved or pushed

	untold []func() // what waits for the screen
}

// Run runs the command, again after a failure that will pass, and returns its
// exit code as shells have it. An error is that it could not be started. What
// is saved because of a signal does not end with ctx.
func (g *Guard) Run(ctx context.Context) (int, error) {
	g.ctx, g.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer g.cancel()
	g.sigs = make(chan os.Signal, 16)
	signal.Notify(g.sigs, watched()...)
	defer signal.Stop(g.sigs)
	surviveClosedPipes()
	g.apart = !terminal.Has()
	g.deadline = time.Now().Add(g.Limits.Timeout)
	for retry := 0; ; retry++ {
		if err := g.start(); err != nil {
			return 0, err
		}
		code := g.watch()
		g.catchUp()
		if len(g.signalled) > 0 || g.late || code == 0 {
			return code, nil
		}
		why := g.transient(code)
		if why == "" || retry == g.Limits.Retries {
			return code, nil
		}
		wait := backoff(g.Limits.Wait, retry)
		if g.Limits.Timeout > 0 && time.Until(g.deadline) <= wait {
			g.Work.Say("run: %s; not again, --timeout is near", why)
			return code, nil
		}
		g.Work.Say("run: %s; again in %s (%d of %d)", why, wait, retry+1, g.Limits.Retries)
		if !g.pause(wait) {
			return 128 + signalNumber(g.lastSignal()), nil
		}
	}
}

// start starts the command with what this process has.
func (g *Guard) start() error {
	g.cmd = exec.Command(g.Path)
	g.cmd.Args, g.cmd.Env = g.Args, g.Env
	g.cmd.Stdin, g.cmd.Stdout, g.cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	g.tail = nil
	if g.Limits.Retries > 0 && !terminal.Is(os.Stderr) {
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

// watch has checkpoints saved until the command has ended, and one where that
// was no success and none was asked for.
func (g *Guard) watch() int {
	var tick, late <-chan time.Time
	if g.Limits.Every > 0 {
		t := time.NewTicker(g.Limits.Every)
		defer t.Stop()
		tick = t.C
	}
	if g.Limits.Timeout > 0 {
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
			g.push(g.Limits.Every)
		case <-late:
			g.late = true
			g.save(checkpoint.SessionEnd)
			g.end()
			g.push(0)
		}
	}
}

// ended has saved what a command has left that did not succeed, and returns
// its exit code. A signal that ended it may only be on its way to us.
func (g *Guard) ended() int {
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
