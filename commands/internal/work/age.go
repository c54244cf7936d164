package work

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
)

// AgingRules returns the retention rules by age: when a whole chain moves to the archive,
// and how long archived checkpoints stay. The claude and dotagent layouts have rules of
// their own, unless the user sets max_age_days or archive_days.
func AgingRules(c *invoke.Invocation) gitstore.PruneRequest {
	completed, other := c.Settings.ArchiveDays()
	req := gitstore.PruneRequest{
		MaxAge:  c.Settings.Int("max_age_days"),
		Stay:    &retention.Stay{Completed: completed, Other: other},
		Layouts: map[string]gitstore.LayoutRules{},
	}
	if c.Settings.IsDefault("max_age_days") {
		req.Layouts["claude"] = gitstore.LayoutRules{MaxAge: 7}
	}
	if c.Settings.IsDefault("archive_days") {
		req.Layouts["dotagent"] = gitstore.LayoutRules{Last: 5}
	}
	return req
}

// Age applies the rules of age to issues. Errors become warnings, so that the
// command itself still succeeds.
func Age(c *invoke.Invocation, issues ...checkpoint.Issue) {
	if c.Settings.Invalid() != nil {
		return // a missing setting may keep the chains
	}
	req := AgingRules(c)
	apply(c, req, slices.DeleteFunc(slices.Clone(issues), func(i checkpoint.Issue) bool {
		concerned, _ := concerns(c, i, req)
		return !concerned
	}))
}

// maxLines limits the lines about chains. The other chains are counted.
const maxLines = 5

// apply applies the rules of age to issues that they may concern. A dry run comes first: if it fails
// or removes no checkpoint, the chain is not written. The command that follows reports an unreadable
// chain.
func apply(c *invoke.Invocation, req gitstore.PruneRequest, issues []checkpoint.Issue) {
	done := map[checkpoint.Issue]*gitstore.Pruned{}
	for _, i := range issues {
		req := req
		req.Issue, req.DryRun = i, true
		plan, err := c.Store.Prune(c.Ctx, req)
		switch {
		case err != nil:
			plan = &gitstore.Pruned{}
		case len(plan.Removed)+len(plan.Expired) == 0:
			plan = &gitstore.Pruned{Doubts: plan.Doubts}
		}
		done[i] = plan
	}
	planned := func(i checkpoint.Issue) *gitstore.Pruned { return done[i] }
	tell(c, issues, done, PruneTogether(c, req, planned, issues, func(i checkpoint.Issue, p *gitstore.Pruned) { done[i] = p }))
}

// PruneTogether applies the plans of issues: one transaction archives whole chains, and another one
// removes single checkpoints. It calls pruned with the result of each issue, possibly twice. If a chain
// has changed since its plan, it stays as it is, and PruneTogether returns an error for the issue.
func PruneTogether(
	c *invoke.Invocation, req gitstore.PruneRequest, planned func(checkpoint.Issue) *gitstore.Pruned, issues []checkpoint.Issue,
	pruned func(checkpoint.Issue, *gitstore.Pruned),
) map[checkpoint.Issue]error {
	byVerb, plans := map[string][]checkpoint.Issue{}, map[checkpoint.Issue]string{}
	for _, i := range issues {
		p := planned(i)
		verb := "prune"
		if p.Archived {
			verb = "archive"
		}
		if len(p.Removed)+len(p.Expired) > 0 && plans[i] == "" {
			byVerb[verb], plans[i] = append(byVerb[verb], i), p.Plan
		}
	}
	errs := map[checkpoint.Issue]error{}
	for _, verb := range []string{"archive", "prune"} {
		maps.Copy(errs, Together(c, verb, byVerb[verb], func(i checkpoint.Issue) error {
			req := req
			req.Issue, req.Plan, req.DryRun = i, plans[i], false
			done, err := c.Store.Prune(c.Ctx, req)
			if err == nil {
				pruned(i, done)
			}
			return err
		}))
	}
	return errs
}

// tell prints the results of the rules of age.
func tell(c *invoke.Invocation, issues []checkpoint.Issue, pruned map[checkpoint.Issue]*gitstore.Pruned, errs map[checkpoint.Issue]error) {
	var lines []string
	doubted := 0
	for _, i := range issues {
		done, err := pruned[i], errs[i]
		if err == nil && len(done.Doubts) > 0 {
			doubted++
			if doubted <= maxLines {
				c.WarnAlways("issue %s: %s", i, done.Doubts[0])
			}
		}
		var refused *gitstore.RefusedError
		switch {
		case errors.As(err, &refused): // a truncated chain, as in a shallow clone
		case err != nil:
			c.Warnf("age limits: issue %s: %v", i, err)
		case done.Archived:
			lines = append(lines, fmt.Sprintf("issue %s: %s; git checkpoint undo %s restores them", i, done.Decisions[0].Rule, view.IssueArg(i)))
		case len(done.Expired) > 0:
			lines = append(lines, fmt.Sprintf("issue %s: %s expired; git checkpoint undo %s restores them", i, view.Plural(len(done.Expired), "archived checkpoint"), view.IssueArg(i)))
		}
	}
	if more := doubted - maxLines; more > 0 {
		c.WarnAlways("the age of %s more is in doubt, because a clock was wrong", view.Plural(more, "issue"))
	}
	for _, line := range lines[:min(len(lines), maxLines)] {
		c.Infof("%s", line)
	}
	if more := len(lines) - maxLines; more > 0 {
		c.Infof("the age limits changed %s more", view.Plural(more, "issue"))
	}
}

// concerns reports whether a rule of age may concern an issue: it has an archive, or its
// newest checkpoint is too old. Otherwise it returns a time before which the chain is not
// too old, or the zero time if there is no limit.
func concerns(c *invoke.Invocation, i checkpoint.Issue, req gitstore.PruneRequest) (bool, time.Time) {
	if c.Store.HasArchive(c.Ctx, i) {
		return true, time.Time{}
	}
	newest, err := c.Store.Newest(c.Ctx, i)
	if err != nil {
		return false, time.Time{}
	}
	days := req.MaxAge
	for _, l := range req.Layouts {
		if l.MaxAge > 0 && (days <= 0 || l.MaxAge < days) {
			days = l.MaxAge
		}
	}
	now := c.Env.Now()
	if retention.Older(newest.Saved, days, now) && days != req.MaxAge { // the limit of a layout
		days = req.MaxAge
		if r, err := c.Store.Record(newest); err == nil && req.Layouts[r.Layout()].MaxAge > 0 {
			days = req.Layouts[r.Layout()].MaxAge
		}
	}
	if days <= 0 {
		return false, time.Time{}
	}
	return retention.Older(newest.Saved, days, now), newest.Saved.UTC().Truncate(time.Second).AddDate(0, 0, days)
}

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
