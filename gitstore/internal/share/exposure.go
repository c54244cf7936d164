package share

import (
	"context"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/remote"
)

// An issuePush holds a push's ref updates for one issue.
type issuePush struct {
	issue   checkpoint.Issue
	updates []remote.RefUpdate
}

// pushBytes limits the size of one push command's arguments, which contain the refs.
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

// An exposureCheck decides if a push may expose commits to a remote.
type exposureCheck struct {
	s      *Sharer
	remote string

	may      func(checkpoint.Issue, chain.Outgoing) error // nil allows every push
	harmless func(chain.Outgoing) bool                    // reports that may needs no call; nil for never
}

// A blockedError is the reason why an issue must not be pushed.
type blockedError struct{ error }

func (e *blockedError) Unwrap() error { return e.error }

// errorsByIssue maps issues to the errors of their push, nil for success.
type errorsByIssue map[checkpoint.Issue]error

// check checks pushes, and adds the errors of refused pushes to refused.
func (j *exposureCheck) check(ctx context.Context, list []issuePush, refused errorsByIssue) {
	if j.may != nil && len(list) > 0 {
		j.checkTogether(ctx, list, j.s.Fetched(ctx), refused)
	}
}

// checkTogether checks all issues together. If the result is not harmless, it checks each
// half, down to single issues.
func (j *exposureCheck) checkTogether(ctx context.Context, list []issuePush, fetched chain.Exposed, refused errorsByIssue) {
	var updates []remote.RefUpdate
	for _, g := range list {
		updates = append(updates, g.updates...)
	}
	out, err := j.s.Here().Showing(ctx, j.remote, fetched, updates...)
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
