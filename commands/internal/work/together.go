package work

import (
	"errors"
	"slices"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// The first round has firstRound issues. If it takes less than quickRound, each later round has
// maxRound issues: their chains stay in memory.
const (
	firstRound = 1_000
	maxRound   = 10_000
	quickRound = 10 * time.Second
)

// smallRound is the number of issues whose refs move together after the transaction of a larger
// round has failed, for example because another process has locked an issue.
const smallRound = 100

// Together calls do for issues, and moves the refs of each round of issues in one transaction. If the
// transaction fails, do runs again for its issues. verb begins the message in the reflogs. Together
// returns the error of each issue that failed. All rounds are one operation for undo. If the command is cancelled, later issues fail.
func Together(c *invoke.Invocation, verb string, issues []checkpoint.Issue, do func(checkpoint.Issue) error) map[checkpoint.Issue]error {
	errs := map[checkpoint.Issue]error{}
	_ = c.Store.Operate(c.Ctx, "prune", "", func() error {
		together(c, verb, issues, errs, do)
		return nil
	})
	return errs
}

// together is Together in one operation. It adds the errors to errs.
func together(c *invoke.Invocation, verb string, issues []checkpoint.Issue, errs map[checkpoint.Issue]error, do func(checkpoint.Issue) error) {
	for size := firstRound; len(issues) > 0 && c.Ctx.Err() == nil; {
		n, start := min(size, len(issues)), time.Now()
		if !inOneMove(c, verb, issues[:n], errs, do) {
			for some := range slices.Chunk(issues[:n], smallRound) {
				if n > smallRound && inOneMove(c, verb, some, errs, do) {
					continue
				}
				for _, i := range some {
					errs[i] = do(i)
				}
			}
		}
		issues = issues[n:]
		if time.Since(start) < quickRound {
			size = maxRound
		}
	}
	for _, i := range issues {
		errs[i] = c.Ctx.Err()
	}
}

// inOneMove calls do for issues and moves their refs in one transaction. It reports whether the refs
// have moved. For a single issue it does nothing, since the message of do names the checkpoints.
func inOneMove(c *invoke.Invocation, verb string, issues []checkpoint.Issue, errs map[checkpoint.Issue]error, do func(checkpoint.Issue) error) bool {
	if len(issues) < 2 {
		return false
	}
	err := c.Store.Together(c.Ctx, verb+": "+view.Plural(len(issues), "issue"), issues, func() {
		for _, i := range issues {
			if errs[i] = c.Ctx.Err(); errs[i] == nil {
				errs[i] = do(i)
			}
		}
	})
	if done := new(gitstore.DoneError); errors.As(err, &done) {
		errs[issues[0]] = err
		return true
	}
	return err == nil
}
