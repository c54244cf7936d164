package gitstore

import (
	"context"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/remote"
)

// A giving is what a remote gets of one issue.
type giving struct {
	issue checkpoint.Issue
	gifts []remote.Gift
}

// pushBytes bounds the arguments of one push, in which its refs stand.
const pushBytes = 100_000

// together is how many givings go over one connection, one at least.
func together(list []giving) int {
	size := 0
	for n, g := range list {
		for _, one := range g.gifts {
			size += 2*len(one.Ref) + 160
		}
		if size > pushBytes && n > 0 {
			return n
		}
	}
	return len(list)
}

// A judge asks whether what goes to a remote may be shown to it.
type judge struct {
	s      *Store
	remote string

	may      func(checkpoint.Issue, Outgoing) error // nil for yes
	harmless func(Outgoing) bool                    // may says nothing of it; nil for never
}

// A heldError is why an issue may not be shown.
type heldError struct{ error }

func (e *heldError) Unwrap() error { return e.error }

// outcomes are why issues did not get where they should, nil for those that
// did.
type outcomes map[checkpoint.Issue]error

// ask asks about givings, and notes which are refused.
func (j *judge) ask(ctx context.Context, list []giving, refused outcomes) {
	if j.may != nil && len(list) > 0 {
		j.askBeside(ctx, list, j.s.Fetched(ctx), refused)
	}
}

// askBeside looks at all issues together, at the halves where there is
// something to say, and at single ones to say it.
func (j *judge) askBeside(ctx context.Context, list []giving, fetched Exposed, refused outcomes) {
	var gifts []remote.Gift
	for _, g := range list {
		gifts = append(gifts, g.gifts...)
	}
	out, err := j.s.here().Showing(ctx, j.remote, fetched, gifts...)
	switch half := len(list) / 2; {
	case err != nil:
		for _, g := range list {
			refused[g.issue] = err
		}
	case half == 0:
		if err := j.may(list[0].issue, out); err != nil {
			refused[list[0].issue] = &heldError{err}
		}
	case j.harmless == nil || !j.harmless(out):
		j.askBeside(ctx, list[:half], fetched, refused)
		j.askBeside(ctx, list[half:], fetched, refused)
	}
}
