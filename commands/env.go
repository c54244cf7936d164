package commands

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// An Env is what a process has: streams, environment, clock.
type Env struct {
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Environ []string
	Getenv  func(string) string
	Now     func() time.Time
	Tty     func() (io.ReadWriteCloser, error) // the terminal to ask at
}

// osEnv is the process's own.
func osEnv() (*Env, error) {
	e := &Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Environ: os.Environ(), Getenv: os.Getenv, Now: time.Now, Tty: openTty,
	}
	if fixed := os.Getenv("GIT_CHECKPOINT_NOW"); fixed != "" {
		at, err := time.Parse(time.RFC3339Nano, fixed)
		if err != nil {
			return nil, usagef("GIT_CHECKPOINT_NOW: %q is no RFC 3339 time", fixed)
		}
		e.Now = func() time.Time { return at }
	}
	return e, nil
}

// openTty opens the terminal where a person can be asked: standard input and
// error where both are one, else the controlling terminal. There is none where
// git was told not to ask, and none in CI.
func openTty() (io.ReadWriteCloser, error) {
	if os.Getenv("GIT_TERMINAL_PROMPT") == "0" || os.Getenv("CI") == "true" {
		return nil, fmt.Errorf("prompts are switched off")
	}
	if term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd())) {
		return stdTty{}, nil
	}
	return os.OpenFile(ttyName, os.O_RDWR, 0)
}

// stdTty is the terminal on standard input and error.
type stdTty struct{}

func (stdTty) Read(p []byte) (int, error)  { return os.Stdin.Read(p) }
func (stdTty) Write(p []byte) (int, error) { return os.Stderr.Write(p) }
func (stdTty) Close() error                { return nil }

// isTerminal reports whether a stream is a terminal.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
