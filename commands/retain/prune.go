// Package retain has the commands that keep and remove checkpoints: prune, pin, unpin,
// drop, archive and undo.
package retain

import (
	"cmp"
	"fmt"
	"strings"

	"git-checkpoint/commands/internal/aging"
	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"

	"github.com/urfave/cli/v2"
)

// PruneCommand declares git checkpoint prune.
var PruneCommand = invoke.Command{
	Name: "prune", Usage: "apply retention to an issue's checkpoints", Args: "[ISSUE]", Max: 1, Category: "Keep",
	Description: "Prints every decision with its rule. A chain that is too old goes to the archive\n" +
		"(max_age_days), and what was there for long enough goes away (archive_days). What\n" +
		"is dropped can be taken back with `git checkpoint undo` for as long as git keeps\n" +
		"unreachable reflog entries.",
	Examples: []string{
		"git checkpoint prune 42 --dry-run",
		"git checkpoint prune 42 --keep manual=5",
		"git checkpoint prune --all --max-age 30",
		"git checkpoint prune --all --closed",
	},
	Flags: pruneFlags,
	Run:   runPrune,
}

func pruneFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "all", Usage: "of every issue"},
		&cli.BoolFlag{Name: "dry-run", Usage: "decide, print the plan's id, change nothing"},
		&cli.StringFlag{Name: "apply", Usage: "carry out the `PLAN` with this id, or nothing"},
		&cli.StringSliceFlag{Name: "keep", Usage: "keep the newest N of a trigger, as `TRIGGER=N`"},
		&cli.BoolFlag{Name: "closed", Usage: "only what belongs to closed issues: archive their chains"},
		&cli.IntFlag{Name: "max-age", Usage: "archive a chain whose newest checkpoint is older than `DAYS`"},
	}
}

func runPrune(c *invoke.Invocation) error {
	if err := c.Open(); err != nil {
		return err
	}
	req, err := pruneRequest(c)
	if err != nil {
		return err
	}
	issues, err := issuesToPrune(c)
	if err != nil {
		return err
	}
	if req.Closed {
		if issues, err = closed(c, issues); err != nil || len(issues) == 0 {
			return err
		}
	}
	plan, err := prune(c, req, issues)
	if plan == nil {
		return err
	}
	return cmp.Or(showPlan(c, plan, req.DryRun), err)
}

// prune plans the retention and applies it, unless --dry-run is set. For a single issue,
// plan and change are one step. For --all, every issue is planned first, because --apply
// names a plan across all issues.
func prune(c *invoke.Invocation, req gitstore.PruneRequest, issues []checkpoint.Issue) (*prunePlan, error) {
	if !c.Flags.Bool("all") {
		req.Plan = c.Flags.String("apply")
		return planPrune(c, req, issues)
	}
	dry := req
	dry.DryRun = true
	plan, err := planPrune(c, dry, issues)
	if plan == nil {
		return nil, err
	}
	if want := c.Flags.String("apply"); want != "" && want != plan.id {
		return nil, cmp.Or(err, exit.Errorf(exit.Refused, "git checkpoint prune --all --dry-run",
			"prune: the plan is now %s, not %s: the chains or the policy changed", plan.id, want))
	}
	if !req.DryRun {
		err = cmp.Or(err, carryOut(c, req, plan))
	}
	return plan, err
}

func pruneRequest(c *invoke.Invocation) (gitstore.PruneRequest, error) {
	req := aging.Rules(c)
	req.DryRun, req.Closed = c.Flags.Bool("dry-run"), c.Flags.Bool("closed")
	if c.Flags.IsSet("max-age") {
		if req.MaxAge = c.Flags.Int("max-age"); req.MaxAge < 1 {
			return req, exit.Usagef("prune: --max-age: %d is not a number of days", req.MaxAge)
		}
		delete(req.Layouts, "claude")
	}
	if req.DryRun && c.Flags.IsSet("apply") {
		return req, exit.Usagef("prune: --dry-run and --apply do not go together")
	}
	var err error
	if req.Policy, err = retention.ParseKeeps(c.Settings.Policy(), c.Lists["keep"]); err != nil {
		return req, exit.Usagef("prune: --keep: %w", err)
	}
	return req, nil
}

func issuesToPrune(c *invoke.Invocation) ([]checkpoint.Issue, error) {
	if !c.Flags.Bool("all") {
		issue, err := c.Issue()
		return []checkpoint.Issue{issue}, err
	}
	if len(c.Args) > 0 {
		return nil, exit.Usagef("prune: --all takes no issue")
	}
	issues, strange, err := c.Store.Issues(c.Ctx, false)
	invoke.TellStrange(c, strange)
	return issues, err
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
func planPrune(c *invoke.Invocation, req gitstore.PruneRequest, issues []checkpoint.Issue) (*prunePlan, error) {
	plan := &prunePlan{}
	var all []retention.Decision
	err := c.Each(issues, func(i checkpoint.Issue) error {
		req := req
		req.Issue = i
		if len(issues) == 1 {
			req.Progress = func(done, total int) { c.Ticker.AtOf(done, total, "checkpoints rewritten") }
		}
		decided, err := c.Store.Prune(c.Ctx, req)
		switch {
		case err != nil:
			return err
		case len(decided.Decisions) == 0 && !c.Flags.Bool("all"):
			return &gitstore.NoneError{Issue: i}
		}
		for _, w := range decided.Warnings {
			c.Warnf("%s", w)
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
	issues := make([]checkpoint.Issue, len(plan.of))
	for k, p := range plan.of {
		issues[k] = p.issue
	}
	k := -1
	return c.Each(issues, func(i checkpoint.Issue) error {
		k++
		if len(plan.of[k].Removed)+len(plan.of[k].Expired) == 0 {
			return nil
		}
		req := req
		req.Issue, req.Plan = i, plan.of[k].Plan
		done, err := c.Store.Prune(c.Ctx, req)
		if err != nil {
			plan.of[k].Removed, plan.of[k].Expired = nil, nil
			return err
		}
		plan.of[k].Pruned = done
		return nil
	})
}

func showPlan(c *invoke.Invocation, plan *prunePlan, dryRun bool) error {
	if c.JSON {
		return c.WriteJSON(pruneRecord(plan, dryRun))
	}
	for _, p := range plan.of {
		if c.Flags.Bool("all") && len(p.Decisions) > 0 {
			c.Printf("issue %s\n", output.Clean(string(p.issue)))
		}
		for _, d := range p.Decisions {
			c.Printf("%s %s  %s\n", verb(d, p.Archived), output.Clean(string(d.ID)), output.Clean(d.Rule))
		}
	}
	if dryRun {
		c.Printf("plan %s\n", plan.id)
		c.Infof("hint: %s", applyCommand(c, plan))
	}
	return nil
}

// verb returns the action of a decision.
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
func applyCommand(c *invoke.Invocation, plan *prunePlan) string {
	words := []string{"git checkpoint prune"}
	if c.Flags.Bool("all") {
		words = append(words, "--all")
	} else {
		words = append(words, phrase.QuoteArg(string(plan.of[0].issue)))
	}
	if c.Flags.Bool("closed") {
		words = append(words, "--closed")
	}
	for _, k := range c.Lists["keep"] {
		words = append(words, "--keep", phrase.QuoteArg(k))
	}
	if c.Flags.IsSet("max-age") {
		words = append(words, "--max-age", fmt.Sprint(c.Flags.Int("max-age")))
	}
	return strings.Join(append(words, "--apply", plan.id), " ")
}

func pruneRecord(plan *prunePlan, dryRun bool) output.Prune {
	r := output.Prune{Type: "prune", Plan: plan.id, DryRun: dryRun}
	for _, p := range plan.of {
		r.Removed = append(append(r.Removed, phrase.Strings(p.Removed)...), phrase.Strings(p.Expired)...)
		for _, d := range p.Decisions {
			r.Decisions = append(r.Decisions, output.Decision{CheckpointID: string(d.ID), Issue: string(p.issue), Keep: d.Keep, Rule: d.Rule})
			if d.Keep {
				r.Kept = append(r.Kept, string(d.ID))
			}
		}
	}
	return r
}
