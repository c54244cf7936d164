package list

import (
	"cmp"
	"errors"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/claude"
	"git-checkpoint/gitstore/layout/crunch"
)

// listAs prints the list in the format of a layout's own system. With --all it covers
// every issue that has files of the layout.
func listAs(c *invoke.Invocation, o *listOptions) error {
	issues, err := listedAs(c, o)
	if err != nil {
		return err
	}
	var chains [][]*checkpoint.Record
	unread := c.Each(issues, func(i checkpoint.Issue) error {
		records, err := work.RecordsToExport(c, i, o.as)
		if err == nil {
			chains = append(chains, records)
		}
		return err
	})
	failed, err := failedAs(c, o)
	if err != nil {
		return err
	}
	if len(chains)+len(failed) == 0 {
		return cmp.Or(unread, failure.Errorf(failure.None, "", "list: no checkpoint of the layout %s", o.as))
	}
	text, err := layout.Listing(o.as, chains, failed)
	if err != nil {
		return failure.Errorf(failure.Failure, "", "list --as %s: %w", o.as, err)
	}
	c.Printf("%s", view.CleanBlock(text))
	return unread
}

// listedAs returns the live issues of the list.
func listedAs(c *invoke.Invocation, o *listOptions) ([]checkpoint.Issue, error) {
	if !o.all {
		issue, err := issueListed(c, o)
		return []checkpoint.Issue{issue}, err
	}
	if err := listThere(c, o); err != nil {
		return nil, err
	}
	defer c.Store.CacheRefs(c.Ctx)()
	issues, _, err := c.Store.Issues(c.Ctx, false)
	if err != nil {
		return nil, err
	}
	var of []checkpoint.Issue
	for _, i := range issues {
		_, r, err := c.Store.NewestValid(c.Ctx, i)
		switch {
		case errors.As(err, new(*gitstore.NoneError)):
		case err != nil:
			c.Warnf("%v", err)
		case listed(c, o, r):
			of = append(of, i)
		}
	}
	return of, nil
}

// listed reports whether a workflow has files of the listed layout, and the type and
// project of the flags.
func listed(c *invoke.Invocation, o *listOptions, r *checkpoint.Record) bool {
	written := r.Layout() == string(o.as)
	if r.Layout() == "" { // the mirror can write it
		written = o.as == crunch.Name || c.Settings.String("mirror") == string(o.as)
	}
	return written && (o.workflow.Type == "" || o.workflow.Match(r) > 0)
}

// failedAs returns the records of the issues that have only archived checkpoints, if the
// layout has a folder for workflows that failed.
func failedAs(c *invoke.Invocation, o *listOptions) ([][]*checkpoint.Record, error) {
	if !o.all || o.as != claude.Name {
		return nil, nil
	}
	issues, _, err := c.Store.Issues(c.Ctx, true)
	if err != nil {
		return nil, err
	}
	var chains [][]*checkpoint.Record
	for _, i := range issues {
		live, err := c.Store.List(c.Ctx, i, 1)
		if err != nil && !errors.As(err, new(*gitstore.NoneError)) || err == nil && len(live.Checkpoints) > 0 {
			continue
		}
		l, err := c.Store.Archived(c.Ctx, i, 1)
		if err != nil || len(l.Checkpoints) == 0 || !work.IsFailure(o.as, &l.Checkpoints[0]) {
			continue
		}
		if r, err := c.Store.Record(&l.Checkpoints[0]); err == nil && listed(c, o, r) {
			chains = append(chains, []*checkpoint.Record{r})
		}
	}
	return chains, nil
}
