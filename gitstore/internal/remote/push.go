package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"git-checkpoint/gitstore/internal/git"

	"github.com/go-git/go-git/v5/plumbing"
)

// ErrStale reports that a remote ref differs from the expected value.
var ErrStale = errors.New("the remote has changed in the meantime")

// ErrUpToDate reports that the remote ref had the commit before the push.
var ErrUpToDate = errors.New("already on the remote")

// A RefUpdate pushes Tip to Ref if the remote ref is at Seen. A zero Seen means
// that the ref must not exist.
type RefUpdate struct {
	Ref       string
	Tip, Seen plumbing.Hash
}

// Push pushes commits. If the remote refuses refs, it lists them again: if a ref has moved,
// the push lost a race. If a ref has not moved, another push may hold its lock, so the push is
// retried a few times. It returns an error for each ref that was not pushed: ErrUpToDate if the
// remote has the same commit, ErrStale if it has another commit than expected, otherwise an
// *Error with the server's reason. The second result reports a failed connection.
func (l *Conn) Push(ctx context.Context, dryRun bool, updates ...RefUpdate) (map[string]error, error) {
	outcome, refusals, err := l.push(ctx, dryRun, updates)
	if err != nil {
		return nil, err
	}
	for try := 1; len(refusals) > 0; try++ {
		again := l.unmoved(ctx, refusals, try, outcome)
		if len(again) == 0 || Pause(ctx, 50*time.Millisecond, try) != nil {
			break
		}
		updates := make([]RefUpdate, len(again))
		for n, r := range again {
			updates[n] = r.RefUpdate
			delete(outcome, r.Ref)
		}
		next, left, err := l.push(ctx, dryRun, updates)
		if err != nil { // the server's answer is more specific
			for _, r := range again {
				outcome[r.Ref] = r.err
			}
			break
		}
		maps.Copy(outcome, next)
		refusals = left
	}
	return outcome, nil
}

// PushAtomic pushes commits like Push, but moves all refs or no ref. All failed refs have
// an error: ErrStale if one of the refs is stale. ok is false if the server does not
// support atomic pushes; then it changed nothing.
func (l *Conn) PushAtomic(ctx context.Context, dryRun bool, updates ...RefUpdate) (outcome map[string]error, ok bool, err error) {
	for try := 1; ; try++ {
		outcome, refusals, err := l.push(ctx, dryRun, updates, "--atomic")
		if err != nil {
			failed, isGit := errors.AsType[*git.CommandError](err)
			return nil, !isGit || !strings.Contains(failed.Stderr, "does not support --atomic push"), err
		}
		again := l.unmoved(ctx, refusals, try, outcome)
		var stale error
		for _, err := range outcome {
			if errors.Is(err, ErrStale) {
				stale = err
			}
		}
		if stale != nil {
			for ref, err := range outcome {
				if !errors.Is(err, ErrUpToDate) {
					outcome[ref] = stale
				}
			}
			return outcome, true, nil
		}
		if len(again) == 0 || Pause(ctx, 50*time.Millisecond, try) != nil {
			return outcome, true, nil
		}
	}
}

// fewUpdates is the number of ref updates up to which one git push gets a lease for each.
// Git compares each lease and each refspec with each ref.
const fewUpdates = 8

// leasesAtOnce limits the leases of one git push.
const leasesAtOnce = 100

// push pushes updates. It returns errors of refs that were not pushed, and separately
// refusals that leave the remote value unknown. Any number of updates that extend the known
// value of their refs takes one git push. The error means that no push was answered.
func (l *Conn) push(ctx context.Context, dryRun bool, updates []RefUpdate, flags ...string) (outcome map[string]error, refusals []refusal, err error) {
	if len(updates) <= fewUpdates || len(flags) > 0 {
		return l.pushLeased(ctx, dryRun, updates, flags...)
	}
	extending := map[string][]RefUpdate{}
	var others []RefUpdate
	for _, g := range updates {
		if l.here.extends(g) {
			extending[path.Dir(g.Ref)] = append(extending[path.Dir(g.Ref)], g)
		} else {
			others = append(others, g)
		}
	}
	outcome, answered := map[string]error{}, false
	add := func(some []RefUpdate, said map[string]error, left []refusal, failed error) {
		if err = failed; failed != nil {
			for _, g := range some {
				outcome[g.Ref] = failed
			}
			return
		}
		answered, refusals = true, append(refusals, left...)
		maps.Copy(outcome, said)
	}
	for _, dir := range slices.Sorted(maps.Keys(extending)) {
		some := extending[dir]
		source, err := l.here.pushSource(some)
		if err != nil {
			others = append(others, some...)
			continue
		}
		// Git itself refuses an update that does not extend the current value of the remote ref,
		// so no lease is necessary.
		from := *l
		from.git = l.git.With("GIT_DIR=" + source)
		from.git.Dir = cmp.Or(l.here.Root, l.git.Dir) // git does not search for the worktree
		said, left, failed := from.pushOnce(ctx, dryRun, some, nil, []string{pushRefs + "*:" + dir + "/*"})
		_ = os.RemoveAll(source)
		add(some, said, left, failed)
	}
	for some := range slices.Chunk(others, leasesAtOnce) {
		said, left, failed := l.pushLeased(ctx, dryRun, some)
		add(some, said, left, failed)
	}
	if !answered {
		return nil, nil, err
	}
	return outcome, refusals, nil
}

// extends reports whether the tip of an update is a new commit on the known value of its ref.
func (h Here) extends(g RefUpdate) bool {
	if g.Seen.IsZero() {
		return true
	}
	_, met, err := h.down(g.Tip, g.Seen)
	return met && err == nil
}

// pushLeased pushes updates with a lease for each.
func (l *Conn) pushLeased(ctx context.Context, dryRun bool, updates []RefUpdate, flags ...string) (outcome map[string]error, refusals []refusal, err error) {
	var specs []string
	for _, g := range updates {
		expected := ""
		if !g.Seen.IsZero() {
			expected = g.Seen.String()
		}
		flags = append(flags, "--force-with-lease="+g.Ref+":"+expected)
		specs = append(specs, g.Tip.String()+":"+g.Ref)
	}
	return l.pushOnce(ctx, dryRun, updates, flags, specs)
}

// pushOnce runs git push with refspecs that contain updates.
func (l *Conn) pushOnce(ctx context.Context, dryRun bool, updates []RefUpdate, flags, specs []string) (outcome map[string]error, refusals []refusal, err error) {
	settings, name := l.destination()
	args := []string{"push", "--porcelain", "--no-verify", "--no-tags", "--no-follow-tags", "--recurse-submodules=no"}
	if dryRun {
		args = append(args, "--dry-run")
	}
	out, err := l.run(ctx, nil, slices.Concat(settings, args, flags, []string{"--", name}, specs)...)
	reports := pushReports(out)
	outcome = map[string]error{}
	answered, said := false, ""
	if failed, ok := errors.AsType[*git.CommandError](err); ok {
		if said = remoteSays(failed.Stderr); said != "" {
			said = ": " + said
		}
	}
	for _, g := range updates {
		r, ok := reports[g.Ref]
		switch {
		case !ok && err != nil: // result of this ref is unknown
			outcome[g.Ref] = err
		case !ok || r.flag != '!' && r.flag != '=':
		case r.flag == '=':
			outcome[g.Ref] = ErrUpToDate
		case r.isStale():
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

// isStale reports whether git found another remote value than expected before the push: the
// lease failed, or the pushed commit does not contain the value.
func (r pushReport) isStale() bool {
	return r.flag == '!' && !r.remote && slices.Contains([]string{"stale info", "non-fast-forward", "fetch first", "needs force"}, r.reason)
}

// pushReports parses git push --porcelain and returns reports by remote ref. Lines have
// the form "<flag> TAB <from>:<to> TAB <summary> (<reason>)". If git pushed to several
// URLs, the first rejection of a ref counts.
func pushReports(out []byte) map[string]pushReport {
	reports := map[string]pushReport{}
	for text := range strings.Lines(string(out)) {
		fields := strings.SplitN(strings.TrimSuffix(text, "\n"), "\t", 3)
		if len(fields) < 3 || len(fields[0]) != 1 {
			continue
		}
		_, ref, ok := strings.Cut(fields[1], ":")
		if !ok || reports[ref].flag == '!' {
			continue
		}
		summary, reason, _ := strings.Cut(fields[2], " (")
		reports[ref] = pushReport{fields[0][0], strings.HasPrefix(summary, "[remote "), Shortened(strings.TrimSuffix(reason, ")"), maxSaid)}
	}
	return reports
}

// A refusal is a ref rejected by the remote. Its reason does not show whether another
// push moved the ref, because servers and git versions use different texts.
type refusal struct {
	RefUpdate
	reason string
	err    *Error
}

// unmoved lists rejected refs at the remote and adds their results. It returns unmoved
// refs for another try; their result is the server's refusal until a retry changes it.
func (l *Conn) unmoved(ctx context.Context, refusals []refusal, try int, outcome map[string]error) (again []refusal) {
	names := make([]string, len(refusals))
	for n, r := range refusals {
		names[n] = r.Ref
	}
	tips, err := l.Tips(ctx, names...)
	for _, r := range refusals {
		tip := tips[r.Ref]
		switch {
		case err == nil && tip == r.Tip:
			outcome[r.Ref] = ErrUpToDate
		case err == nil && tip != r.Seen:
			outcome[r.Ref] = fmt.Errorf("%w: %s", ErrStale, r.reason)
		default:
			outcome[r.Ref] = r.err
			if err == nil && try < r.tries() {
				again = append(again, r)
			}
		}
	}
	return again
}

// tries returns the maximum number of pushes for an unmoved ref. The server's text
// affects only this number.
func (r refusal) tries() int {
	reason := strings.ToLower(r.reason)
	has := func(words ...string) bool {
		for _, word := range words {
			if strings.Contains(reason, word) {
				return true
			}
		}
		return false
	}
	switch {
	case has("declined", "deny", "denied", "prohibited", "permission", "unpack"):
		return 1 // a permanent rule
	case has("lock", "failed to update"):
		return 6 // a concurrent push, which ends soon
	}
	return 3
}

// Pause waits before a retry. The delay is random, so that clones do not retry at the same
// time, and grows from about first to about two seconds.
func Pause(ctx context.Context, first time.Duration, retries int) error {
	longest := min(2*time.Second, first<<min(retries, 10))
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(longest/4 + rand.N(longest)):
		return nil
	}
}

// Reason returns the cause of a failed git connection in one line, without passwords.
func Reason(err error) string {
	var failed *git.CommandError
	if errors.As(err, &failed) && failed.Stderr != "" {
		return explain(failed.Stderr)
	}
	return err.Error()
}

// explain returns the cause in git's standard error, shortened for a message.
func explain(stderr string) string { return Shortened(cause(stderr), maxSaid) }

// cause returns the line of git's standard error that names the cause. Git and servers
// mark their errors. The errors of ssh are unmarked, and may follow a banner of the server:
// the last of them comes directly before git's general error.
func cause(stderr string) string {
	first, last := "", ""
	for text := range strings.Lines(stderr) {
		for part := range strings.SplitSeq(text, "\r") {
			said, marked := message(part)
			// A general error only means that the connection has ended, or that a helper or hook has failed.
			isGeneral := strings.HasPrefix(said, "Could not read from remote repository") || strings.HasPrefix(said, "the remote end hung up") ||
				strings.HasPrefix(said, "remote helper '") && strings.HasSuffix(said, "' aborted session") ||
				strings.Contains(said, "aborted by the reference-transaction hook") || strings.HasPrefix(said, "ref updates aborted by hook")
			switch {
			case said == "", isAside(part):
			case marked && isGeneral:
				return cmp.Or(last, said)
			case marked, strings.HasPrefix(part, "remote:"):
				return said
			default:
				first, last = cmp.Or(first, said), said
			}
		}
	}
	return cmp.Or(first, "git printed no error")
}

// isAside reports whether a line of git's standard error never names the cause. OpenSSH
// begins advice about the connection with "**".
func isAside(line string) bool {
	line = strings.TrimSpace(line)
	for _, prefix := range []string{
		"Warning:", "WARNING:", "warning:", "hint:", "**", "Pseudo-terminal will not", "Disconnected from ", "From ", "To ",
		"Connection closed by ", "Connection to ", "kex_exchange_identification: Connection closed",
	} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}

// maxSaid limits a reason, in bytes.
const maxSaid = 300

// Shortened returns the start of a text, and "..." if it has more than limit bytes.
func Shortened(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "..."
}

// remoteSays returns the reason printed by the remote hook or server: lines marked as
// errors, otherwise the first line. Frames and progress are removed.
func remoteSays(stderr string) string {
	first, reason := "", ""
	for text := range strings.Lines(stderr) {
		for part := range strings.SplitSeq(text, "\r") {
			if !strings.HasPrefix(part, "remote:") {
				continue
			}
			said, marked := message(part)
			if first == "" {
				first = said
			}
			goesOn := marked || strings.HasSuffix(reason, ":")
			if goesOn && said != "" && len(reason)+len(said) < maxSaid {
				reason = sentence(reason, said)
			}
		}
	}
	if reason != "" {
		return reason
	}
	return Shortened(first, maxSaid)
}

// sentence appends a line to a text.
func sentence(text, line string) string {
	switch {
	case text == "":
		return line
	case strings.ContainsAny(text[len(text)-1:], ".:!?"):
		return text + " " + line
	}
	return text + "; " + line
}

// Compiled on first use, because most processes need neither.
var (
	// escapes matches terminal escape sequences.
	escapes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]") })
	// progress matches progress lines, running or completed.
	progress = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\d% \(\d+/\d+\)|: +\d+%$|, done\.?$|^[A-Z][a-z ]+\.\.\.( done)?( \([^()]*\))*$`)
	})
)

// repeated is the start of git's own line about a hook, which only repeats the reason.
const repeated = "error: hook declined to update "

// message returns a line of git's standard error without prefixes, and reports whether a
// prefix marks an error. It returns "" for frames and progress.
func message(line string) (text string, marked bool) {
	line = strings.TrimSpace(escapes().ReplaceAllString(line, ""))
	text = strings.TrimSpace(strings.TrimPrefix(line, "remote:"))
	if text != line && (progress().MatchString(text) || strings.HasPrefix(text, repeated)) || strings.Trim(text, "=-*#+~_|/\\ ") == "" {
		return "", false
	}
	for _, prefix := range []string{"fatal:", "error:"} {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			return git.WithoutCredentials(strings.TrimSpace(rest)), true
		}
	}
	return git.WithoutCredentials(text), strings.HasPrefix(text, "ERROR:") || strings.HasPrefix(text, "FATAL:")
}
