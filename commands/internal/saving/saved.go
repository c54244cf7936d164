package saving

import (
	"fmt"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/judge"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/internal/pushing"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// A RecordOf returns the JSON record of a command that saved a checkpoint.
type RecordOf func(s *gitstore.Saved, warnings []string) any

// Finish prints the saved checkpoint and pushes it. The id is printed first, because
// the push can take long. With --json the push comes first, so that the record contains
// its warnings.
func Finish(c *invoke.Invocation, s *gitstore.Saved, record RecordOf) error {
	if !pushing.Wanted(c) || c.Flags.Bool("dry-run") {
		return showSaved(c, s, record)
	}
	if c.JSON {
		pushing.Saved(c, s.Issue, !c.Flags.IsSet("push"))
		return showSaved(c, s, record)
	}
	err := showSaved(c, s, record)
	pushing.Saved(c, s.Issue, !c.Flags.IsSet("push"))
	return err
}

func showSaved(c *invoke.Invocation, s *gitstore.Saved, record RecordOf) error {
	for _, w := range Warnings(c, s) {
		c.Warnf("%s", w)
	}
	if c.JSON {
		return c.WriteJSON(record(s, c.TakeWarnings()))
	}
	if c.Common.Verbose && len(s.Pruned) > 0 {
		c.Infof("pruned: %s", strings.Join(phrase.Strings(s.Pruned), ", "))
	}
	tellLimit(c, s)
	c.Printf("%s\n", s.ID)
	return nil
}

// Warnings returns the warnings of a successful save.
func Warnings(c *invoke.Invocation, s *gitstore.Saved) []string {
	list := s.Warnings
	if !s.Trigger.Known() {
		list = append(list, fmt.Sprintf("trigger %s is not known: retention keeps its checkpoints", s.Trigger))
	}
	if problem := unknownPhase(s.Record, judge.Rules(c)); problem != "" {
		list = append(list, problem)
	}
	for _, p := range s.Record.Validate() {
		if !p.Warning {
			list = append(list, fmt.Sprintf("%s; resume refuses such a record", p))
			break // verify reports the other problems
		}
	}
	for _, f := range s.Record.Snapshot().Skipped {
		list = append(list, skippedWarning(f))
	}
	if c.Store.Pending(c.Ctx) {
		list = append(list, "a restore was interrupted: git checkpoint restore --continue or --abort")
	} else if lock := c.Store.StaleIndexLock(); lock != "" {
		list = append(list, fmt.Sprintf("a killed restore left %s: git checkpoint restore --abort removes it", phrase.QuotePath(lock)))
	}
	return list
}

func skippedWarning(f checkpoint.Skipped) string {
	if f.Path == "." {
		return fmt.Sprintf("files are not in the checkpoint: %s", f.Reason)
	}
	return fmt.Sprintf("%s is not in the checkpoint: %s, %d bytes", phrase.QuotePath(f.Path), f.Reason, f.Size)
}

// tellLimit prints the setting that admits the files above the size limit.
func tellLimit(c *invoke.Invocation, s *gitstore.Saved) {
	over := int64(0)
	for _, f := range s.Record.Snapshot().Skipped {
		if f.Reason == checkpoint.OverSize {
			over += f.Size
		}
	}
	if over > 0 {
		c.Infof("hint: git config checkpoint.storage.max-size-mb %d", int64(c.Settings.Int("storage.max_size_mb"))+over>>20+1)
	}
}

// Record returns the JSON record of a save.
func Record(kind string, s *gitstore.Saved, warnings []string) output.Save {
	return output.Save{
		Type: kind, CheckpointID: string(s.ID), Issue: string(s.Issue), Commit: s.Commit.String(), Ref: s.Ref,
		Trigger: string(s.Trigger), Phase: s.Phase, CreatedAt: s.Record.CreatedAt(), Files: s.Files,
		Pruned: phrase.Strings(s.Pruned), Warnings: warnings,
	}
}
