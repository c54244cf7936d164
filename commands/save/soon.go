package save

import (
	"fmt"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"
)

// tooSoon returns the reason to skip an automatic save without new content shortly after
// another checkpoint. It returns "" for all other saves.
func tooSoon(c *invoke.Invocation, issue checkpoint.Issue, t checkpoint.Trigger, doc *layout.File) string {
	least := time.Duration(c.Settings.Int("min_interval")) * time.Second
	if least == 0 || doc != nil || c.Flags.IsSet("state") || len(c.Lists["set"])+len(c.Lists["decision"]) > 0 {
		return ""
	}
	switch t {
	case checkpoint.Interval, checkpoint.BeforeAgent, checkpoint.BatchStart:
	default:
		return ""
	}
	cp, err := c.Store.Newest(c.Ctx, issue)
	if err != nil {
		return ""
	}
	if since := c.Env.Now().Sub(cp.Created); since >= 0 && since < least {
		return fmt.Sprintf("saved %s ago, and min_interval is %s", since.Truncate(time.Second), least)
	}
	return ""
}
