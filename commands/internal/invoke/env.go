package invoke

import (
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"git-checkpoint/commands/internal/exit"

	"golang.org/x/term"
)

// An Env holds the process environment: streams, variables and clock.
type Env struct {
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Environ []string
	Getenv  func(string) string
	Now     func() time.Time
	Tty     func() (io.ReadWriteCloser, error) // opens the terminal for questions
}

// OSEnv returns the environment of this process.
func OSEnv() (*Env, error) {
	e := &Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Environ: os.Environ(), Getenv: os.Getenv, Now: time.Now, Tty: openTty,
	}
	if fixed := os.Getenv("GIT_CHECKPOINT_NOW"); fixed != "" {
		at, err := time.Parse(time.RFC3339Nano, fixed)
		if err != nil {
			return nil, exit.Usagef("GIT_CHECKPOINT_NOW: %q is no RFC 3339 time", fixed)
		}
		e.Now = func() time.Time { return at }
	}
	return e, nil
}

// openTty opens the terminal for questions to a person. Standard input must be a
// terminal. The controlling terminal is no substitute: the command line of an agent or an
// editor has one too, but no person reads it.
func openTty() (io.ReadWriteCloser, error) {
	if IsOff(os.Getenv("GIT_TERMINAL_PROMPT")) {
		return nil, errors.New("GIT_TERMINAL_PROMPT switches questions off")
	}
	switch {
	case !term.IsTerminal(int(os.Stdin.Fd())):
		return nil, errors.New("there is no terminal to ask at")
	case term.IsTerminal(int(os.Stderr.Fd())):
		return stdTty{os.Stderr}, nil
	}
	return stdTty{os.Stdin}, nil // a terminal is open for reading and writing
}

// IsOff reports whether git reads a variable's value as false.
func IsOff(value string) bool {
	switch strings.ToLower(value) {
	case "0", "false", "no", "off":
		return true
	}
	return false
}

// stdTty reads from standard input and writes to out.
type stdTty struct{ out *os.File }

func (stdTty) Read(p []byte) (int, error)    { return os.Stdin.Read(p) }
func (t stdTty) Write(p []byte) (int, error) { return t.out.Write(p) }
func (stdTty) Close() error                  { return nil }
