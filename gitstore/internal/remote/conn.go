// Package remote lists, fetches and pushes refs of another repository. It runs git with
// the user's settings, credentials, proxies and ssh. The package handles refs and commits
// only; the store interprets checkpoints and compares chains.
//
// Connections take most of the time, so the package uses few of them. Refs are fetched
// together; if the remote cannot send one ref, each half is fetched separately. Refs are
// pushed together, each with a lease on its last known value or as an extension of it, and the
// result of each ref is reported separately. A single ref is fetched by name without listing
// other refs. The number of git processes does not depend on the number of refs.
//
// Fetched commits stay below Incoming until the store updates its own refs; existing refs
// are never moved. In a shallow repository, new chains are fetched at local depth.
package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/objectformat"

	"github.com/go-git/go-git/v5/plumbing"
)

// Here is the local repository of a connection.
type Here struct {
	Git       git.Git
	Root      string // root of the worktree, "" in a bare repository
	Dir       string // $GIT_DIR
	CommonDir string // $GIT_COMMON_DIR, "" if refs are not files
	Config    []git.ConfigEntry
	Refs      Refs
	History   History
}

// Refs reads and deletes local refs.
type Refs interface {
	// Values returns refs below the given prefixes.
	Values(ctx context.Context, prefixes ...string) (map[string]plumbing.Hash, error)
	// Delete deletes refs that still have their last known value.
	Delete(ctx context.Context, seen map[string]plumbing.Hash) error
}

// History reads local commits.
type History interface {
	// Cut reports whether history is truncated, as in a shallow clone.
	Cut() bool
	// Came is called after a fetch, which may have truncated history.
	Came(ctx context.Context) error
	// Parents returns a commit's parents, none at a shallow boundary. It returns an error if
	// the commit is missing.
	Parents(plumbing.Hash) ([]plumbing.Hash, error)
	// IsGenesis reports whether a commit is the root of a chain, which stands for an unborn HEAD.
	IsGenesis(plumbing.Hash) bool
}

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
	if quiet { // a separate process group can be killed as a whole
		l.git = h.Git.With(NoQuestions(h.Config)...)
		l.git.Apart = true // on a terminal, such a group could not prompt anyway
	}
	return l
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

// MaxRefs returns the number of refs to push at once. Git pushes over HTTP with a helper that
// compares each refspec with each ref.
func (l *Conn) MaxRefs() int {
	at := l.url()
	if strings.HasPrefix(at, "http://") || strings.HasPrefix(at, "https://") || strings.Contains(at, "::") {
		return 1_000
	}
	return 10_000
}

// IsBundle reports whether the remote is a bundle file, which git cannot push to. Such a file
// begins with "# v2 git bundle".
func (l *Conn) IsBundle() bool {
	version, ok := strings.CutPrefix(l.bundleHeader(), "# v")
	version, ok2 := strings.CutSuffix(version, " git bundle")
	return ok && ok2 && len(version) == 1 && '0' <= version[0] && version[0] <= '9'
}

// bundleHeader returns the first bytes of a bundle file, or "" for other remotes. Git
// changes to the root of the worktree before it opens a relative path.
func (l *Conn) bundleHeader() string {
	at := strings.TrimPrefix(l.url(), "file://")
	if !filepath.IsAbs(at) {
		at = filepath.Join(cmp.Or(l.here.Root, l.here.Git.Dir), at)
	}
	info, err := os.Stat(at)
	if err != nil || !info.Mode().IsRegular() { // a pipe would block the read
		return ""
	}
	f, err := os.Open(at)
	if err != nil {
		return ""
	}
	defer f.Close()
	start := make([]byte, len(bundleOfSHA1))
	if _, err := io.ReadFull(f, start); err != nil {
		return ""
	}
	return string(start)
}

// bundleOfSHA1 is the beginning of a bundle file that has no line with an object format.
const bundleOfSHA1 = "# v2 git bundle"

// url returns the URL that is read, after the changes of url.*.insteadOf.
func (l *Conn) url() string {
	at := l.from
	if urls, _ := configuredURLs(l.here.Config, l.from); len(urls) > 0 {
		at = urls[0]
	}
	to, _ := instead(l.here.Config, ".insteadof", at)
	return to
}

// run runs git with standard input and converts failures to *Error.
func (l *Conn) run(ctx context.Context, in []byte, args ...string) (out []byte, err error) {
	err = l.within(ctx, func(ctx context.Context) error {
		out, err = l.git.Pipe(ctx, in, args...)
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
	switch {
	case errors.Is(err, ErrObjectFormat):
		return l.otherFormat(err)
	case errors.As(err, &failed) && (formatMessage().MatchString(failed.Stderr) || objectformat.Name != "sha1" && l.bundleHeader() == bundleOfSHA1):
		// Old versions of git report an invalid gitfile for a bundle of SHA-1.
		return l.otherFormat(fmt.Errorf("%w: %w", ErrObjectFormat, err))
	case errors.As(err, &failed):
		return l.Fail(explain(failed.Stderr), err)
	}
	return err
}

// Fail returns a remote error with a reason.
func (l *Conn) Fail(reason string, err error) *Error {
	hint := "git ls-remote " + failure.QuoteStrict(l.Remote)
	if !Configured(l.here.Config, l.Remote) {
		hint = "git remote -v"
	}
	return &Error{Op: l.Op, Remote: git.WithoutCredentials(l.Remote), Reason: reason, Hint: hint, Err: err}
}

// aboveHead is the number of commits between a chain's tip and HEAD at the save:
// checkpoint and state commit.
const aboveHead = 2

// depth returns the depth for fetching new chains, or 0 for full history if the
// repository is not shallow. A fetch with depth also truncates existing local history, so
// depth is at least the local depth.
func (l *Conn) depth(ctx context.Context) (int, error) {
	if !l.here.History.Cut() {
		return 0, nil
	}
	out, err := l.here.Git.Output(ctx, "rev-list", "--topo-order", "--reverse", "--parents", "HEAD", "--branches", "--remotes")
	if err != nil { // HEAD is unborn
		return aboveHead + 1, nil
	}
	longest := longestPath(string(out))
	if longest == 0 {
		return 0, fmt.Errorf("measure history: git listed no commit")
	}
	return aboveHead + longest, nil
}

// longestPath returns the number of commits on the longest path in lines of "<commit>
// <parent>...", parents first.
func longestPath(lines string) int {
	deep, longest := map[string]int{}, 0
	for text := range strings.Lines(lines) {
		names := strings.Fields(text)
		for k, name := range names {
			if k > 0 {
				deep[names[0]] = max(deep[names[0]], deep[name])
			}
		}
		if len(names) > 0 {
			deep[names[0]]++
			longest = max(longest, deep[names[0]])
		}
	}
	return longest
}

// ErrObjectFormat reports a remote of the other object format. Git transfers no objects
// between SHA-1 and SHA-256 repositories.
var ErrObjectFormat = errors.New("the remote has another object format")

// formatMessage matches git's messages for a remote of the other object format: of a
// fetch, of a push, and of a push to an empty remote. Lines of the remote itself begin
// with "remote:".
var formatMessage = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^fatal: (mismatched algorithms: |` +
		`the receiving end does not support this repository's hash algorithm|protocol error: unexpected capabilities\^\{\})`)
})

// otherFormat returns the error for a remote of the other object format.
func (l *Conn) otherFormat(err error) *Error {
	failed := l.Fail(fmt.Sprintf("the remote has %s objects, and this repository has %s objects: checkpoints cannot move between them",
		objectformat.Title(objectformat.Other), objectformat.Title(objectformat.Name)), err)
	failed.Hint = "git remote -v"
	failed.Refused = true
	return failed
}
