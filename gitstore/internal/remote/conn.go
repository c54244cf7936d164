// Package remote lists, fetches and pushes refs of another repository. It runs git with
// the user's settings, credentials, proxies and ssh. The package handles refs and commits
// only; the store interprets checkpoints and compares chains.
//
// Connections take most of the time, so the package uses few of them. Refs are fetched
// together; if the remote cannot send one ref, each half is fetched separately. Refs are
// pushed together, each with a lease on its last known value or as an extension of it, and the
// result of each ref is reported separately. The number of git processes does not depend on the
// number of refs.
//
// Fetched commits stay below Incoming until the store updates its own refs; existing refs
// are never moved. In a shallow repository, new chains are fetched at local depth.
package remote

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/internal/repo"
)

// An Error reports a refusal or a missing answer of a remote.
type Error struct {
	Op     string // fetch or push
	Remote string
	Reason string // one line without credentials
	Hint   string // diagnostic command
	Err    error

	Refused bool // remote answered and rejected the request
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s: %s", e.Op, e.Remote, e.Reason) }

func (e *Error) Unwrap() error { return e.Err }

func (e *Error) Exit() (code int, hint string) { return failure.Remote, e.Hint }

// Named returns err with a name before its reason, for one part of a request.
func Named(name string, err error) error {
	var of *Error
	if !errors.As(err, &of) {
		return err
	}
	named := *of
	named.Reason = name + ": " + of.Reason
	return &named
}

// Configured reports whether git's configuration contains this remote.
func Configured(config []git.ConfigEntry, name string) bool {
	prefix := "remote." + name + "."
	return slices.ContainsFunc(config, func(e git.ConfigEntry) bool { return strings.HasPrefix(e.Key, prefix) })
}

// A Conn is a connection to a remote. It uses git with the user's credentials, proxies
// and ssh.
type Conn struct {
	Op      string // fetch or push, used in errors
	Remote  string
	Timeout time.Duration // time limit for one git command, 0 means unlimited
	Bundle  bool          // the remote is a bundle file, which git cannot push to

	repo *repo.Repo
	from string // name or URL for git
	git  git.Git
}

// Open returns a connection without connecting. For every op except "fetch", it is one to the
// repository that pushes go to. A quiet connection never prompts for a password. The remote's
// name must not start with a dash.
func Open(ctx context.Context, r *repo.Repo, op, name string, timeout time.Duration, quiet bool) *Conn {
	l := &Conn{Op: op, Remote: name, Timeout: timeout, repo: r, from: name, git: r.Git}
	if op != "fetch" {
		l.sendTo(DestinationOf(ctx, r, name))
	}
	if quiet { // a separate process group can be killed as a whole
		l.git = l.git.With(git.NoQuestions(r.Config)...)
		l.git.Apart = true // on a terminal, such a group could not prompt anyway
	}
	return l
}

// run runs git with standard input and the connection's timeout, and converts failures to *Error.
func (l *Conn) run(ctx context.Context, in []byte, args ...string) ([]byte, error) {
	within := ctx
	if l.Timeout > 0 {
		bounded, cancel := context.WithTimeout(ctx, l.Timeout)
		defer cancel()
		within = bounded
	}
	out, err := l.git.Pipe(within, in, args...)
	failed, isGit := errors.AsType[*git.CommandError](err)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		err = ctx.Err()
	case within.Err() != nil:
		err = l.Fail(fmt.Sprintf("no answer within %s", l.Timeout), fmt.Errorf("%w: %w", context.DeadlineExceeded, err))
	case isGit && formatMessage().MatchString(failed.Stderr):
		err = l.otherFormat(err)
	case isGit:
		err = l.Fail(git.Reason(err), err)
	}
	return out, err
}

// Fail returns a remote error with a reason.
func (l *Conn) Fail(reason string, err error) *Error {
	hint := "git ls-remote " + failure.QuoteStrict(l.Remote)
	if !Configured(l.repo.Config, l.Remote) {
		hint = "git remote -v"
	}
	return &Error{Op: l.Op, Remote: git.WithoutCredentials(l.Remote), Reason: reason, Hint: hint, Err: err}
}

// aboveHead is the number of commits between a chain's tip and HEAD at the save:
// checkpoint and state commit.
const aboveHead = 2

// depth returns the depth for fetching new chains, or 0 for full history if the
// repository is not shallow. A fetch with depth also truncates existing local history, so
// depth is at least the local depth: no path is longer than the number of commits.
func (l *Conn) depth(ctx context.Context) (int, error) {
	if !l.repo.Info.Shallow {
		return 0, nil
	}
	out, err := l.repo.Git.Line(ctx, "rev-list", "--count", "HEAD", "--branches", "--remotes")
	if err != nil { // HEAD is unborn
		return aboveHead + 1, nil
	}
	commits, err := strconv.Atoi(out)
	if err != nil || commits == 0 {
		return 0, fmt.Errorf("measure history: git counted %q commits", out)
	}
	return aboveHead + commits, nil
}

// formatMessage matches git's messages for a remote of the other object format: of a
// fetch, of a push, and of a push to an empty remote. Lines of the remote itself begin
// with "remote:".
var formatMessage = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^fatal: (mismatched algorithms: |` +
		`the receiving end does not support this repository's hash algorithm|protocol error: unexpected capabilities\^\{\})`)
})

// otherFormat returns the error for a remote of the other object format: git transfers no objects
// between SHA-1 and SHA-256 repositories.
func (l *Conn) otherFormat(err error) *Error {
	failed := l.Fail(fmt.Sprintf("the remote has %s objects, and this repository has %s objects: checkpoints cannot move between them",
		objectformat.Title(objectformat.Other), objectformat.Title(objectformat.Name)), err)
	failed.Hint = "git remote -v"
	failed.Refused = true
	return failed
}
