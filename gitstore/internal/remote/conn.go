package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"git-checkpoint/gitstore/internal/git"
)

// A Conn is a connection to a remote: git's, with its credentials, proxies and
// ssh.
type Conn struct {
	Op      string // fetch or push, as errors name it
	Remote  string
	Timeout time.Duration // 0 for none

	here Here
	from string // where its refs are read: what is pushed has to be seen there
	git  git.Git
}

// Open returns a connection that is not made yet. With op "fetch" nothing is going
// to be pushed. A quiet one asks nobody for a password. The remote's name has to
// be one that git takes for no option.
func (h Here) Open(op, name string, timeout time.Duration, quiet bool) *Conn {
	l := &Conn{Op: op, Remote: name, Timeout: timeout, here: h, from: name, git: h.Git}
	if op != "fetch" {
		l.from = PushedTo(h.Config, name)
	}
	if quiet {
		l.git = h.quiet()
	}
	return l
}

// quiet is git that asks nobody. It gets a process group of its own, which can
// be ended as a whole; at a terminal, that could not be asked at.
func (h Here) quiet() git.Git {
	g := h.Git.With(NoQuestions(h.Config)...)
	g.Apart = true
	return g
}

// NoQuestions returns the environment variables with which git and ssh ask
// nobody for a password. A program that the user set for it still runs.
func NoQuestions(config []git.ConfigEntry) []string {
	env := []string{"GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never"}
	command, _ := git.Last(config, "core.sshcommand")
	if command == "" && os.Getenv("GIT_SSH_COMMAND") == "" && os.Getenv("GIT_SSH") == "" {
		env = append(env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes -o ConnectTimeout=30 -o ServerAliveInterval=15")
	}
	return env
}

// NoStall returns the environment variables with which git ends an HTTP transfer
// that stands still for half a minute, unless the user has set another limit.
func NoStall(config []git.ConfigEntry) []string {
	limit, _ := git.Last(config, "http.lowspeedtime")
	if limit != "" || os.Getenv("GIT_HTTP_LOW_SPEED_TIME") != "" {
		return nil
	}
	return []string{"GIT_HTTP_LOW_SPEED_LIMIT=1", "GIT_HTTP_LOW_SPEED_TIME=30"}
}

// BesideAnother reports that a second connection to the remote can be made
// while there is a first one: no setting sends it elsewhere, and the way there
// asks nobody for a password, who would be asked by two.
func (l *Conn) BesideAnother() bool {
	at, _ := git.Last(l.here.Config, "remote."+l.Remote+".url")
	if !Configured(l.here.Config, l.Remote) {
		at = l.Remote
	}
	for _, e := range l.here.Config {
		if strings.HasSuffix(e.Key, "insteadof") || e.Key == "remote."+l.Remote+".pushurl" {
			return false
		}
	}
	return strings.HasPrefix(at, "/") || strings.HasPrefix(at, "file://") || strings.HasPrefix(at, "git://")
}

// run runs git. Its failure is an Error.
func (l *Conn) run(ctx context.Context, args ...string) (out []byte, err error) {
	err = l.within(ctx, func(ctx context.Context) error {
		out, err = l.git.Output(ctx, args...)
		return err
	})
	return out, err
}

// within bounds a git by the connection's timeout, and makes its failure an Error.
func (l *Conn) within(ctx context.Context, f func(context.Context) error) error {
	within := ctx
	if l.Timeout > 0 {
		bounded, cancel := context.WithTimeout(ctx, l.Timeout)
		defer cancel()
		within = bounded
	}
	err := f(within)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case within.Err() != nil:
		return l.Fail(fmt.Sprintf("no answer within %s", l.Timeout), err)
	}
	var failed *git.CommandError
	if errors.As(err, &failed) {
		return l.Fail(explain(failed.Stderr), err)
	}
	return err
}

// Fail is the error of a remote for a reason.
func (l *Conn) Fail(reason string, err error) *Error {
	hint := "git ls-remote " + l.Remote
	if !Configured(l.here.Config, l.Remote) {
		hint = "git remote -v"
	}
	return &Error{Op: l.Op, Remote: Shown(l.Remote), Reason: reason, Hint: hint, Err: err}
}
