package work

import (
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/gitstore/checkpoint"
)

// Maintain packs loose objects after a save, and applies the rules of age to all issues
// if that is due and the save applies retention. A failure to pack objects changes
// nothing, and a later save tries again.
func Maintain(c *invoke.Invocation, trigger checkpoint.Trigger, o *SaveOptions) {
	if o.DryRun {
		return
	}
	ages := !o.NoPrune && isAgingDue(c)
	agentWaits := trigger == checkpoint.Turn || c.Env.InHook
	if agentWaits && (ages || c.Store.IsPackingDue()) && c.Store.MayDetach() && inBackground(c, PackHook) == nil {
		return
	}
	_ = c.Store.Consolidate(c.Ctx)
	if ages {
		AgeAutomatically(c)
	}
}

// MaintainNow packs loose objects and applies the rules of age, as Maintain does.
func MaintainNow(c *invoke.Invocation) error {
	err := c.Store.Consolidate(c.Ctx)
	if isAgingDue(c) {
		AgeAutomatically(c)
	}
	return err
}

// PackHook is the hook that runs MaintainNow: packing or thousands of issues can take seconds.
const PackHook = "pack"
