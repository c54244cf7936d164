package retain

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"

	"github.com/urfave/cli/v2"
)

// DropCommand declares git checkpoint drop.
var DropCommand = invoke.Command{
	Name: "drop", Usage: "delete checkpoints", Args: "[ISSUE] ID... | [ISSUE] --everything", Max: maxNamed, Category: "Keep",
	Examples: []string{
		"git checkpoint drop 42 1f0c9a2b latest",
		"git checkpoint drop 42 --everything --purge",
	},
	Description: "Deletes checkpoints here, and in other clones at the next sync.\n" +
		"`git checkpoint undo` reverts the last drop, unless it was with --purge.",
	New: invoke.Bind((*dropOptions).flags, runDrop),
}

type dropOptions struct {
	all   bool // every checkpoint of the issue
	purge bool // delete the content too
	yes   bool // do not ask
}

func (o *dropOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "everything", Aliases: []string{"all"}, Usage: "delete every checkpoint of the issue, also archived checkpoints", Destination: &o.all},
		&cli.BoolFlag{Name: "purge", Usage: "also remove reflogs and operations, so that undo ends and git gc deletes the content", Destination: &o.purge},
		&cli.BoolFlag{Name: "yes", Usage: "do not ask", Destination: &o.yes},
	}
}

func runDrop(c *invoke.Invocation, o *dropOptions) error {
	if err := c.Open(); err != nil {
		return err
	}
	issue, dropped, err := toDrop(c, o)
	if err != nil {
		return err
	}
	ids := idsOf(dropped) // "" for a commit without an id, which is dropped too
	// A commit names one of several contents under an id, and the id names all of them.
	isWhole := func(cp gitstore.Checkpoint) bool {
		return o.all || !cp.Double || slices.ContainsFunc(c.Line.Args, cp.ID.Matches)
	}
	var names []string
	for _, cp := range dropped {
		name := cp.Name()
		if !isWhole(cp) {
			name = cp.Commit.String()
		}
		names = append(names, name)
	}
	if err := confirmDrop(c, o, issue, names); err != nil {
		return err
	}
	result := "dropped"
	if alreadyDropped := dropped[0].Commit.IsZero(); alreadyDropped {
		result = "purged"
	} else if err := dropThem(c, o, issue, dropped, isWhole); err != nil {
		return err
	}
	if o.purge {
		if err := purge(c, dropCommand(o, issue, names), issue, ids, dropped); err != nil {
			return err
		}
	}
	named := slices.DeleteFunc(ids, func(id checkpoint.ID) bool { return id == "" })
	return showResult(c, "drop", issue, named, result, !o.purge)
}

// dropThem drops checkpoints, and of those that are not whole only their contents. With --everything it
// also drops those below a shallow boundary.
func dropThem(c *invoke.Invocation, o *dropOptions, issue checkpoint.Issue, dropped []gitstore.Checkpoint, isWhole func(gitstore.Checkpoint) bool) (err error) {
	l, listErr := c.Store.List(c.Ctx, issue, 0) // a damaged chain can be dropped too
	for k := range dropped {
		if cp := &dropped[k]; !isWhole(*cp) {
			if err := c.Store.DropContent(c.Ctx, cp); err != nil {
				return err
			}
		}
	}
	drop := c.Store.Drop
	if o.all {
		drop = c.Store.DropAll
	}
	if ids := idsOf(slices.DeleteFunc(slices.Clone(dropped), func(cp gitstore.Checkpoint) bool { return !isWhole(cp) })); len(ids) > 0 {
		err = drop(c.Ctx, issue, ids)
	}
	if err == nil && listErr == nil && l.Cut {
		c.Infof("this clone is shallow: the content stays in the chain until a complete clone runs git checkpoint sync %s", view.QuoteArg(string(issue)))
	}
	return err
}

// purge deletes dropped checkpoints' content and prints refs that still contain it.
func purge(c *invoke.Invocation, again string, issue checkpoint.Issue, ids []checkpoint.ID, dropped []gitstore.Checkpoint) error {
	content, _ := c.Store.Files.LFSContent(dropped) // without checkpoints that cannot be read
	carriers, err := c.Store.Purge(c.Ctx, issue, ids)
	if err == nil {
		err = c.Store.Files.SweepContent(c.Ctx, content)
	}
	if err != nil {
		return failure.Errorf(failure.Failure, again+" --purge", "%s dropped, and the purge is not complete: %w", view.Plural(len(ids), "checkpoint"), err)
	}
	for _, ref := range carriers {
		c.Warnf("%s still carries what was dropped, and so does its remote: %s", ref, syncOf(c, ref, issue))
	}
	left, err := c.Store.Remaining(c.Ctx, dropped)
	if err != nil {
		return failure.DoneErrorf("the change is made, but the places that still have the content are not known: %w", err)
	}
	for _, place := range []struct {
		name  string
		paths []string
	}{
		{"a staging area", left.Index},
		{"the worktree", left.Worktree},
		{"a branch, another checkpoint, a stash or a reflog", left.Refs},
	} {
		if n := len(place.paths); n > 0 {
			shown := view.List(place.paths[:min(n, 3)])
			if n > 3 {
				shown += " and more"
			}
			c.Warnf("%s still has %s of what was dropped: %s", place.name, view.Plural(n, "file"), shown)
		}
	}
	after := ""
	if len(carriers) > 0 {
		after = ", once it is synchronized"
	}
	c.Infof("other clones and remotes may still have copies; git gc --prune=now deletes the content here%s", after)
	return nil
}

// syncOf returns the command that removes dropped checkpoints from the remote of a
// remote-tracking ref. The names of refs have digests of URLs, and not the URLs.
func syncOf(c *invoke.Invocation, ref string, issue checkpoint.Issue) string {
	remotes := c.Store.RemoteNames()
	if configured, err := c.Remote("", issue); err == nil {
		remotes = append(remotes, configured)
	}
	sync := "git checkpoint sync " + view.IssueArg(issue) + " --remote "
	switch name := c.Store.RemoteOf(ref, issue, remotes); {
	case name == "":
		return sync + "URL takes it away there, with the URL that was used before"
	case gitstore.ShownRemote(name) != name:
		return sync + view.QuoteArg(gitstore.ShownRemote(name)) + " takes it away there, with the masked parts of the URL"
	default:
		return sync + view.QuoteArg(name) + " takes it away there"
	}
}

func confirmDrop(c *invoke.Invocation, o *dropOptions, issue checkpoint.Issue, names []string) error {
	if o.yes {
		return nil
	}
	what, hint := view.List(names), dropCommand(o, issue, names)
	switch {
	case o.all && len(names) == 1:
		what = "the only checkpoint"
	case o.all:
		what = "all " + view.Plural(len(names), "checkpoint")
	}
	if o.purge {
		hint += " --purge"
	}
	c.SkipIssue()
	yes, err := c.Confirm(fmt.Sprintf("Drop %s of issue %s? [y/N] ", what, view.Clean(string(issue))), hint+" --yes")
	if err == nil && !yes {
		c.Infof("nothing was dropped")
		err = failure.Silent{Code: failure.None}
	}
	return err
}

func dropCommand(o *dropOptions, issue checkpoint.Issue, names []string) string {
	command := "git checkpoint drop " + view.IssueArg(issue)
	if o.all {
		return command + " --everything"
	}
	return command + " " + strings.Join(names, " ")
}

// toDrop returns the checkpoints that the arguments name. With --purge they may all be
// dropped already, so that an interrupted purge can be repeated.
func toDrop(c *invoke.Invocation, o *dropOptions) (checkpoint.Issue, []gitstore.Checkpoint, error) {
	issue, there, err := named(c, o.all)
	if err == nil || !o.purge {
		return issue, there, err
	}
	var none *gitstore.NoneError
	var missing *gitstore.NotFoundError
	switch {
	case errors.As(err, &none):
		issue = none.Issue
	case errors.As(err, &missing):
		issue = missing.Issue
	default:
		return "", nil, err
	}
	ids, readErr := c.Store.Facts.Deleted(c.Ctx, issue)
	if readErr != nil {
		return "", nil, err
	}
	var dropped []gitstore.Checkpoint
	for _, id := range ids {
		if o.all || slices.Contains(c.Line.Args, string(id)) {
			dropped = append(dropped, gitstore.Checkpoint{ID: id, Issue: issue})
		}
	}
	stays := func(arg string) bool { return !slices.Contains(ids, checkpoint.ID(arg)) }
	if len(dropped) == 0 || !o.all && slices.ContainsFunc(c.Line.Args[1:], stays) {
		return "", nil, err
	}
	return issue, dropped, nil
}

// named returns the existing checkpoints that the arguments name, or with --everything every
// checkpoint of the issue.
func named(c *invoke.Invocation, all bool) (checkpoint.Issue, []gitstore.Checkpoint, error) {
	if !all {
		there, err := c.CheckpointArgs()
		if err != nil {
			return "", nil, err
		}
		return there[0].Issue, there, nil
	}
	if len(c.Line.Args) > 1 {
		return "", nil, failure.Usagef("drop: --everything takes no checkpoint, got %q", c.Line.Args[1])
	}
	issue, err := c.Issue()
	if err != nil {
		return "", nil, err
	}
	var found []gitstore.Checkpoint
	for _, read := range []func() (*gitstore.List, error){
		func() (*gitstore.List, error) { return c.Store.List(c.Ctx, issue, 0) },
		func() (*gitstore.List, error) { return c.Store.Archived(c.Ctx, issue, 0) },
	} {
		l, err := read()
		if err != nil {
			return "", nil, err
		}
		found = append(found, l.Checkpoints...)
	}
	if len(found) == 0 {
		return "", nil, &gitstore.NoneError{Issue: issue}
	}
	return issue, found, nil
}
