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
	agentWaits := trigger == checkpoint.Turn || c.Env.InHook
	if !agentWaits || !c.Store.PacksInBackground() || packInBackground(c) != nil {
		_ = c.Store.Consolidate(c.Ctx)
	}
	if c.Settings.Bool("auto_prune") && !o.NoPrune {
		AgeAutomatically(c)
	}
}

// PackHook is the hook that packs loose objects.
const PackHook = "pack"

// packInBackground starts a process that packs loose objects. An agent waits for its hooks,
// and packing can take seconds. The process has no terminal and no open pipe to the agent.
func packInBackground(c *invoke.Invocation) error {
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
