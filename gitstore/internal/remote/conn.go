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

// A Conn is a connection to a remote. It uses git with the user's credentials, proxies
// and ssh.
type Conn struct {
	Op      string // fetch or push, used in errors
	Remote  string
	Timeout time.Duration // time limit for one git command, 0 means unlimited

	here Here
	from string // remote or URL for reading refs: the push URL if pushing
	git  git.Git
}

// Open returns a connection without connecting. For every op except "fetch", refs are
// read from the push URL. A quiet connection never prompts for a password. The remote's
// name must not start with a dash.
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

// quiet returns a git command without prompts. It runs in a separate process group, so
// that the whole group can be killed; on a terminal, such a group could not prompt
// anyway.
func (h Here) quiet() git.Git {
	g := h.Git.With(NoQuestions(h.Config)...)
	g.Apart = true
	return g
}

// NoQuestions returns environment variables that disable password prompts of git and ssh.
// Askpass programs configured by the user still run.
func NoQuestions(config []git.ConfigEntry) []string {
	env := []string{"GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never"}
	command, _ := git.Last(config, "core.sshcommand")
	if command == "" && os.Getenv("GIT_SSH_COMMAND") == "" && os.Getenv("GIT_SSH") == "" {
		env = append(env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes -o ConnectTimeout=30 -o ServerAliveInterval=15")
	}
	return env
}

// NoStall returns environment variables that make git abort an HTTP transfer after 30
// seconds without data. It returns nil if the user configured another limit.
func NoStall(config []git.ConfigEntry) []string {
	limit, _ := git.Last(config, "http.lowspeedtime")
	if limit != "" || os.Getenv("GIT_HTTP_LOW_SPEED_TIME") != "" {
		return nil
	}
	return []string{"GIT_HTTP_LOW_SPEED_LIMIT=1", "GIT_HTTP_LOW_SPEED_TIME=30"}
}

// BesideAnother reports whether a second connection can run in parallel. No setting may
// redirect the URL, and the transport must not prompt for a password, because two
// processes would then prompt at once.
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

// run runs git and converts failures to *Error.
func (l *Conn) run(ctx context.Context, args ...string) (out []byte, err error) {
	err = l.within(ctx, func(ctx context.Context) error {
		out, err = l.git.Output(ctx, args...)
		return err
	})
	return out, err
}

// within runs f with the connection's timeout and converts failures to *Error.
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

// Fail returns a remote error with a reason.
func (l *Conn) Fail(reason string, err error) *Error {
	hint := "git ls-remote " + l.Remote
	if !Configured(l.here.Config, l.Remote) {
		hint = "git remote -v"
	}
	return &Error{Op: l.Op, Remote: Shown(l.Remote), Reason: reason, Hint: hint, Err: err}
}
