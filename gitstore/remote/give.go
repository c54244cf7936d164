package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/gitcmd"

	"github.com/go-git/go-git/v5/plumbing"
)

// ErrStale says that the remote's ref is not where it was expected.
var ErrStale = errors.New("the remote moved meanwhile")

// ErrThere is that a remote had a commit at its ref before it was pushed.
var ErrThere = errors.New("the remote has it already")

// A Gift is a commit for a ref of the remote, which has to be at seen, zero
// for not there.
type Gift struct {
	Ref       string
	Tip, Seen plumbing.Hash
}

// Give pushes commits over one connection. What the remote refused is told by
// ref: ErrThere and ErrStale where somebody moved it, to the same commit or to
// another one, else an Error. The error is one of the connection.
func (l *Line) Give(ctx context.Context, dryRun bool, gifts ...Gift) (map[string]error, error) {
	args := []string{"push", "--porcelain", "--no-verify", "--no-tags", "--no-follow-tags", "--recurse-submodules=no"}
	if dryRun {
		args = append(args, "--dry-run")
	}
	specs := []string{"--", l.Remote}
	for _, g := range gifts {
		expected := ""
		if !g.Seen.IsZero() {
			expected = g.Seen.String()
		}
		args = append(args, "--force-with-lease="+g.Ref+":"+expected)
		specs = append(specs, g.Tip.String()+":"+g.Ref)
	}
	out, err := l.run(ctx, slices.Concat(l.noMirror(), args, specs)...)
	reports := pushReports(out)
	refused, answered, said := map[string]error{}, false, saidWith(err)
	for _, g := range gifts {
		switch r, ok := reports[g.Ref]; {
		case ok && r.flag == '!' && slices.Contains(staleReasons, r.reason):
			refused[g.Ref] = fmt.Errorf("%w: %s", ErrStale, r.reason)
			answered = true
		case ok && r.flag == '!':
			refused[g.Ref] = l.Refused(g.Ref, r.reason+said, err)
			answered, said = true, "" // it stands for all of them, and is said once
		case ok && r.flag == '=':
			refused[g.Ref] = ErrThere
			answered = true
		case ok:
			answered = true
		case err != nil: // nobody knows what became of it
			refused[g.Ref] = err
		}
	}
	if answered {
		return refused, nil
	}
	return nil, err
}

// noMirror are the flags for a remote that a push mirrors to: it takes no
// single ref then.
func (l *Line) noMirror() []string {
	key := "remote." + l.Remote + ".mirror"
	if on, _ := gitcmd.Last(l.here.Config, key); !gitcmd.Bool(on) {
		return nil
	}
	return []string{"-c", key + "=false"}
}

// saidWith is what the other side said of a push, to stand behind a reason.
func saidWith(err error) string {
	if git, ok := errors.AsType[*gitcmd.Error](err); ok {
		if said := remoteSays(git.Stderr); said != "" {
			return ": " + said
		}
	}
	return ""
}

// Refused is the error of a remote that answered, and did not take a ref.
func (l *Line) Refused(ref, reason string, err error) *Error {
	failed := l.Fail("refused "+ref+": "+reason, err)
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
