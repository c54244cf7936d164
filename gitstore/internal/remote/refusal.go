package remote

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// A refusal is a ref rejected by the remote. Its reason does not show whether another
// push moved the ref, because servers and git versions use different texts.
type refusal struct {
	RefUpdate
	reason string
	err    *Error
}

// resolve adds results of rejected refs. It lists these refs at the remote: if a ref has
// moved, the push lost a race. If a ref has not moved, another push may hold its lock, so
// the push is retried a few times. After the last retry, the result is the server's
// reason.
func (l *Conn) resolve(ctx context.Context, dryRun bool, refusals []refusal, outcome map[string]error) {
	for try := 1; len(refusals) > 0; try++ {
		again := l.unmoved(ctx, refusals, try, outcome)
		if len(again) == 0 || Pause(ctx, 50*time.Millisecond, try) != nil {
			return
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
			return
		}
		for ref, err := range next {
			outcome[ref] = err
		}
		refusals = left
	}
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
