// Package gitcmd runs the git binary.
//
// Git owns refs, configuration, the index file, the working tree, filters and
// the network; this program asks it for those instead of imitating it (plain
// configuration files alone are read by package gitconfig). Output
// that is parsed is plumbing output: the locale is fixed, formats are
// NUL-terminated, and messages are shown but never matched.
package gitcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Git runs git in one directory with one environment.
type Git struct {
	Dir string   // working directory, "" for the process's own
	Env []string // added to the process's environment, later entries win

	// Apart keeps signals to this process's group away from git. A kill of the
	// group would leave the lock files that git removes when it ends.
	Apart bool
	Hold  []*os.File // with Apart, stay open, and locked, as long as git runs

	// Limit bounds each wait for a git that was started, by Await and by Finish.
	// Zero is no limit.
	Limit time.Duration
}

// A CommandError is a git command that failed.
type CommandError struct {
	Args   []string // without "git"
	Code   int      // exit status, -1 when git was killed or never started
	Stderr string   // what git said, trimmed
	Err    error
}

func (e *CommandError) Error() string {
	said := strings.TrimPrefix(strings.TrimPrefix(e.Stderr, "fatal: "), "error: ")
	if said == "" {
		said = e.Err.Error()
	}
	return fmt.Sprintf("git %s: %s", verb(e.Args), said)
}

func (e *CommandError) Unwrap() error { return e.Err }

// verb is the subcommand among args, for messages.
func verb(args []string) string {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "-c" || args[i] == "-C":
			i++
		case !strings.HasPrefix(args[i], "-"):
			return args[i]
		}
	}
	return strings.Join(args, " ")
}

// lookGit finds the binary once: every lookup walks PATH.
var lookGit = sync.OnceValues(func() (string, error) { return exec.LookPath("git") })

// Path is the binary that is run.
func Path() (string, error) { return lookGit() }

// With returns g with more environment.
func (g Git) With(env ...string) Git {
	g.Env = append(g.Env[:len(g.Env):len(g.Env)], env...)
	return g
}

// Output runs git and returns its standard output. The error is *CommandError; what
// git printed before it failed is returned with it.
func (g Git) Output(ctx context.Context, args ...string) ([]byte, error) {
	return g.Pipe(ctx, nil, args...)
}

// Pipe is Output with standard input.
func (g Git) Pipe(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	var in io.Reader
	if stdin != nil {
		in = bytes.NewReader(stdin)
	}
	return g.Stream(ctx, in, args...)
}

// Stream is Output with standard input read from r, which may be nil.
func (g Git) Stream(ctx context.Context, r io.Reader, args ...string) ([]byte, error) {
	run, err := g.command(ctx, args)
	if err != nil {
		return nil, err
	}
	run.cmd.Stdin = r
	return run.end(run.cmd.Run())
}

// Copy runs git and writes its standard output to w as it comes.
func (g Git) Copy(ctx context.Context, w io.Writer, args ...string) error {
	return g.Filter(ctx, nil, w, args...)
}

// Filter is Copy with standard input read from r, which may be nil.
func (g Git) Filter(ctx context.Context, r io.Reader, w io.Writer, args ...string) error {
	run, err := g.command(ctx, args)
	if err != nil {
		return err
	}
	run.cmd.Stdin, run.cmd.Stdout = r, w
	_, err = run.end(run.cmd.Run())
	return err
}

// A Run is a git process.
type Run struct {
	cmd            *exec.Cmd
	args           []string
	stdin          io.WriteCloser
	said           io.ReadCloser // of a git that is talked with: its standard output
	stdout, stderr bytes.Buffer

	limit time.Duration
	stop  context.CancelFunc // ends git
	late  atomic.Bool        // it was ended because of the limit
}

// command makes git ready to run.
func (g Git) command(ctx context.Context, args []string) (*Run, error) {
	path, err := lookGit()
	if err != nil {
		return nil, &CommandError{Args: args, Code: -1, Err: err}
	}
	ctx, stop := context.WithCancel(ctx)
	run := &Run{cmd: exec.CommandContext(ctx, path, args...), args: args, limit: g.Limit, stop: stop}
	run.cmd.Dir = g.Dir
	run.cmd.Env = append(append(os.Environ(), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0"), g.Env...)
	run.cmd.Stdout, run.cmd.Stderr = &run.stdout, &run.stderr
	end := ask
	if g.Apart {
		apart(run.cmd, g.Hold)
		end = askAll
	}
	run.cmd.Cancel, run.cmd.WaitDelay = func() error { return end(run.cmd.Process) }, graceful
	return run, nil
}

// Start starts git, to be given its standard input later.
func (g Git) Start(ctx context.Context, args ...string) (*Run, error) {
	run, err := g.command(ctx, args)
	if err != nil {
		return nil, err
	}
	if run.stdin, err = run.cmd.StdinPipe(); err == nil {
		err = run.cmd.Start()
	}
	if err != nil {
		run.stop()
		return nil, &CommandError{Args: args, Code: -1, Err: err}
	}
	return run, nil
}

// Talk is Start for a git that is waited for in between, with Await.
func (g Git) Talk(ctx context.Context, args ...string) (*Run, error) {
	run, err := g.command(ctx, args)
	if err != nil {
		return nil, err
	}
	run.cmd.Stdout = nil
	if run.stdin, err = run.cmd.StdinPipe(); err == nil {
		run.said, err = run.cmd.StdoutPipe()
	}
	if err == nil {
		err = run.cmd.Start()
	}
	if err != nil {
		run.stop()
		return nil, &CommandError{Args: args, Code: -1, Err: err}
	}
	return run, nil
}

// within ends git if it is not done with f within the limit.
func (r *Run) within(f func()) {
	if r.limit > 0 {
		timer := time.AfterFunc(r.limit, func() {
			r.late.Store(true)
			r.stop()
		})
		defer timer.Stop()
	}
	f()
}

// Await waits until git has printed a text, and reports whether it did before it
// ended. A git that takes longer than the limit is ended.
func (r *Run) Await(text string) (found bool) {
	r.within(func() { found = r.await(text) })
	return found
}

func (r *Run) await(text string) bool {
	some := make([]byte, 4096)
	for !bytes.Contains(r.stdout.Bytes(), []byte(text)) {
		n, err := r.said.Read(some)
		r.stdout.Write(some[:n])
		if n == 0 && err != nil {
			return false
		}
	}
	return true
}

// Write gives git some of its standard input.
func (r *Run) Write(p []byte) (n int, err error) {
	r.within(func() { n, err = r.stdin.Write(p) })
	return n, err
}

// Finish writes the rest of the standard input, waits, and returns the output. An error
// of git's own says more than that it stopped reading. A git that takes longer
// than the limit is ended.
func (r *Run) Finish(stdin []byte) ([]byte, error) {
	var writeErr, waitErr error
	r.within(func() {
		_, writeErr = r.stdin.Write(stdin)
		writeErr = errors.Join(writeErr, r.stdin.Close())
		if r.said != nil {
			_, _ = r.stdout.ReadFrom(r.said)
		}
		waitErr = r.cmd.Wait()
	})
	if waitErr != nil && r.late.Load() {
		waitErr = fmt.Errorf("no answer within %s: %w", r.limit, waitErr)
	}
	out, err := r.end(waitErr)
	if err == nil && writeErr != nil {
		err = &CommandError{Args: r.args, Code: -1, Err: writeErr}
	}
	return out, err
}

func (r *Run) end(err error) ([]byte, error) {
	r.stop()
	if err == nil {
		return r.stdout.Bytes(), nil
	}
	failed := &CommandError{
		Args: r.args, Code: r.cmd.ProcessState.ExitCode(),
		Stderr: strings.TrimSpace(r.stderr.String()), Err: err,
	}
	if tooOld := r.tooOld(failed); tooOld != nil {
		failed.Err, failed.Stderr = tooOld, ""
	}
	return r.stdout.Bytes(), failed
}

// graceful is how long a git that was asked to end may take.
const graceful = 5 * time.Second

// ask ends a process in the way in which git removes its lock files: a killed
// one leaves them, and a ref that is locked can never be moved again.
func ask(p *os.Process) error {
	err := p.Signal(syscall.SIGTERM)
	if err == nil || errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return p.Kill()
}

// Line is Output without the final newline.
func (g Git) Line(ctx context.Context, args ...string) (string, error) {
	out, err := g.Output(ctx, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// Code is the exit status in err, 0 for nil and -1 when err is not git's.
func Code(err error) int {
	if err == nil {
		return 0
	}
	var e *CommandError
	if errors.As(err, &e) {
		return e.Code
	}
	return -1
}

// Fields splits NUL-terminated output.
func Fields(out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
