package remote

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// A refusal is a ref that the remote did not take. Its reason does not show
// whether another push moved the ref: servers and versions of git word that
// differently.
type refusal struct {
	RefUpdate
	reason string
	err    *Error
}

// resolve adds the outcome of refused refs. It lists these refs at the remote: a
// ref that is not at the expected value any more has lost a race. A ref that is
// still there may be locked by another push, so it is pushed again a few times;
// then the server's reason is its error.
func (l *Conn) resolve(ctx context.Context, dryRun bool, refusals []refusal, outcome map[string]error) {
	for try := 1; len(refusals) > 0; try++ {
		again := l.unmoved(ctx, refusals, try, outcome)
		if len(again) == 0 || !wait(ctx, try) {
			return
		}
		updates := make([]RefUpdate, len(again))
		for n, r := range again {
			updates[n] = r.RefUpdate
			delete(outcome, r.Ref)
		}
		next, left, err := l.push(ctx, dryRun, updates)
		if err != nil { // the server's answer says more
			for _, r := range again {
				outcome[r.Ref] = r.err
			}
			return
		}
		for ref, err := range next {
			outcome[ref] = err
		}
		refusals = left
	}
}

// unmoved lists refused refs at the remote and adds their outcome. It returns the
// refs to push again: these are at the expected value. Their outcome is the
// server's refusal, until another try changes it.
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

// tries is how often an unmoved ref is pushed. The server's words decide nothing
// else.
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
		return 1 // a rule, which stays as it is
	case has("lock", "failed to update"):
		return 6 // another push, which ends soon
	}
	return 3
}

// wait pauses before another try, and reports false if ctx ended meanwhile.
func wait(ctx context.Context, try int) bool {
	longest := min(2*time.Second, 50*time.Millisecond<<min(try, 10))
	select {
	case <-ctx.Done():
		return false
	case <-time.After(longest/4 + rand.N(longest)):
		return true
	}
}
