package work

import (
	"os"
	"os/exec"

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
	if agentWaits && (ages || c.Store.IsPackingDue()) && c.Store.MayDetach() && maintainInBackground(c) == nil {
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

// PackHook is the hook that runs MaintainNow.
const PackHook = "pack"

// maintainInBackground starts a process for MaintainNow. An agent waits for its hooks, and packing
// or thousands of issues can take seconds. The process has no terminal and no open pipe to the agent.
func maintainInBackground(c *invoke.Invocation) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "hook", PackHook)
	cmd.Dir, cmd.Env = c.Store.Root(), append(os.Environ(), c.Store.Environ()...)
	if err := detach(cmd); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
