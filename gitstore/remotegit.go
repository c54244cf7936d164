package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/gitcmd"

	"github.com/go-git/go-git/v5/plumbing"
)

// A line is a connection to a remote: git's, with its credentials, proxies and
// ssh.
type line struct {
	s       *Store
	op      string // fetch or push
	remote  string
	from    string        // where its refs are read: what is pushed has to be seen there
	timeout time.Duration // 0 for none
	git     gitcmd.Git
}

func (s *Store) line(op, remote string, timeout time.Duration, quiet bool) (*line, error) {
	if err := checkRemote(remote); err != nil {
		return nil, err
	}
	l := &line{s: s, op: op, remote: remote, from: remote, timeout: timeout, git: s.git}
	if op != "fetch" {
		l.from = s.pushedTo(remote)
	}
	if quiet {
		l.git = s.quiet()
	}
	return l, nil
}

// pushedTo is where a push to a remote goes: the remote, or the place that its
// pushurl names where that is another, as for a fork.
func (s *Store) pushedTo(remote string) string {
	var fetches, pushes []string
	for _, e := range s.config {
		switch e.Key {
		case "remote." + remote + ".url":
			fetches = append(fetches, e.Value)
		case "remote." + remote + ".pushurl":
			pushes = append(pushes, e.Value)
		}
	}
	if len(pushes) == 0 || slices.Contains(pushes, first(fetches...)) || strings.HasPrefix(pushes[0], "-") {
		return remote
	}
	return pushes[0]
}

// quiet is git that asks nobody. It gets a process group of its own, which can
// be ended as a whole; at a terminal, that could not be asked at.
func (s *Store) quiet() gitcmd.Git {
	g := s.git.With("GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never")
	g.Apart = true
	command, _ := gitcmd.Last(s.config, "core.sshcommand")
	if command == "" && os.Getenv("GIT_SSH_COMMAND") == "" && os.Getenv("GIT_SSH") == "" {
		g = g.With("GIT_SSH_COMMAND=ssh -o BatchMode=yes")
	}
	return g
}

// run runs git. Its failure is a RemoteError.
func (l *line) run(ctx context.Context, args ...string) (out []byte, err error) {
	err = l.within(ctx, func(ctx context.Context) error {
		out, err = l.git.Output(ctx, args...)
		return err
	})
	return out, err
}

// within bounds a git by the line's timeout, and makes its failure a RemoteError.
func (l *line) within(ctx context.Context, f func(context.Context) error) error {
	within := ctx
	if l.timeout > 0 {
		bounded, cancel := context.WithTimeout(ctx, l.timeout)
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
		return l.fail(fmt.Sprintf("no answer within %s", l.timeout), err)
	}
	var git *gitcmd.Error
	if errors.As(err, &git) {
		return l.fail(explain(git.Stderr), err)
	}
	return err
}

func (l *line) fail(reason string, err error) *RemoteError {
	hint := "git ls-remote " + l.remote
	if !l.s.configured(l.remote) {
		hint = "git remote -v"
	}
	return &RemoteError{Op: l.op, Remote: ShownRemote(l.remote), Reason: reason, Hint: hint, Err: err}
}

// explain makes one line of what git says when a connection fails: the cause
// stands first, and a general remark after it.
func explain(stderr string) string {
	var said []string
	for text := range strings.Lines(stderr) {
		text = strings.TrimSpace(text)
		switch lower := strings.ToLower(text); {
		case text == "", strings.HasPrefix(lower, "warning:"), strings.HasPrefix(lower, "hint:"),
			strings.HasPrefix(text, "Pseudo-terminal will not"), strings.HasPrefix(text, "From "), strings.HasPrefix(text, "To "):
			continue
		}
		for _, prefix := range []string{"fatal: ", "error: ", "remote: "} {
			text = strings.TrimPrefix(text, prefix)
		}
		said = append(said, withoutPasswords(text))
	}
	if len(said) == 0 {
		return "git ended without a word"
	}
	return said[0]
}

// tips asks which of refs a remote has, all that match a pattern too.
func (l *line) tips(ctx context.Context, refs ...string) (map[string]plumbing.Hash, error) {
	tips := map[string]plumbing.Hash{}
	err := l.eachTip(ctx, refs, func(name string, tip plumbing.Hash) { tips[name] = tip })
	return tips, err
}

// eachTip gives f what tips asks for, in the order of names, as it comes: git
// still says goodbye then.
func (l *line) eachTip(ctx context.Context, refs []string, f func(name string, tip plumbing.Hash)) error {
	lines := &lineWriter{f: func(text string) {
		hex, name, ok := strings.Cut(text, "\t")
		if ok && plumbing.IsHash(hex) {
			f(name, plumbing.NewHash(hex))
		}
	}}
	return l.within(ctx, func(ctx context.Context) error {
		return l.git.Copy(ctx, lines, slices.Concat(l.atOnce(), []string{"ls-remote", "--refs", "--", l.from}, refs)...)
	})
}

// A lineWriter gives f whole lines, without their ends.
type lineWriter struct {
	f    func(string)
	rest []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for {
		line, after, found := bytes.Cut(p, []byte("\n"))
		w.rest = append(w.rest, line...)
		if !found {
			return n, nil
		}
		w.f(string(w.rest))
		w.rest, p = w.rest[:0], after
	}
}

// atOnce are the flags with which a remote says what refs it has as soon as it
// is connected. In the second version of the protocol it waits until it is
// asked, and git ls-remote asks for all of them there, too.
func (l *line) atOnce() []string {
	if _, chosen := gitcmd.Last(l.s.config, "protocol.version"); chosen {
		return nil
	}
	return []string{"-c", "protocol.version=0"}
}

// bring fetches refs of the remote into refs here that do not exist yet: each
// entry is "<theirs>:<ours>". depth 0 is all of them.
func (l *line) bring(ctx context.Context, depth int, refspecs []string) error {
	args := []string{"fetch", "--quiet", "--no-tags", "--no-prune", "--no-auto-gc", "--recurse-submodules=no", "--refmap="}
	if depth > 0 {
		args = append(args, fmt.Sprintf("--depth=%d", depth))
	}
	tail := append([]string{"--", l.from}, refspecs...)
	_, err := l.run(ctx, slices.Concat(args, []string{"--no-write-fetch-head"}, tail)...)
	if gitcmd.Code(err) == gitUsage { // a git before 2.29
		_, err = l.run(ctx, slices.Concat(args, tail)...)
	}
	return err
}

// gitUsage is git's exit status for options that it does not know.
const gitUsage = 129

// errStale says that the remote's ref is not where it was expected.
var errStale = errors.New("the remote moved meanwhile")

// errThere is that a remote had a commit at its ref before it was pushed.
var errThere = errors.New("the remote has it already")

// A gift is a commit for a ref of the remote, which has to be at seen, zero
// for not there.
type gift struct {
	ref       string
	tip, seen plumbing.Hash
}

// give pushes commits over one connection. What the remote refused is told by
// ref: errThere and errStale where somebody moved it, to the same commit or to
// another one, else a RemoteError. The error is one of the connection.
func (l *line) give(ctx context.Context, dryRun bool, gifts ...gift) (map[string]error, error) {
	args := []string{"push", "--porcelain", "--no-verify", "--no-tags", "--no-follow-tags", "--recurse-submodules=no"}
	if dryRun {
		args = append(args, "--dry-run")
	}
	specs := []string{"--", l.remote}
	for _, g := range gifts {
		expected := ""
		if !g.seen.IsZero() {
			expected = g.seen.String()
		}
		args = append(args, "--force-with-lease="+g.ref+":"+expected)
		specs = append(specs, g.tip.String()+":"+g.ref)
	}
	out, err := l.run(ctx, slices.Concat(l.noMirror(), args, specs)...)
	reports := pushReports(out)
	refused, answered := map[string]error{}, false
	for _, g := range gifts {
		switch r, ok := reports[g.ref]; {
		case ok && r.flag == '!':
			refused[g.ref] = l.refusal(g.ref, r.reason, err)
			answered = true
		case ok && r.flag == '=':
			refused[g.ref] = errThere
			answered = true
		case ok:
			answered = true
		case err != nil: // nobody knows what became of it
			refused[g.ref] = err
		}
	}
	if answered {
		return refused, nil
	}
	return nil, err
}

// noMirror are the flags for a remote that a push mirrors to: it takes no
// single ref then.
func (l *line) noMirror() []string {
	key := "remote." + l.remote + ".mirror"
	if on, _ := gitcmd.Last(l.s.config, key); !gitcmd.Bool(on) {
		return nil
	}
	return []string{"-c", key + "=false"}
}

// refusal is the error of a ref that the remote did not take.
func (l *line) refusal(ref, reason string, err error) error {
	if slices.Contains(staleReasons, reason) {
		return fmt.Errorf("%w: %s", errStale, reason)
	}
	var git *gitcmd.Error
	if errors.As(err, &git) {
		if said := remoteSays(git.Stderr); said != "" {
			reason += ": " + said
		}
	}
	return l.refused(ref, reason, err)
}

func (l *line) refused(ref, reason string, err error) *RemoteError {
	failed := l.fail("refused "+ref+": "+reason, err)
	failed.Refused = true
	return failed
}

// staleReasons are git's words for a ref that has moved.
var staleReasons = []string{
	"stale info", "fetch first", "non-fast-forward", "needs force", "already exists", "incorrect old value provided",
	"failed to update ref", "cannot lock ref",
}

// A pushReport is what became of one ref.
type pushReport struct {
	flag   byte // '!' where it was refused, '=' where it was there
	reason string
}

// pushReports reads what git push --porcelain says, by the remote's refs: lines
// of "<flag> TAB <from>:<to> TAB <summary> (<reason>)".
func pushReports(out []byte) map[string]pushReport {
	reports := map[string]pushReport{}
	for text := range strings.Lines(string(out)) {
		fields := strings.SplitN(strings.TrimSuffix(text, "\n"), "\t", 3)
		if len(fields) < 3 || len(fields[0]) != 1 {
			continue
		}
		_, ref, ok := strings.Cut(fields[1], ":")
		if !ok {
			continue
		}
		_, reason, _ := strings.Cut(fields[2], " (")
		reports[ref] = pushReport{fields[0][0], strings.TrimSuffix(reason, ")")}
	}
	return reports
}

// remoteSays is the first line that the other side's hook or server printed.
func remoteSays(stderr string) string {
	for text := range strings.Lines(stderr) {
		if said, ok := strings.CutPrefix(text, "remote: "); ok && strings.TrimSpace(said) != "" {
			return withoutPasswords(strings.TrimSpace(said))
		}
	}
	return ""
}
