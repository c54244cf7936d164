package doctor

import (
	"cmp"
	"fmt"
	"slices"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
)

// measure adds the disk usage of each issue to the result, largest first, if --sizes is
// set.
func measure(c *invoke.Invocation, result *output.Doctor) error {
	if !c.Flags.Bool("sizes") {
		return nil
	}
	version, err := c.Store.Git().Version(c.Ctx)
	if err != nil {
		return err
	}
	if !version.AtLeast(2, 31) {
		c.Warnf("--sizes needs git 2.31")
		return nil
	}
	issues, err := issuesToVerify(c)
	if err != nil {
		return err
	}
	for _, i := range issues {
		u, err := c.Store.Usage(c.Ctx, i)
		if err != nil { // a damaged issue, which the checks report
			c.Warnf("%v", err)
			continue
		}
		result.Sizes = append(result.Sizes, output.Size{Issue: string(i), Checkpoints: u.Checkpoints, Bytes: u.Bytes})
	}
	slices.SortStableFunc(result.Sizes, func(a, b output.Size) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return nil
}

func printSizes(c *invoke.Invocation, sizes []output.Size) {
	for _, s := range sizes {
		c.Printf("%9s  issue %s, %s\n", roomOf(s.Bytes), output.Clean(s.Issue), phrase.Plural(s.Checkpoints, "checkpoint"))
	}
}

// roomOf formats a size in KiB, MiB or GiB.
func roomOf(bytes int64) string {
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
}
