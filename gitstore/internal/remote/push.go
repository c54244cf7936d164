package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/internal/git"

	"github.com/go-git/go-git/v5/plumbing"
)

// ErrStale reports that a remote ref differs from the expected value.
var ErrStale = errors.New("the remote moved meanwhile")

// ErrUpToDate reports that the remote ref had the commit before the push.
var ErrUpToDate = errors.New("the remote has it already")

// A RefUpdate pushes Tip to Ref if the remote ref is at Seen. A zero Seen means
// that the ref must not exist.
type RefUpdate struct {
	Ref       string
	Tip, Seen plumbing.Hash
}

// Push pushes commits. If the remote refuses refs, it lists them again. It returns an
// error for each ref that was not pushed: ErrUpToDate if the remote has the same commit,
// ErrStale if it has another commit than expected, otherwise an *Error with the server's
// reason. The second result reports a failed connection.
func (l *Conn) Push(ctx context.Context, dryRun bool, updates ...RefUpdate) (map[string]error, error) {
	outcome, refusals, err := l.push(ctx, dryRun, updates)
	if err != nil {
		return nil, err
	}
	l.resolve(ctx, dryRun, refusals, outcome)
	return outcome, nil
}

// push runs one git push. It returns errors of refs that were not pushed, and separately
// refusals that leave the remote value unknown.
func (l *Conn) push(ctx context.Context, dryRun bool, updates []RefUpdate) (outcome map[string]error, refusals []refusal, err error) {
	out, err := l.run(ctx, l.pushArgs(dryRun, updates)...)
	reports := pushReports(out)
	outcome = map[string]error{}
	answered, said := false, saidWith(err)
	for _, g := range updates {
		r, ok := reports[g.Ref]
		switch {
		case !ok && err != nil: // result of this ref is unknown
			outcome[g.Ref] = err
		case !ok || r.flag != '!' && r.flag != '=':
		case r.flag == '=':
			outcome[g.Ref] = ErrUpToDate
		case r.leaseFailed():
			outcome[g.Ref] = fmt.Errorf("%w: %s", ErrStale, r.reason)
		default:
			refusals = append(refusals, refusal{g, r.reason, l.Refused(g.Ref, r.reason+said, err)})
			said = "" // one text for all refs, added once
		}
		answered = answered || ok
	}
	if !answered {
		return nil, nil, err
	}
	return outcome, refusals, nil
}

// pushArgs returns arguments of git push, with a lease for each ref.
func (l *Conn) pushArgs(dryRun bool, updates []RefUpdate) []string {
	args := []string{"push", "--porcelain", "--no-verify", "--no-tags", "--no-follow-tags", "--recurse-submodules=no"}
	if dryRun {
		args = append(args, "--dry-run")
	}
	specs := []string{"--", l.Remote}
	for _, g := range updates {
		expected := ""
		if !g.Seen.IsZero() {
			expected = g.Seen.String()
		}
		args = append(args, "--force-with-lease="+g.Ref+":"+expected)
		specs = append(specs, g.Tip.String()+":"+g.Ref)
	}
	return slices.Concat(l.noMirror(), args, specs)
}

// noMirror returns flags that disable mirror mode, because a mirror push rejects single
// refspecs.
func (l *Conn) noMirror() []string {
	key := "remote." + l.Remote + ".mirror"
	if on, _ := git.Last(l.here.Config, key); !git.Bool(on) {
		return nil
	}
	return []string{"-c", key + "=false"}
}

// saidWith returns the remote's output of a failed push, as a suffix for a reason.
func saidWith(err error) string {
	if failed, ok := errors.AsType[*git.CommandError](err); ok {
		if said := remoteSays(failed.Stderr); said != "" {
			return ": " + said
		}
	}
	return ""
}

// Refused returns an error for a ref rejected by the remote.
func (l *Conn) Refused(ref, reason string, err error) *Error {
	failed := l.Fail("refused "+ref+": "+reason, err)
	failed.Refused = true
	return failed
}

// A pushReport is the push result of one ref.
type pushReport struct {
	flag   byte // '!' for a rejected ref, '=' for an up-to-date ref
	remote bool // rejected by the remote, not by local git
	reason string
}

// leaseFailed reports whether git found another remote value than expected before the
// push.
func (r pushReport) leaseFailed() bool {
	return r.flag == '!' && !r.remote && r.reason == "stale info"
}

// pushReports parses git push --porcelain and returns reports by remote ref. Lines have
// the form "<flag> TAB <from>:<to> TAB <summary> (<reason>)".
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
		summary, reason, _ := strings.Cut(fields[2], " (")
		reports[ref] = pushReport{fields[0][0], strings.HasPrefix(summary, "[remote "), strings.TrimSuffix(reason, ")")}
	}
	return reports
}
