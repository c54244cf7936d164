package commands

import (
	"git-checkpoint/commands/output"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"

	"github.com/urfave/cli/v2"
)

var pruneCommand = command{
	name: "prune", usage: "apply retention to an issue's checkpoints", args: "[ISSUE]", max: 1, category: "Keep",
	description: "Prints every decision with its rule. What is dropped can be taken back with\n" +
		"`git checkpoint undo` for as long as git keeps unreachable reflog entries.",
	flags: []cli.Flag{
		&cli.BoolFlag{Name: "all", Usage: "of every issue"},
		&cli.BoolFlag{Name: "dry-run", Usage: "decide, print the plan's id, change nothing"},
		&cli.StringFlag{Name: "apply", Usage: "carry out the plan with this `ID`, or nothing"},
		&cli.StringSliceFlag{Name: "keep", Usage: "keep the newest N of a trigger, as `TRIGGER=N`"},
		&cli.IntFlag{Name: "max-age", Usage: "archive a chain whose newest checkpoint is older than `DAYS`"},
	},
	run: runPrune,
}

func runPrune(c *call) error {
	if err := c.open(); err != nil {
		return err
	}
	req := gitstore.PruneRequest{
		MaxAge: c.settings.Int("max_age_days"), DryRun: c.flags.Bool("dry-run"), Plan: c.flags.String("apply"),
	}
	if c.flags.IsSet("max-age") {
		if req.MaxAge = c.flags.Int("max-age"); req.MaxAge < 1 {
			return usagef("--max-age: %d is not a number of days", req.MaxAge)
		}
	}
	var err error
	if req.Policy, err = retention.ParseKeeps(c.settings.Policy(), c.flags.StringSlice("keep")); err != nil {
		return usagef("--keep: %w", err)
	}
	issues, err := c.issuesToPrune()
	if err != nil {
		return err
	}
	return c.each(issues, func(i checkpoint.Issue) error {
		req := req
		req.Issue = i
		return c.prune(req)
	})
}

func (c *call) issuesToPrune() ([]checkpoint.Issue, error) {
	if !c.flags.Bool("all") {
		issue, err := c.issue()
		return []checkpoint.Issue{issue}, err
	}
	if c.flags.IsSet("apply") {
		return nil, usagef("prune: a plan is of one issue; --apply and --all do not go together")
	}
	issues, _, err := c.store.Issues(c.ctx, false)
	return issues, err
}

func (c *call) prune(req gitstore.PruneRequest) error {
	done, err := c.store.Prune(c.ctx, req)
	if err != nil {
		return err
	}
	if len(done.Decisions) == 0 && !c.flags.Bool("all") {
		return &gitstore.NoneError{Issue: req.Issue}
	}
	for _, w := range done.Warnings {
		c.warn("%s", w)
	}
	if c.json {
		return c.write(pruneRecord(done, req.DryRun))
	}
	for _, d := range done.Decisions {
		verdict := "keep"
		if !d.Keep {
			verdict = "drop"
		}
		c.print("%s %s  %s\n", verdict, d.ID, output.Clean(d.Rule))
	}
	if req.DryRun {
		c.print("plan %s\n", done.Plan)
		c.say("hint: git checkpoint prune %s --apply %s", quoteArg(string(req.Issue)), done.Plan)
	}
	return nil
}

func pruneRecord(done *gitstore.Pruned, dryRun bool) output.Prune {
	p := output.Prune{Type: "prune", Plan: done.Plan, DryRun: dryRun, Removed: texts(done.Removed)}
	for _, d := range done.Decisions {
		p.Decisions = append(p.Decisions, output.Decision{CheckpointID: string(d.ID), Keep: d.Keep, Rule: d.Rule})
		if d.Keep {
			p.Kept = append(p.Kept, string(d.ID))
		}
	}
	return p
}
