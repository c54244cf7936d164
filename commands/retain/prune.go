// Package retain has the commands that keep and remove checkpoints: prune, pin, unpin,
// drop, archive and undo.
package retain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/retention"

	"github.com/urfave/cli/v2"
)

// PruneCommand declares git checkpoint prune.
var PruneCommand = invoke.Command{
	Name: "prune", Usage: "apply retention to an issue's checkpoints", Args: "[ISSUE]", Max: 1, Category: "Keep",
	Description: "Prints every decision with its rule. Chains older than max_age_days are archived, and\n" +
		"archived checkpoints older than archive_days are deleted. `git checkpoint undo` reverts\n" +
		"the prune, as long as git keeps unreachable reflog entries.",
	Examples: []string{
		"git checkpoint prune 42 --dry-run",
		"git checkpoint prune 42 --keep manual=5",
		"git checkpoint prune --all --max-age 30",
		"git checkpoint prune --all --closed",
	},
	NeedsSettings: true,
	New:           invoke.Bind((*pruneOptions).flags, runPrune),
}

func (o *pruneOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "all", Usage: "prune every issue", Destination: &o.all},
		&cli.BoolFlag{Name: "dry-run", Usage: "print the decisions and the id of the plan, but change nothing", Destination: &o.dryRun},
		&cli.StringFlag{Name: "apply", Usage: "apply the plan with the id `PLAN`, or nothing if it is out of date", Destination: &o.plan},
		&cli.GenericFlag{Name: "keep", Usage: "keep the newest N checkpoints of a trigger, as `TRIGGER=N`", Value: (*invoke.List)(&o.keep)},
		&cli.BoolFlag{Name: "closed", Usage: "only archive the chains of closed issues", Destination: &o.closed},
		&cli.IntFlag{Name: "max-age", Usage: "archive a chain whose newest checkpoint is older than `DAYS`", Destination: &o.maxAge},
	}
}

type pruneOptions struct {
	all    bool     // every issue
	dryRun bool     // plan only
	closed bool     // archive the chains of closed issues, nothing else
	plan   string   // id of the plan to carry out, or ""
	keep   []string // TRIGGER=N
	maxAge int      // in days; 0 for the setting
}

func runPrune(c *invoke.Invocation, o *pruneOptions) error {
	if err := c.Open(); err != nil {
		return err
	}
	switch {
	case c.Line.Flags.IsSet("max-age") && o.maxAge < 1:
		return failure.Usagef("prune: --max-age: %d is not a number of days", o.maxAge)
	case o.dryRun && o.plan != "":
		return failure.Usagef("prune: --dry-run and --apply cannot be combined")
	}
	req := work.AgingRules(c)
	req.DryRun, req.Closed = o.dryRun, o.closed
	if o.maxAge > 0 {
		req.MaxAge = o.maxAge
		delete(req.Layouts, "claude")
	}
	var err error
	if req.Policy, err = retention.ParseKeeps(c.Settings.Policy(), o.keep); err != nil {
		return failure.Usagef("prune: --keep: %w", err)
	}
	if o.all {
		defer c.Store.CacheRefs(c.Ctx)()
	}
	var issues []checkpoint.Issue
	switch {
	case !o.all:
		var issue checkpoint.Issue
		issue, err = c.Issue()
		issues = append(issues, issue)
	case len(c.Line.Args) > 0:
		return failure.Usagef("prune: --all takes no issue")
	default:
		var strange []string
		issues, strange, err = c.Store.Issues(c.Ctx, false)
		invoke.TellStrange(c, strange)
	}
	if err != nil {
		return err
	}
	if o.closed {
		if issues, err = closedIssues(c, issues); err != nil || len(issues) == 0 {
			return err
		}
	}
	plan, err := prune(c, o, req, issues)
	if plan == nil {
		return err
	}
	return cmp.Or(showPlan(c, o, plan), err)
}

// prune plans the retention and applies it, unless --dry-run is set. For a single issue,
// plan and change are one step. For --all, every issue is planned first, because --apply
// names a plan across all issues.
func prune(c *invoke.Invocation, o *pruneOptions, req gitstore.PruneRequest, issues []checkpoint.Issue) (*prunePlan, error) {
	if !o.all {
		req.Plan = o.plan
		return planPrune(c, o, req, issues)
	}
	dry := req
	dry.DryRun = true
	plan, err := planPrune(c, o, dry, issues)
	if plan == nil {
		return nil, err
	}
	if o.plan != "" && o.plan != plan.id {
		return nil, cmp.Or(err, failure.Errorf(failure.Refused, "git checkpoint prune --all --dry-run",
			"prune: the plan is now %s, not %s: the chains or the policy changed", plan.id, o.plan))
	}
	if !o.dryRun {
		err = cmp.Or(err, carryOut(c, req, plan))
	}
	return plan, err
}

// closedIssues returns the issues that are closed in their source. It warns of issues
// whose state is unknown.
func closedIssues(c *invoke.Invocation, issues []checkpoint.Issue) ([]checkpoint.Issue, error) {
	var closed []checkpoint.Issue
	for _, i := range issues {
		answer, err := work.CurrentIssue(c, i, work.IssueOptions{})
		now, why := answer.Issue, answer.Why
		switch {
		case err != nil:
			return nil, err
		case now == nil:
			c.Warnf("issue %s is left alone: it is not known whether it is closed: %s", i, why)
		case now.State == "closed":
			closed = append(closed, i)
		case now.State == "":
			c.Warnf("issue %s is left alone: its source does not say whether it is closed", i)
		case len(issues) == 1:
			c.Infof("issue %s is %s: nothing is archived", i, now.State)
		}
	}
	return closed, nil
}

// A prunePlan holds the retention decisions for one or several issues.
type prunePlan struct {
	id string
	of []issuePlan
}

type issuePlan struct {
	issue checkpoint.Issue
	*gitstore.Pruned
}

// planPrune requests every issue's plan from the store. It returns nil if no issue can be
// planned. The plan of a single issue keeps the id from the store.
func planPrune(c *invoke.Invocation, o *pruneOptions, req gitstore.PruneRequest, issues []checkpoint.Issue) (*prunePlan, error) {
	plan := &prunePlan{}
	var all []retention.Decision
	err := c.Each(issues, func(i checkpoint.Issue) error {
		req := req
		req.Issue = i
		if len(issues) == 1 {
			c.Store.SetProgress(func(done, total int) { c.Out.Ticker.AtOf(done, total, "checkpoints rewritten") })
		}
		decided, err := c.Store.Prune(c.Ctx, req)
		switch {
		case err != nil:
			return err
		case len(decided.Decisions) == 0 && !o.all:
			return &gitstore.NoneError{Issue: i}
		}
		for _, w := range decided.Warnings {
			c.Warnf("%s", w)
		}
		for _, doubt := range decided.Doubts {
			c.WarnAlways("issue %s: %s", i, doubt)
		}
		plan.of = append(plan.of, issuePlan{i, decided})
		all = append(all, decided.Decisions...)
		return nil
	})
	if len(plan.of) == 0 && err != nil {
		return nil, err
	}
	plan.id = retention.PlanID(all)
	return plan, err
}

// carryOut applies the plan of every issue. A chain that has changed since the plan stays
// as it is.
func carryOut(c *invoke.Invocation, req gitstore.PruneRequest, plan *prunePlan) error {
	plans := map[checkpoint.Issue]*gitstore.Pruned{}
	for _, of := range plan.of {
		plans[of.issue] = of.Pruned
	}
	errs := work.PruneTogether(c, req, plan.issues(), plans)
	for k := range plan.of {
		of := &plan.of[k]
		if of.Pruned = plans[of.issue]; errs[of.issue] != nil {
			of.Removed, of.Expired = nil, nil
		}
	}
	return c.Each(plan.issues(), func(i checkpoint.Issue) error { return errs[i] })
}

func (p *prunePlan) issues() []checkpoint.Issue {
	return view.Each(p.of, func(of issuePlan) checkpoint.Issue { return of.issue })
}

// changes reports whether the plan archives or drops a checkpoint.
func (p *prunePlan) changes() bool {
	for _, of := range p.of {
		if slices.ContainsFunc(of.Decisions, func(d retention.Decision) bool { return !d.Keep }) {
			return true
		}
	}
	return false
}

func showPlan(c *invoke.Invocation, o *pruneOptions, plan *prunePlan) error {
	if c.Line.JSON {
		r := view.Prune{Type: "prune", Plan: plan.id, DryRun: o.dryRun}
		for _, p := range plan.of {
			r.Removed = append(append(r.Removed, view.Strings(p.Removed)...), view.Strings(p.Expired)...)
			for _, d := range p.Decisions {
				r.Decisions = append(r.Decisions, view.Decision{Decision: d, Issue: string(p.issue)})
				if d.Keep {
					r.Kept = append(r.Kept, string(d.ID))
				}
			}
		}
		return c.WriteJSON(r)
	}
	for _, p := range plan.of {
		if o.all && len(p.Decisions) > 0 {
			c.Printf("issue %s\n", view.Clean(string(p.issue)))
		}
		for _, d := range p.Decisions {
			c.Printf("%s %s  %s\n", verb(d, p.Archived), view.Clean(string(d.ID)), view.Clean(d.Rule))
		}
	}
	if o.dryRun {
		c.Printf("plan %s\n", plan.id)
		if plan.changes() {
			c.Infof("hint: %s", applyCommand(o, plan))
		}
	}
	return nil
}

func verb(d retention.Decision, archived bool) string {
	switch {
	case d.Keep:
		return "keep"
	case archived:
		return "archive"
	}
	return "drop"
}

// applyCommand returns the command that applies the plan, including the flags of its
// policy.
func applyCommand(o *pruneOptions, plan *prunePlan) string {
	words := []string{"git checkpoint prune"}
	if o.all {
		words = append(words, "--all")
	} else {
		words = append(words, view.IssueArg(plan.of[0].issue))
	}
	if o.closed {
		words = append(words, "--closed")
	}
	for _, k := range o.keep {
		words = append(words, "--keep", view.QuoteArg(k))
	}
	if o.maxAge > 0 {
		words = append(words, "--max-age", fmt.Sprint(o.maxAge))
	}
	return strings.Join(append(words, "--apply", plan.id), " ")
}
