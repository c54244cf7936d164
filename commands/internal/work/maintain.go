package work

import (
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/gitstore/checkpoint"
)

// Maintain lets git pack loose objects after a save, and applies the rules of age to all issues
// if that is due and the save applies retention. A failure to pack objects changes
// nothing, and a later save tries again.
func Maintain(c *invoke.Invocation, trigger checkpoint.Trigger, o *SaveOptions) {
	if o.DryRun {
		return
	}
	_ = c.Store.PackLoose(c.Ctx)
	if o.NoPrune || !c.Settings.Bool("auto_prune") || !isDue(c.Store.Notes.Path(dueNote), c.Env.Now()) {
		return
	}
	agentWaits := trigger == checkpoint.Turn || c.Env.InHook
	if agentWaits && c.Store.MayDetach() && inBackground(c, AgeHook) == nil {
		return
	}
	AgeAutomatically(c)
}

// AgeHook is the hook that applies the rules of age: thousands of issues can take seconds.
const AgeHook = "age"
