package save

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"git-checkpoint/commands/internal/guard"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/pushing"
	"git-checkpoint/commands/internal/saving"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// A keeper saves and pushes the work while a command runs.
type keeper struct {
	c     *invoke.Invocation
	guard *guard.Guard
	issue checkpoint.Issue
	slow  bool // the issue's source is a forge or a program

	saved  *gitstore.Saved // newest checkpoint
	why    string          // reason why nothing was saved
	warned map[string]bool
}

// Save saves a checkpoint. Errors become warnings.
func (k *keeper) Save(ctx context.Context, t checkpoint.Trigger) {
	k.c.Ctx = ctx
	if on, why := k.c.Settings.TriggerEnabled(t); !on {
		k.why = why
		return
	}
	saved, err := k.trySave(t)
	if err != nil && !errors.Is(err, gitstore.ErrUnchanged) && ctx.Err() == nil {
		// Ctrl+C can reach a git process that was just started and has no process group
		// of its own yet.
		saved, err = k.trySave(t)
	}
	switch {
	case errors.Is(err, gitstore.ErrUnchanged):
	case ctx.Err() != nil:
		k.warn("not saved (%s): interrupted", t)
	case err != nil:
		k.warn("not saved (%s): %v", t, err)
	default:
		k.saved = saved
		k.guard.Saved()
		k.guard.Tell(func() { k.c.Infof("saved %s (%s)", saved.ID, t) })
		for _, w := range saving.Warnings(k.c, saved) {
			k.warn("%s", w)
		}
	}
}

// Pushes reports whether a checkpoint was saved and is to be pushed.
func (k *keeper) Pushes() bool { return k.saved != nil && pushing.Wanted(k.c) }

// Push pushes the saved checkpoints.
func (k *keeper) Push(ctx context.Context, limit time.Duration) {
	whole := k.c.Ctx
	k.c.Ctx = ctx
	err := pushing.Issue(k.c, k.issue, true)
	k.c.Ctx = whole
	switch {
	case err == nil || errors.Is(ctx.Err(), context.Canceled):
	case ctx.Err() != nil:
		k.warn(pushing.NotPushed, fmt.Errorf("no answer within %s", limit))
	default:
		k.warn(pushing.NotPushed, err)
	}
}

// Say prints the progress of the command.
func (k *keeper) Say(format string, args ...any) { k.c.Infof(format, args...) }

// warn prints each warning once.
func (k *keeper) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !k.warned[text] {
		k.warned[text] = true
		k.guard.Tell(func() { k.c.Warnf("%s", text) })
	}
}

// report prints the record of --json.
func (k *keeper) report() error {
	c := k.c
	if !c.JSON {
		return nil
	}
	if k.saved == nil {
		return c.WriteJSON(output.Save{
			Type: "run", Issue: string(k.issue), Skipped: cmp.Or(k.why, "nothing had to be saved"), Warnings: c.TakeWarnings(),
		})
	}
	return c.WriteJSON(saving.Record("run", k.saved, c.TakeWarnings()))
}

// trySave opens the repository again, because the command may have changed it, and saves.
func (k *keeper) trySave(t checkpoint.Trigger) (*gitstore.Saved, error) {
	c := k.c
	opts := gitstore.Options{Now: c.Env.Now, Apart: true}
	if _, err := os.Getwd(); err != nil { // the working directory was deleted
		opts.Dir = cmp.Or(c.Store.Root(), c.Store.CommonDir())
	}
	store, err := gitstore.Open(c.Ctx, opts)
	if err != nil {
		return nil, err
	}
	c.Close()
	c.Store = store
	if t == checkpoint.UserInterrupt && k.slow { // there may be only seconds left
		_ = c.Settings.Set("issue_source", "none", "run")
	}
	req, err := saving.Request(c, k.issue, t, saving.Input{Content: true})
	if err != nil { // the state file may be missing or incomplete
		k.warn("saved without --state: %v", err)
		state := c.Flags.String("state")
		_ = c.Flags.Set("state", "")
		req, err = saving.Request(c, k.issue, t, saving.Input{Content: true})
		_ = c.Flags.Set("state", state)
	}
	if err != nil {
		return nil, err
	}
	req.IfChanged = t == checkpoint.Interval
	saved, err := c.Store.Save(c.Ctx, req)
	if err == nil {
		c.EndMirror()
	}
	return saved, err
}
