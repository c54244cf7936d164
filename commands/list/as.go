package list

import (
	"cmp"
	"errors"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/layoutfiles"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"
)

// listAs prints the list in the format of a layout's own system. With --all it covers
// every issue whose newest checkpoint has that layout.
func listAs(c *invoke.Invocation, as layout.Name) error {
	issues, err := listedAs(c, as)
	if err != nil {
		return err
	}
	var chains [][]*checkpoint.Record
	failed := c.Each(issues, func(i checkpoint.Issue) error {
		records, err := layoutfiles.RecordsToExport(c, i, as)
		if err == nil {
			chains = append(chains, records)
		}
		return err
	})
	if len(chains) == 0 {
		return cmp.Or(failed, exit.Errorf(exit.None, "", "list: no checkpoint of the layout %s", as))
	}
	text, err := layout.Listing(as, chains)
	if err != nil {
		return exit.Errorf(exit.Failure, "", "list --as %s: %w", as, err)
	}
	c.Printf("%s", output.CleanBlock(text))
	return failed
}

func listedAs(c *invoke.Invocation, as layout.Name) ([]checkpoint.Issue, error) {
	if !c.Flags.Bool("all") {
		issue, err := issueListed(c)
		return []checkpoint.Issue{issue}, err
	}
	if err := listThere(c); err != nil {
		return nil, err
	}
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
		case r.Layout() == string(as) || r.Layout() == "" && as == layout.Crunch:
			of = append(of, i)
		}
	}
	return of, nil
}
