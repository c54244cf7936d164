package commands

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/commands/config"
	"git-checkpoint/commands/output"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/layout"

	"github.com/urfave/cli/v2"
)

var saveCommand = command{
	name: "save", usage: "record a checkpoint, then apply retention to its issue", args: "[ISSUE]", max: 1,
	category: "Record",
	examples: []string{
		"git checkpoint save 42 -m 'before the refactoring'",
		"git checkpoint save --trigger batch_complete --phase implementing --batch 2",
		"git checkpoint save --as pipeline --from .pipeline/checkpoint-PROJ-42.json",
		"git checkpoint save 42 --set progress.total=5 --state state.yaml --artifact build/report.html",
	},
	mayBeEmpty: []string{"phase", "message", "session", "resume-from"},
	description: "Commits the workflow's record and a snapshot of the staging area to\n" +
		"refs/checkpoints/<issue>, and prints the checkpoint's id. Nothing else changes:\n" +
		"not HEAD, not the branch, not the index, not the worktree.",
	flags: saveFlags,
	run:   runSave,
}

func saveFlags() []cli.Flag {
	return append(append(contentFlags(), documentFlags()...),
		&cli.BoolFlag{Name: "no-prune", Usage: "leave retention for later"},
		&cli.BoolFlag{Name: "if-changed", Usage: "save nothing when nothing changed since the newest one"},
		&cli.BoolFlag{Name: "dry-run", Usage: "do everything but write"},
		pushFlag(),
	)
}

// contentFlags returns the flags that set the content of a checkpoint.
func contentFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "trigger", Usage: "what `TRIGGER` led to this checkpoint", Value: string(checkpoint.Manual)},
		&cli.StringFlag{Name: "phase", Usage: "the workflow's current `PHASE`"},
		&cli.IntFlag{Name: "batch", Usage: "the execution batch `N` that the trigger speaks of"},
		&cli.StringFlag{Name: "agent", Usage: "the `AGENT` that did something, with --action"},
		&cli.StringFlag{Name: "action", Usage: "the `ACTION` that the agent completed"},
		&cli.StringFlag{Name: "conflict", Usage: "the conflict `ID` that began or was resolved"},
		&cli.StringFlag{Name: "session", Usage: "the session `UUID`"},
		&cli.StringFlag{Name: "message", Aliases: []string{"m"}, Usage: "a `NOTE` for people"},
		&cli.StringFlag{Name: "summary", Usage: "what the work came to so far, as `TEXT` for who goes on"},
		&cli.StringSliceFlag{Name: "decision", Usage: "a decision that stays, as `TEXT`"},
		&cli.StringFlag{Name: "resume-from", Usage: "where to go on, as `TEXT`"},
		&cli.StringFlag{Name: "no-resume", Usage: "this one cannot be resumed, for this `REASON`"},
		&cli.StringFlag{Name: "state", Usage: "merge `FILE` (YAML or JSON, - for standard input) into the record"},
		&cli.StringSliceFlag{Name: "set", Usage: "set `PATH=VALUE` in the record; null deletes"},
		&cli.BoolFlag{Name: "strict", Usage: "refuse a phase that is not known"},
		&cli.BoolFlag{Name: "replace", Usage: "start from an empty record"},
		&cli.StringSliceFlag{Name: "artifact", Usage: "keep the file at `PATH` too, a git-ignored one as well"},
		&cli.BoolFlag{Name: "worktree", Usage: "keep unstaged changes too"},
		&cli.BoolFlag{Name: "untracked", Usage: "keep untracked files too, never ignored ones"},
		&cli.StringFlag{Name: "issue-file", Usage: "read the issue's title, body and labels from `FILE`"},
		&cli.BoolFlag{Name: "no-body", Usage: "keep a digest of the issue's body instead of its text"},
		offlineFlag(),
	}
}

func runSave(c *Invocation) error {
	trigger, err := checkpoint.ParseTrigger(c.flags.String("trigger"))
	if err != nil {
		return usagef("save: --trigger: %w", err)
	}
	in := saveInput{content: true}
	if in.doc, err = c.readDocument(); err != nil {
		return err
	}
	if in.doc != nil && !c.flags.IsSet("trigger") {
		trigger = in.doc.Trigger()
	}
	if err := c.openToSave(trigger); err != nil {
		return err
	}
	issue, err := c.targetIssue(trigger, in.doc)
	if err != nil {
		return err
	}
	if on, why := c.settings.TriggerEnabled(trigger); !on {
		if trigger == checkpoint.Manual {
			return fail(exitRefused, c.enable(), "save: %s", why)
		}
		return c.skipped(issue, why)
	}
	if why := c.tooSoon(issue, trigger, in.doc); why != "" {
		return c.skipped(issue, why)
	}
	req, err := c.saveRequest(issue, trigger, in)
	if err != nil {
		return err
	}
	saved, err := c.store.Save(c.ctx, req)
	if errors.Is(err, gitstore.ErrUnchanged) {
		c.pushMissed(issue)
		return c.skipped(issue, gitstore.ErrUnchanged.Error())
	}
	if taken, before := c.savedBefore(in.doc, err); before {
		return c.skipped(issue, taken.Error())
	}
	if err != nil {
		return err
	}
	return cmp.Or(c.finishSave(saved, recordOfSave), sentBack(in.doc, saved))
}

// targetIssue returns the issue to save to. Automatic triggers require a named issue.
func (c *Invocation) targetIssue(trigger checkpoint.Trigger, doc *layout.File) (checkpoint.Issue, error) {
	if slices.Contains(hasty, trigger) && doc == nil {
		return c.watchedIssue("git checkpoint save ISSUE")
	}
	return c.issueOf(doc)
}

// sentBack returns an error if the saved document has sent its story back too often.
func sentBack(doc *layout.File, s *gitstore.Saved) error {
	if doc == nil || !story.SentBack(s.Record) {
		return nil
	}
	return taskFailure(s.Issue, "", story.Err(s.Record, story.Of(s.Record)))
}

// A recordOf returns the JSON record of a command that saved a checkpoint.
type recordOf func(s *gitstore.Saved, warnings []string) any

func recordOfSave(s *gitstore.Saved, warnings []string) any { return saveRecord("save", s, warnings) }

// finishSave prints the saved checkpoint and pushes it. The id is printed first, because
// the push can take long. With --json the push comes first, so that the record contains
// its warnings.
func (c *Invocation) finishSave(s *gitstore.Saved, record recordOf) error {
	if !c.pushes() || c.flags.Bool("dry-run") {
		return c.showSaved(s, record)
	}
	if c.json {
		c.pushSaved(s.Issue, !c.flags.IsSet("push"))
		return c.showSaved(s, record)
	}
	err := c.showSaved(s, record)
	c.pushSaved(s.Issue, !c.flags.IsSet("push"))
	return err
}

// enable returns the command that enables checkpoints.
func (c *Invocation) enable() string {
	if strings.HasPrefix(c.settings.Origin("enabled"), "environment ") {
		return "unset GIT_CHECKPOINT_ENABLED"
	}
	return "git config checkpoint.enabled true"
}

// openToSave opens the repository for an immediate save. Invalid settings are an error
// for a manual save, because a person can correct them. For other triggers they are a
// warning, so that the checkpoint is not lost.
func (c *Invocation) openToSave(trigger checkpoint.Trigger) error {
	c.willSave = true
	return c.openFor(trigger)
}

func (c *Invocation) openFor(trigger checkpoint.Trigger) error {
	err := c.open()
	var setting *config.SettingError
	if errors.As(err, &setting) && trigger != checkpoint.Manual {
		c.warnf("%v", err)
		return nil
	}
	return err
}

func (c *Invocation) saveRequest(issue checkpoint.Issue, trigger checkpoint.Trigger, in saveInput) (gitstore.SaveRequest, error) {
	req := gitstore.SaveRequest{
		Issue: issue, Branch: c.ciBranch(),
		Worktree: c.flags.Bool("worktree"), Untracked: c.flags.Bool("untracked"),
		MaxSize:   int64(c.settings.Int("storage.max_size_mb")) << 20,
		MaxFile:   int64(c.settings.Int("storage.max_file_kb")) << 10,
		Budget:    time.Duration(c.settings.Int("storage.budget_ms")) * time.Millisecond,
		IfChanged: c.flags.Bool("if-changed"), DryRun: c.flags.Bool("dry-run"),
		Keep:   in.doc != nil && in.doc.Whole(),
		Redact: c.redaction(in.doc),
		Allow:  c.settings.Strings("scan_allow"),
	}
	if c.settings.Bool("auto_prune") && !c.flags.Bool("no-prune") {
		req.Retention = c.settings.Policy()
	}
	var err error
	if req.Artifacts, err = c.artifactPaths(in.artifacts...); err != nil {
		return req, err
	}
	req.Edit, err = c.editor(issue, trigger, in)
	return req, err
}

// redaction returns how a save treats secrets in the record. A document of another system
// is never masked, because its export has to equal its import.
func (c *Invocation) redaction(doc *layout.File) gitstore.Redaction {
	if c.settings.String("redact") == "mask" && doc == nil {
		return gitstore.RedactMask
	}
	return gitstore.RedactWarn
}

// artifactPaths returns some files and the named files relative to the root.
func (c *Invocation) artifactPaths(paths ...string) ([]string, error) {
	paths = slices.Clone(paths)
	for _, name := range c.lists["artifact"] {
		p, err := c.rootPath(name)
		if err == nil {
			err = gitstore.CheckPlace(p)
		}
		if err != nil {
			return nil, usagef("save: --artifact: %w", err)
		}
		paths = append(paths, p)
	}
	return paths, nil
}

// skipped prints that nothing was saved, and the reason.
func (c *Invocation) skipped(issue checkpoint.Issue, why string) error {
	if c.json {
		return c.write(output.Save{
			Type: "save", Issue: string(issue), Skipped: why, Trigger: c.flags.String("trigger"), Warnings: c.takeWarnings(),
		})
	}
	c.infof("skipped: %s", why)
	return nil
}

func (c *Invocation) showSaved(s *gitstore.Saved, record recordOf) error {
	for _, w := range savedWarnings(c, s) {
		c.warnf("%s", w)
	}
	if c.json {
		return c.write(record(s, c.takeWarnings()))
	}
	if c.flags.Bool("verbose") && len(s.Pruned) > 0 {
		c.infof("pruned: %s", strings.Join(texts(s.Pruned), ", "))
	}
	c.tellLimit(s)
	c.print("%s\n", s.ID)
	return nil
}

// savedWarnings returns the warnings of a successful save.
func savedWarnings(c *Invocation, s *gitstore.Saved) []string {
	list := s.Warnings
	if !s.Trigger.Known() {
		list = append(list, fmt.Sprintf("trigger %s is not known: retention keeps its checkpoints", s.Trigger))
	}
	if problem := unknownPhase(s.Record, c.rules()); problem != "" {
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
	if c.store.Pending(c.ctx) {
		list = append(list, "a restore was interrupted: git checkpoint restore --continue or --abort")
	} else if lock := c.store.StaleIndexLock(); lock != "" {
		list = append(list, fmt.Sprintf("a killed restore left %s: git checkpoint restore --abort removes it", quotePath(lock)))
	}
	return list
}

func skippedWarning(f checkpoint.Skipped) string {
	if f.Path == "." {
		return fmt.Sprintf("files are not in the checkpoint: %s", f.Reason)
	}
	return fmt.Sprintf("%s is not in the checkpoint: %s, %d bytes", quotePath(f.Path), f.Reason, f.Size)
}

// tellLimit prints the setting that admits the files above the size limit.
func (c *Invocation) tellLimit(s *gitstore.Saved) {
	over := int64(0)
	for _, f := range s.Record.Snapshot().Skipped {
		if f.Reason == checkpoint.OverSize {
			over += f.Size
		}
	}
	if over > 0 {
		c.infof("hint: git config checkpoint.storage.max-size-mb %d", int64(c.settings.Int("storage.max_size_mb"))+over>>20+1)
	}
}

// saveRecord returns the JSON record of a save.
func saveRecord(kind string, s *gitstore.Saved, warnings []string) output.Save {
	return output.Save{
		Type: kind, CheckpointID: string(s.ID), Issue: string(s.Issue), Commit: s.Commit.String(), Ref: s.Ref,
		Trigger: string(s.Trigger), Phase: s.Phase, CreatedAt: s.Record.CreatedAt(), Files: s.Files,
		Pruned: texts(s.Pruned), Warnings: warnings,
	}
}

// newSession returns a random UUID (RFC 9562, version 4).
func newSession() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
