// Package guard runs a command and saves checkpoints meanwhile: before a signal reaches
// the command, at intervals, and after a failure.
package guard

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"sync/atomic"
	"time"

	"git-checkpoint/commands/internal/terminal"
	"git-checkpoint/gitstore/checkpoint"
)

// Work saves and pushes the command's work.
type Work interface {
	// Save saves a checkpoint. It reports errors as warnings only, because the command
	// continues. ctx ends when an interrupt leaves no time to wait.
	Save(ctx context.Context, t checkpoint.Trigger, state State)
	// Pushes reports whether a saved checkpoint is due for a push.
	Pushes() bool
	// Push pushes saved checkpoints. ctx ends after limit; 0 means no limit.
	Push(ctx context.Context, limit time.Duration)
	// Say prints progress for the user.
	Say(format string, args ...any)
}

// A State is the state of the command at a save. The zero State is a running command.
type State struct {
	Ended    bool
	Code     int       // exit code, if the command has ended
	Signal   os.Signal // signal that interrupts the command, or nil
	TimedOut bool      // the time limit has expired
}

// Limits holds intervals and limits of a run.
type Limits struct {
	Every   time.Duration // interval between saves; 0 disables them
	Timeout time.Duration // total time of all attempts; 0 means unlimited
	Wait    time.Duration // delay before the first retry
	Retries int           // maximum retries after transient failures
}

// A Guard runs a command. One goroutine makes all decisions; saves and the command's wait
// run in other goroutines.
type Guard struct {
	Path   string   // path of the program
	Args   []string // arguments, program name first
	Env    []string // environment of the command
	Limits Limits
	Work   Work // nil if nothing is saved
	ByGit  bool // git started this program and forwards signals

	ctx    context.Context // context of saves
	cancel func()

	cmd   *exec.Cmd
	kill  func() // kills the command with its child processes; set by launch
	tail  *tail  // end of standard error, or nil if not captured
	apart bool   // command has its own process group
	done  chan error

	sigs      chan os.Signal
	signalled map[os.Signal]time.Time // time of the latest signal by kind
	echoed    map[os.Signal]bool      // git's forwarded copy was received
	second    bool                    // a repeated signal has killed the command
	deadline  time.Time               // deadline for all attempts
	late      bool                    // Limits.Timeout has expired
	busy      atomic.Bool             // a save or push is running

	untold []func() // messages deferred while the command controls the terminal
}

// Run runs the command, retries transient failures, and returns the exit code in shell
// convention. It returns an error if the command cannot start. Saves caused by a signal
// continue after ctx ends.
func (g *Guard) Run(ctx context.Context) (int, error) {
	g.ctx, g.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer g.cancel()
	g.sigs = make(chan os.Signal, 16)
	signal.Notify(g.sigs, watched()...)
	defer signal.Stop(g.sigs)
	SurviveClosedPipes()
	g.apart = !terminal.Has()
	g.deadline = time.Now().Add(g.Limits.Timeout)
	for retry := 0; ; retry++ {
		if err := g.start(); err != nil {
			return 0, err
		}
		code := g.watch()
		for _, say := range g.untold {
			say()
		}
		g.untold = nil
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
		select {
		case <-time.After(wait):
		case s := <-g.sigs:
			g.signalled[s] = time.Now()
			return 128 + signalNumber(g.lastSignal()), nil
		}
	}
}

// Saved marks the checkpoint as stored. Work.Save calls Saved, so that later signals need
// not wait for Save to return.
func (g *Guard) Saved() { g.busy.Store(false) }

// Tell calls say, which prints a message. If the command controls the terminal, Tell defers
// the call until the command ends.
func (g *Guard) Tell(say func()) {
	if g.ownsScreen() {
		g.untold = append(g.untold, say)
		return
	}
	say()
}

// start starts the command with this process's standard streams.
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
	if err := g.launch(); err != nil {
		return err
	}
	g.done = make(chan error, 1)
	go func() { g.done <- g.cmd.Wait() }()
	return nil
}

// watch saves checkpoints until the command ends and returns its exit code. After a
// failure without a signal or timeout it saves a final checkpoint.
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
			g.save(checkpoint.Interval, State{})
			g.push(g.Limits.Every)
		case <-late:
			g.late = true
			g.save(checkpoint.SessionEnd, State{TimedOut: true})
			g.send(terminate)
			time.AfterFunc(grace, g.kill)
			g.push(0)
		}
	}
}

// sameSignal is the period in which a repeated signal can be a copy of the first signal.
// The terminal signals both git and its child `git checkpoint`, and git forwards the
// signal to its child once.
const sameSignal = 200 * time.Millisecond

// killedByUs is the exit code of a command killed after a second Ctrl+C.
const killedByUs = 128 + 9

// ended saves a checkpoint after a failure and returns the exit code. It first waits
// briefly for a signal, because the same signal may have ended the command.
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
		g.save(checkpoint.SessionEnd, State{Ended: true, Code: code})
		g.push(0)
	}
	return code
}

// interrupted saves a checkpoint, then forwards the signal. A repeated signal kills the
// command immediately.
func (g *Guard) interrupted(s os.Signal) {
	if !g.again(s) {
		g.rescue(s)
	}
}

// again records a signal and reports whether it needs no save: it is a copy, a
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

// isEcho reports whether a signal counts as a copy of the first one. timeout(1) and
// service managers send SIGTERM to the process and to its group. For git's copy of the
// other signals, the period is shorter after a completed save, because treating a copy as
// a second Ctrl+C then loses little.
func (g *Guard) isEcho(s os.Signal, after time.Duration) bool {
	if s == terminate {
		return after < sameSignal
	}
	return !g.echoed[s] && after < sameSignal && (g.busy.Load() || after < sameSignal/10) && g.ByGit
}

// ownsScreen reports whether the command controls the terminal, like an editor or a
// pager.
func (g *Guard) ownsScreen() bool { return !g.apart && terminal.ReadsKeys() }

func (g *Guard) rescue(s os.Signal) {
	g.save(checkpoint.UserInterrupt, State{Signal: s})
	g.forward(s)
	g.push(15 * time.Second) // the user is waiting
}

// save saves a checkpoint while signals are handled. A second signal aborts the save.
func (g *Guard) save(t checkpoint.Trigger, state State) {
	if g.Work == nil {
		return
	}
	if s := g.beside(func() { g.Work.Save(g.ctx, t, state) }, func() {}); s != nil {
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

// push pushes saved checkpoints within limit; 0 means no limit beyond a connection's own
// timeout. A signal aborts the push, because a save has priority.
func (g *Guard) push(limit time.Duration) {
	if g.Work == nil || !g.Work.Pushes() {
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

func (g *Guard) lastSignal() os.Signal {
	var last os.Signal
	for s, at := range g.signalled {
		if last == nil || at.After(g.signalled[last]) {
			last = s
		}
	}
	return last
}

// grace is the time between the request to end and the kill.
const grace = 10 * time.Second
