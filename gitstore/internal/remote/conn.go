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
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

// Names returns the names of the remotes with a URL in git's configuration, sorted.
func Names(config []git.ConfigEntry) (names []string) {
	for _, e := range config {
		name, isRemote := strings.CutPrefix(e.Key, "remote.")
		if name, hasURL := strings.CutSuffix(name, ".url"); isRemote && hasURL {
			names = append(names, name)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
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

// A Destination is the repository to which pushes of checkpoints go. If a remote has several push
// URLs, git pushes to each of them with the same lease, although their refs may differ. Checkpoints
// are pushed to the URL for fetches if it is a push URL, otherwise to the first push URL.
type Destination struct {
	URL    string   // "" if git does not know the remote
	Others []string // further push URLs, sorted
	Same   bool     // fetches read this repository too, so its remote-tracking refs are known

	isSpecial bool // git push needs other settings than those of the remote
}

// DestinationOf asks git where pushes to a remote or URL go.
func DestinationOf(ctx context.Context, r *repo.Repo, name string) Destination {
	g := r.Git
	if !Configured(r.Config, name) {
		g, name = withRemote(g, git.ConfigEntry{Key: "url", Value: name}), oneURL
	}
	d := Destination{Same: true}
	out, err := g.Output(ctx, "remote", "-v")
	if err != nil {
		return d
	}
	fetched, pushed := "", []string{}
	for line := range strings.Lines(string(out)) {
		of, line, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if at := strings.LastIndex(line, " (fetch)"); of == name && at >= 0 {
			fetched = line[:at]
		} else if url, isPush := strings.CutSuffix(line, " (push)"); of == name && isPush {
			pushed = append(pushed, url)
		}
	}
	if len(pushed) == 0 {
		return d
	}
	if d.URL = pushed[0]; slices.Contains(pushed, fetched) {
		d.URL = fetched
	}
	mirror, _ := git.Last(r.Config, "remote."+name+".mirror") // then git rejects single refspecs
	d.isSpecial = len(pushed) > 1 || d.URL != fetched || git.Bool(mirror)
	d.Same = isSame(d.URL, fetched)
	d.Others = slices.DeleteFunc(pushed, func(url string) bool { return url == d.URL || url == "" })
	slices.Sort(d.Others)
	d.Others = slices.Compact(d.Others)
	return d
}

// isSame reports whether two URLs name the same repository, maybe by different protocols: their
// hosts and their paths are equal. Each protocol uses its own port.
func isSame(a, b string) bool {
	scheme, _, _ := strings.Cut(a, "://")
	ports := strings.HasPrefix(b, scheme+"://")
	return place(a, ports) == place(b, ports)
}

// place returns host and path of a URL without its scheme and user, so that git@host:a/b.git
// equals https://host/a/b.
func place(url string, ports bool) string {
	url = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(url, "file://"), "/"), ".git")
	_, rest, hasScheme := strings.Cut(url, "://")
	host, path, isSCP := strings.Cut(url, ":")
	switch {
	case hasScheme:
		host, path, _ = strings.Cut(rest, "/")
	case !isSCP || strings.Contains(host, "/"):
		return url // local directory
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	if i := strings.LastIndexByte(host, ':'); !ports && i > strings.LastIndexByte(host, ']') {
		host = host[:i]
	}
	return strings.ToLower(host) + "/" + strings.Trim(path, "/")
}

// oneURL is the name of a remote that exists only in the environment of a git process.
const oneURL = "git-checkpoint-push"

// withRemote adds settings of the remote oneURL to the environment of git. Arguments of a process
// are visible to other users, and a URL may contain a password.
func withRemote(g git.Git, settings ...git.ConfigEntry) git.Git {
	count, _ := strconv.Atoi(os.Getenv("GIT_CONFIG_COUNT"))
	for _, e := range settings {
		g = g.With(fmt.Sprintf("GIT_CONFIG_KEY_%d=remote.%s.%s", count, oneURL, e.Key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", count, e.Value))
		count++
	}
	return g.With(fmt.Sprintf("GIT_CONFIG_COUNT=%d", count))
}

// sendTo makes the connection one to the destination of pushes.
func (l *Conn) sendTo(d Destination) {
	l.Bundle = IsBundle(cmp.Or(l.repo.Info.Root, l.git.Dir), d.URL)
	if !d.isSpecial {
		return
	}
	settings := []git.ConfigEntry{{Key: "url", Value: d.URL}}
	for _, e := range l.repo.Config {
		key, ok := strings.CutPrefix(e.Key, "remote."+l.Remote+".")
		if ok && !slices.Contains([]string{"url", "pushurl", "mirror"}, key) {
			settings = append(settings, git.ConfigEntry{Key: key, Value: e.Value})
		}
	}
	l.git, l.from = withRemote(l.git, settings...), oneURL
}

// IsBundle reports whether a URL is a bundle file, which begins with "# v". Git resolves a relative
// path from the root of the worktree.
func IsBundle(root, url string) bool {
	file := strings.TrimPrefix(url, "file://")
	if !filepath.IsAbs(file) {
		file = filepath.Join(root, file)
	}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() { // a pipe would block the read
		return false
	}
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, 3)
	n, _ := f.Read(start)
	return string(start[:n]) == "# v"
}
