package gitstore

import (
	"context"
	"errors"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// bringTries bounds how many connections may fail while it is found out which
// issues a remote cannot give.
const bringTries = 24

// A bringing fetches chains over few connections. One that the remote cannot
// give fails a fetch as a whole: a file of it is gone there, or git refuses
// what came. The others are fetched without it then.
type bringing struct {
	line   *line
	depth  int
	spec   func(checkpoint.Issue) string
	failed map[checkpoint.Issue]error
	came   bool // a connection did what it should
	tries  int
	until  time.Time // no more is tried then, zero for no such time
}

// some fetches issues, where that fails each half of them.
func (b *bringing) some(ctx context.Context, issues []checkpoint.Issue) error {
	specs := make([]string, len(issues))
	for n, i := range issues {
		specs[n] = b.spec(i)
	}
	start := time.Now()
	err := b.line.bring(ctx, b.depth, specs)
	switch {
	case err == nil:
		b.came = true
		return nil
	case ctx.Err() != nil:
		return err
	}
	if b.tries == 0 && b.line.timeout > 0 {
		b.until = start.Add(b.line.timeout)
	}
	b.tries++
	if len(issues) == 1 || b.enough() {
		for _, i := range issues {
			b.failed[i] = ofIssue(i, err)
		}
		return err
	}
	half := len(issues) / 2
	if err := b.some(ctx, issues[:half]); ctx.Err() != nil {
		return err
	}
	if rest := b.some(ctx, issues[half:]); rest != nil {
		return rest
	}
	return err
}

// enough reports whether it is to be left at what is known.
func (b *bringing) enough() bool {
	return b.tries >= bringTries || !b.until.IsZero() && time.Now().After(b.until)
}

// ofIssue names the issue in what a remote's connection failed of.
func ofIssue(i checkpoint.Issue, err error) error {
	var remote *RemoteError
	if !errors.As(err, &remote) {
		return err
	}
	named := *remote
	named.Reason = "issue " + string(i) + ": " + remote.Reason
	return &named
}
