package work

import (
	"errors"
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
	apply(c, req, slices.DeleteFunc(slices.Clone(issues), func(i checkpoint.Issue) bool { return !concerns(c, i, req) }))
}

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
	tell(c, issues, done, PruneTogether(c, req, issues, done))
}

// PruneTogether applies the plans of issues: one transaction archives whole chains, and another one
// removes single checkpoints. It replaces each plan by its result. If a chain has changed since its
// plan, it stays as it is, and PruneTogether returns an error for the issue.
func PruneTogether(c *invoke.Invocation, req gitstore.PruneRequest, issues []checkpoint.Issue, plans map[checkpoint.Issue]*gitstore.Pruned) map[checkpoint.Issue]error {
	byVerb, ids := map[string][]checkpoint.Issue{}, map[checkpoint.Issue]string{}
	for _, i := range issues {
		p, verb := plans[i], "prune"
		if p.Archived {
			verb = "archive"
		}
		if len(p.Removed)+len(p.Expired) > 0 && ids[i] == "" {
			byVerb[verb], ids[i] = append(byVerb[verb], i), p.Plan
		}
	}
	errs := map[checkpoint.Issue]error{}
	for _, verb := range []string{"archive", "prune"} {
		_ = c.Store.Operate(c.Ctx, "prune", "", func() error {
			for round := range slices.Chunk(byVerb[verb], maxRound) {
				each := func() {
					for _, i := range round {
						if errs[i] = c.Ctx.Err(); errs[i] != nil {
							continue
						}
						req := req
						req.Issue, req.Plan, req.DryRun = i, ids[i], false
						done, err := c.Store.Prune(c.Ctx, req)
						if errs[i] = err; err == nil {
							plans[i] = done
						}
					}
				}
				if len(round) == 1 {
					each() // its reflog names the checkpoints
					continue
				}
				err := c.Store.Together(c.Ctx, verb+": "+view.Plural(len(round), "issue"), round, each)
				if done := new(gitstore.DoneError); errors.As(err, &done) {
					errs[round[0]] = err
				} else if err != nil { // for example another process has locked an issue
					each()
				}
			}
			return nil
		})
	}
	return errs
}

// maxRound limits the issues whose refs move in one transaction, as their chains stay in memory.
const maxRound = 1_000

// tell prints the results of the rules of age.
func tell(c *invoke.Invocation, issues []checkpoint.Issue, pruned map[checkpoint.Issue]*gitstore.Pruned, errs map[checkpoint.Issue]error) {
	for _, i := range issues {
		done, err := pruned[i], errs[i]
		if err == nil && len(done.Doubts) > 0 {
			c.WarnAlways("issue %s: %s", i, done.Doubts[0])
		}
		var refused *gitstore.RefusedError
		switch {
		case errors.As(err, &refused): // a truncated chain, as in a shallow clone
		case err != nil:
			c.Warnf("age limits: issue %s: %v", i, err)
		case done.Archived:
			c.Infof("issue %s: %s; git checkpoint undo %s restores them", i, done.Decisions[0].Rule, view.IssueArg(i))
		case len(done.Expired) > 0:
			c.Infof("issue %s: %s expired; git checkpoint undo %s restores them", i, view.Plural(len(done.Expired), "archived checkpoint"), view.IssueArg(i))
		}
	}
}

// concerns reports whether a rule of age may concern an issue: it has an archive, or its
// newest checkpoint is too old.
func concerns(c *invoke.Invocation, i checkpoint.Issue, req gitstore.PruneRequest) bool {
	if c.Store.HasArchive(c.Ctx, i) {
		return true
	}
	newest, err := c.Store.Newest(c.Ctx, i)
	if err != nil {
		return false
	}
	isOld := func(days int) bool { return retention.Older(newest.Saved, days, c.Env.Now()) }
	for _, l := range req.Layouts {
		if !isOld(req.MaxAge) && isOld(l.MaxAge) {
			r, err := c.Store.Record(newest)
			return err == nil && isOld(req.Layouts[r.Layout()].MaxAge)
		}
	}
	return isOld(req.MaxAge)
}

// interval is the time between two automatic runs.
const interval = 24 * time.Hour

// dueNote has the time of the next automatic run.
const dueNote = "cache/next-aging"

// AgeAutomatically applies the rules of age to the chains of this clone, if a run is due. It skips
// chains that another clone may have, because their newest checkpoint may be there: sync
// applies the rules to them.
func AgeAutomatically(c *invoke.Invocation) {
	if c.Settings.Invalid() != nil {
		return // a missing setting may keep the chains
	}
	now := c.Env.Now()
	if !isDue(c.Store.Notes.Path(dueNote), now) {
		return
	}
	req := AgingRules(c)
	req.Unshared = true
	// The time is written first, so that other commands, and those after a kill, do not
	// repeat the run.
	if c.Store.Notes.Write(dueNote, []byte(now.Add(interval).UTC().Format(time.RFC3339Nano)+"\n")) != nil {
		return // for example a repository that belongs to another user
	}
	_ = c.Store.Files.SweepContent(c.Ctx, nil) // repeated by a later run
	gitstore.RemoveLeftTemporaries()
	defer c.Store.CacheRefs(c.Ctx)()
	issues, _, err := c.Store.Issues(c.Ctx, false)
	if err != nil {
		return // the next command that reads the chains reports it
	}
	apply(c, req, slices.DeleteFunc(issues, func(i checkpoint.Issue) bool { return !concerns(c, i, req) }))
}

// isDue reports whether the time in a file has passed. A missing file, an invalid time and
// a time that is too far in the future, because a clock was wrong, are due.
func isDue(file string, now time.Time) bool {
	data, err := os.ReadFile(file)
	next, parseErr := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(data)))
	return err != nil || parseErr != nil || now.After(next) || next.After(now.Add(interval))
}

// Maintain lets git pack loose objects after a save, and applies the rules of age to all issues
// if that is due and the save applies retention. A failure to pack objects changes
// nothing, and a later save tries again.
func Maintain(c *invoke.Invocation, trigger checkpoint.Trigger, o *SaveOptions) {
	if o.DryRun {
		return
	}
	_ = c.Store.PackLoose(c.Ctx)
	if o.NoPrune || !c.Settings.Bool("auto_prune") || !isDue(c.Store.Notes.Path(dueNote), c.Env.Now()) {
		return
	}
	agentWaits := trigger == checkpoint.Turn || c.Env.InHook
	if agentWaits && c.Store.MayDetach() && inBackground(c, AgeHook) == nil {
		return
	}
	AgeAutomatically(c)
}

// AgeHook is the hook that applies the rules of age: thousands of issues can take seconds.
const AgeHook = "age"
