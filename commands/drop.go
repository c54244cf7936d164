package commands

import (
	"fmt"
	"slices"

	"git-checkpoint/commands/output"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

var dropCommand = command{
	name: "drop", usage: "delete checkpoints", args: "[ISSUE] ID | [ISSUE] --all", max: 2, category: "Keep",
	examples: []string{
		"git checkpoint drop 42 1f0c9a2b",
		"git checkpoint drop 42 --all --purge",
	},
	description: "Deletes a checkpoint for good: another clone does not bring it back.\n" +
		"`git checkpoint undo` takes the last drop back, unless it was with --purge.",
	flags: dropFlags,
	run:   runDrop,
}

func dropFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "all", Usage: "every checkpoint of the issue, archived ones too"},
		&cli.BoolFlag{Name: "purge", Usage: "also forget reflogs and safety snapshots, so that git's gc deletes the content"},
		&cli.BoolFlag{Name: "yes", Usage: "do not ask"},
	}
}

func runDrop(c *call) error {
	if err := c.open(); err != nil {
		return err
	}
	issue, ids, err := c.toDrop()
	if err != nil {
		return err
	}
	if err := c.confirmDrop(issue, ids); err != nil {
		return err
	}
	if err := c.store.Drop(c.ctx, issue, ids); err != nil {
		return err
	}
	if c.flags.Bool("purge") {
		carriers, err := c.store.Purge(c.ctx, issue, ids)
		if err != nil {
			return err
		}
		for _, ref := range carriers {
			c.warn("%s still carries what was dropped, and so does its remote: git checkpoint sync %s takes it away there", ref, quoteArg(string(issue)))
		}
		c.say("other clones and remotes may still have copies; git gc --prune=now deletes the content here")
	}
	named := slices.DeleteFunc(ids, func(id checkpoint.ID) bool { return id == "" })
	return c.showResult("drop", issue, named, "dropped")
}

// confirmDrop asks before anything is deleted.
func (c *call) confirmDrop(issue checkpoint.Issue, ids []checkpoint.ID) error {
	if c.flags.Bool("yes") {
		return nil
	}
	what, hint := plural(len(ids), "checkpoint"), "git checkpoint drop "+quoteArg(string(issue))
	if c.flags.Bool("all") {
		what, hint = "all "+what, hint+" --all"
	} else {
		what, hint = string(ids[0]), hint+" "+string(ids[0])
	}
	if c.flags.Bool("purge") {
		hint += " --purge"
	}
	yes, err := c.confirm(fmt.Sprintf("Drop %s of issue %s? [y/N] ", what, output.Clean(string(issue))), hint+" --yes")
	if err == nil && !yes {
		c.say("nothing was dropped")
		err = silent{exitNone}
	}
	return err
}

// toDrop are the checkpoints that the arguments name.
func (c *call) toDrop() (checkpoint.Issue, []checkpoint.ID, error) {
	if !c.flags.Bool("all") {
		cp, err := c.checkpointArg(true)
		if err != nil {
			return "", nil, err
		}
		return cp.Issue, []checkpoint.ID{cp.ID}, nil
	}
	if len(c.args) > 1 {
		return "", nil, usagef("drop: --all takes no checkpoint, got %q", c.args[1])
	}
	issue, err := c.issue()
	if err != nil {
		return "", nil, err
	}
	var ids []checkpoint.ID
	for _, read := range []func() (*gitstore.List, error){
		func() (*gitstore.List, error) { return c.store.List(c.ctx, issue, 0) },
		func() (*gitstore.List, error) { return c.store.Archived(c.ctx, issue, 0) },
	} {
		l, err := read()
		if err != nil {
			return "", nil, err
		}
		for _, cp := range l.Checkpoints {
			ids = append(ids, cp.ID) // "" for a commit that names none: it goes too
		}
	}
	if len(ids) == 0 {
		return "", nil, &gitstore.NoneError{Issue: issue}
	}
	return issue, ids, nil
}

func orElse(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
