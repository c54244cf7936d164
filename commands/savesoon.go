package commands

import (
	"fmt"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// tooSoon says why an automatic save is left out that brings nothing of its own:
// another checkpoint is only just there. It is "" for all others.
func (c *Invocation) tooSoon(issue checkpoint.Issue, t checkpoint.Trigger) string {
	least := time.Duration(c.settings.Int("min_interval")) * time.Second
	if least == 0 || c.doc != nil || c.flags.IsSet("state") || len(c.lists["set"])+len(c.lists["decision"]) > 0 {
		return ""
	}
	switch t {
	case checkpoint.Interval, checkpoint.BeforeAgent, checkpoint.BatchStart:
	default:
		return ""
	}
	cp, err := c.store.Newest(c.ctx, issue)
	if err != nil {
		return ""
	}
	if since := c.env.Now().Sub(cp.Created); since >= 0 && since < least {
		return fmt.Sprintf("saved %s ago, and min_interval is %s", since.Truncate(time.Second), least)
	}
	return ""
}
