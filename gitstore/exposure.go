package gitstore

import (
	"context"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/remote"
)

// An issuePush holds the updates that a push sends for one issue.
type issuePush struct {
	issue   checkpoint.Issue
	updates []remote.RefUpdate
}

// pushBytes bounds the arguments of one push, in which its refs stand.
const pushBytes = 100_000

// countForOnePush returns how many of the pushes fit in one command, at least one.
func countForOnePush(list []issuePush) int {
	size := 0
	for n, g := range list {
		for _, one := range g.updates {
			size += 2*len(one.Ref) + 160
		}
		if size > pushBytes && n > 0 {
			return n
		}
	}
	return len(list)
}

// An exposureCheck checks if the commits of a push may be exposed to a remote.
type exposureCheck struct {
	s      *Store
	remote string

	may      func(checkpoint.Issue, Outgoing) error // nil for yes
	harmless func(Outgoing) bool                    // may says nothing of it; nil for never
}

// A blockedError is the reason why an issue must not be pushed.
type blockedError struct{ error }

func (e *blockedError) Unwrap() error { return e.error }

// errorsByIssue maps issues to the errors of their push, nil for success.
type errorsByIssue map[checkpoint.Issue]error

// check checks pushes, and records the errors of those that are refused.
func (j *exposureCheck) check(ctx context.Context, list []issuePush, refused errorsByIssue) {
	if j.may != nil && len(list) > 0 {
		j.checkTogether(ctx, list, j.s.Fetched(ctx), refused)
	}
}

// checkTogether looks at all issues together, at the halves where there is
// something to say, and at single ones to say it.
func (j *exposureCheck) checkTogether(ctx context.Context, list []issuePush, fetched Exposed, refused errorsByIssue) {
	var updates []remote.RefUpdate
	for _, g := range list {
		updates = append(updates, g.updates...)
	}
	out, err := j.s.here().Showing(ctx, j.remote, fetched, updates...)
	switch half := len(list) / 2; {
	case err != nil:
		for _, g := range list {
			refused[g.issue] = err
		}
	case half == 0:
		if err := j.may(list[0].issue, out); err != nil {
			refused[list[0].issue] = &blockedError{err}
		}
	case j.harmless == nil || !j.harmless(out):
		j.checkTogether(ctx, list[:half], fetched, refused)
		j.checkTogether(ctx, list[half:], fetched, refused)
	}
}
