package work

import (
	"os"
	"strings"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// interval is the maximum time between two automatic runs. Earlier runs take place when a
// chain becomes too old.
const interval = 24 * time.Hour

// dueNote has the time of the next automatic run.
const dueNote = "cache/next-aging"

// AgeAutomatically applies the rules of age to the chains of this clone, if a run is due. It skips
// chains that another clone may have, because their newest checkpoint may be there: sync
// applies the rules to them. The next run is due in 24 hours, or earlier if a chain becomes
// too old before.
func AgeAutomatically(c *invoke.Invocation) {
	if c.Settings.Invalid() != nil {
		return // a missing setting may keep the chains
	}
	now := c.Env.Now()
	if !isDue(c.Store.Notes.Path(dueNote), now) {
		return
	}
	req, next := AgingRules(c), now.Add(interval)
	req.Unshared = true
	// The time is written first, so that other commands, and those after a kill, do not
	// repeat the run.
	if setDue(c, next) != nil {
		return // for example a repository that belongs to another user
	}
	_ = c.Store.Files.SweepContent(c.Ctx, nil) // repeated by a later run
	gitstore.RemoveLeftTemporaries()
	defer c.Store.CacheRefs(c.Ctx)()
	issues, _, err := c.Store.Issues(c.Ctx, false)
	if err != nil {
		return // the next command that reads the chains reports it
	}
	var old []checkpoint.Issue
	for _, i := range issues {
		concerned, later := concerns(c, i, req)
		if concerned {
			old = append(old, i)
		} else if !later.IsZero() && later.Before(next) {
			next = later
		}
	}
	apply(c, req, old)
	if next.Before(now.Add(interval)) {
		_ = setDue(c, next) // otherwise the run takes place a day later
	}
}

// isAgingDue reports whether a run is due, and auto_prune is on.
func isAgingDue(c *invoke.Invocation) bool {
	return c.Settings.Bool("auto_prune") && isDue(c.Store.Notes.Path(dueNote), c.Env.Now())
}

// isDue reports whether the time in a file has passed. A missing file, an invalid time and
// a time that is too far in the future, because a clock was wrong, are due.
func isDue(file string, now time.Time) bool {
	data, err := os.ReadFile(file)
	next, parseErr := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(data)))
	return err != nil || parseErr != nil || now.After(next) || next.After(now.Add(interval))
}

func setDue(c *invoke.Invocation, next time.Time) error {
	return c.Store.Notes.Write(dueNote, []byte(next.UTC().Format(time.RFC3339Nano)+"\n"))
}
