package work

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
)

// OpenToSave opens the repository for an immediate save.
func OpenToSave(c *invoke.Invocation) error {
	c.Needs.WillSave = true
	return c.Open()
}

// SaveRequest returns the request of a save.
func SaveRequest(c *invoke.Invocation, issue checkpoint.Issue, trigger checkpoint.Trigger, o *SaveOptions, in SaveInput) (gitstore.SaveRequest, error) {
	req := gitstore.SaveRequest{
		Issue: issue, Branch: c.DetachedBranch(),
		IfChanged: o.IfChanged, DryRun: o.DryRun, DropInvalid: dropsInvalid(trigger, in),
		Keep:   in.Doc != nil && in.Doc.Whole(),
		Redact: gitstore.RedactWarn,
		Allow:  c.Settings.Strings("scan_allow"),
	}
	// The export of a document of another system has to equal its import.
	if c.Settings.String("redact") == "mask" && in.Doc == nil {
		req.Redact = gitstore.RedactMask
	}
	ChooseFiles(c, &req, o.Staged)
	if c.Settings.Bool("auto_prune") && !o.NoPrune {
		req.Retention = c.Settings.Policy()
	}
	var err error
	if req.Artifacts, err = ArtifactPaths(c, o.Artifacts, in.Artifacts...); err != nil {
		return req, err
	}
	req.Edit, err = editor(c, issue, trigger, o, in)
	return req, err
}

// ChooseFiles makes a request take the whole state of the work: index, modified tracked files
// and untracked files; with staged, the index only. It sets the limits of the settings.
func ChooseFiles(c *invoke.Invocation, req *gitstore.SaveRequest, staged bool) {
	req.Staged = staged || c.Store.Root() == ""
	req.Automatic = c.Env.InHook || c.Line.Name == "run"
	req.MaxSize = int64(c.Settings.Int("limits.checkpoint_mb")) << 20
	req.MaxFile = int64(c.Settings.Int("limits.file_kb")) << 10
	req.MaxUntracked = c.Settings.Int("limits.untracked_files")
	req.Budget = time.Duration(c.Settings.Int("limits.capture_ms")) * time.Millisecond
}

// dropsInvalid reports whether a save leaves out invalid values with a warning instead of
// failing. A hook or an ended command does not repeat an automatic save.
func dropsInvalid(t checkpoint.Trigger, in SaveInput) bool {
	return t != checkpoint.Manual && in.Doc == nil && in.Begin == nil && in.Move == nil
}

// ArtifactPaths returns the paths of --artifact relative to the root, after the given paths.
func ArtifactPaths(c *invoke.Invocation, names []string, paths ...string) ([]string, error) {
	paths = slices.Clone(paths)
	for _, name := range names {
		p, err := c.RootPath(name)
		if err == nil {
			err = gitstore.CheckPlace(p)
		}
		if err != nil {
			return nil, failure.Usagef("%s: --artifact: %w", c.Line.Name, err)
		}
		paths = append(paths, p)
	}
	return paths, nil
}

// Enable returns the command that enables checkpoints.
func Enable(c *invoke.Invocation) string {
	if strings.HasPrefix(c.Settings.Origin("enabled"), "environment ") {
		return "unset GIT_CHECKPOINT_ENABLED"
	}
	return "git config checkpoint.enabled true"
}

// A SaveRecordOf returns the JSON record of a command that saved a checkpoint.
type SaveRecordOf func(s *gitstore.Saved, warnings []string) any

// FinishSave prints the saved checkpoint and pushes it. The id is printed first, because
// the push can take long. With --json the push comes first, so that the record contains
// its warnings. If a required push fails, so does FinishSave.
func FinishSave(c *invoke.Invocation, s *gitstore.Saved, push invoke.Optional, record SaveRecordOf) error {
	if s.DryRun || !WantsPush(c, push) {
		return ShowSaved(c, s, record)
	}
	if c.Line.JSON {
		failed := PushSaved(c, s.Issue, push)
		return cmp.Or(ShowSaved(c, s, record), failed)
	}
	err := ShowSaved(c, s, record)
	return cmp.Or(err, PushSaved(c, s.Issue, push))
}

// SaveWarnings returns the warnings of a successful save.
func SaveWarnings(c *invoke.Invocation, s *gitstore.Saved) []string {
	list := s.Warnings
	if !s.Trigger.Known() {
		text := fmt.Sprintf("unknown trigger %s: retention keeps all its checkpoints", s.Trigger)
		if near := invoke.Nearest(string(s.Trigger), view.Strings(checkpoint.Triggers())); near != "" {
			text += "; did you mean " + near + "?"
		}
		list = append(list, text)
	}
	if problem := unknownPhase(s.Record, VerdictRules(c, JudgeOptions{})); problem != "" {
		list = append(list, problem)
	}
	list = append(list, LeftOutTexts(s.Record.Snapshot().Skipped)...)
	for _, name := range []string{"rebase-merge/autostash", "rebase-apply/autostash", "MERGE_AUTOSTASH"} {
		if commit, err := os.ReadFile(filepath.Join(c.Store.GitDir(), filepath.FromSlash(name))); err == nil {
			list = append(list, fmt.Sprintf("the edits in the autostash %.12s are not in the checkpoint; git applies them at the end, and git stash show -p %[1]s prints them", strings.TrimSpace(view.Clean(string(commit)))))
		}
	}
	if c.Store.Restorer.Pending(c.Ctx) {
		list = append(list, "a restore was interrupted: git checkpoint restore --continue or --abort")
	} else if lock := c.Store.Restorer.StaleIndexLock(); lock != "" {
		list = append(list, fmt.Sprintf("a killed restore left %s: git checkpoint restore --abort removes it", view.QuotePath(lock)))
	}
	return list
}

// SaveRecord returns the JSON record of a save. The id and the commit of a dry run exist
// nowhere, so they are left out.
func SaveRecord(kind string, s *gitstore.Saved, warnings []string) view.Save {
	record := view.Save{
		Type: kind, DryRun: s.DryRun, Issue: string(s.Issue), Ref: s.Ref,
		Trigger: string(s.Trigger), Phase: s.Phase, CreatedAt: s.Record.CreatedAt(), Files: s.Files,
		Pruned: view.Strings(s.Pruned), Warnings: warnings,
	}
	snapshot := s.Record.Snapshot()
	record.Scope = string(snapshot.Scope)
	record.LeftOut = snapshot.Skipped
	if !s.DryRun {
		record.CheckpointID, record.Commit = string(s.ID), s.Commit.String()
	}
	return record
}

// ShowSaved prints the saved checkpoint, or its JSON record.
func ShowSaved(c *invoke.Invocation, s *gitstore.Saved, record SaveRecordOf) error {
	for _, text := range s.Dropped {
		c.WarnAlways("%s", text) // a hook prints it
	}
	for _, w := range SaveWarnings(c, s) {
		c.Warnf("%s", w)
	}
	if c.Line.JSON {
		return c.WriteJSON(record(s, c.TakeWarnings()))
	}
	if s.DryRun {
		c.SkipIssue()
		c.Printf("would save a checkpoint of issue %s (%s) with %s\n", view.Clean(string(s.Issue)), s.Trigger, view.Plural(s.Files, "file"))
		for _, id := range s.Pruned {
			c.Printf("would prune %s\n", id)
		}
		return nil
	}
	if c.Line.Common.Verbose && len(s.Pruned) > 0 {
		c.Infof("pruned: %s", strings.Join(view.Strings(s.Pruned), ", "))
	}
	tellLimit(c, s)
	c.Printf("%s\n", s.ID)
	return nil
}

// tellLimit prints the settings that admit the files above the size limits.
func tellLimit(c *invoke.Invocation, s *gitstore.Saved) {
	over, largest := int64(0), int64(0)
	for _, f := range s.Record.Snapshot().Skipped {
		if f.Reason == checkpoint.OverSize {
			over += f.Size
		}
		if f.IsTooLarge() {
			largest = max(largest, f.Size)
		}
	}
	if largest > 0 {
		c.Infof("hint: git config checkpoint.limits.file-kb %d", (largest+1023)>>10)
	}
	if over > 0 {
		c.Infof("hint: git config checkpoint.limits.checkpoint-mb %d", int64(c.Settings.Int("limits.checkpoint_mb"))+over>>20+1)
	}
}

// WarnLeftOut warns about the files that a checkpoint lacks.
func WarnLeftOut(c *invoke.Invocation, s *gitstore.Saved) {
	for _, text := range LeftOutTexts(s.Record.Snapshot().Skipped) {
		c.Warnf("%s", text)
	}
}

// LeftOutTexts returns one text for each file that a save did not capture. More than fewLeftOut
// files with the same reason have one text together.
func LeftOutTexts(skipped []checkpoint.Skipped) (texts []string) {
	alike := map[string][]checkpoint.Skipped{}
	for _, f := range skipped {
		if f.Reason != checkpoint.NotListed { // a setting of the user
			alike[f.Reason] = append(alike[f.Reason], f)
		}
	}
	for _, f := range skipped {
		group := alike[f.Reason]
		delete(alike, f.Reason)
		if len(group) <= fewLeftOut {
			for _, f := range group {
				texts = append(texts, skippedWarning(f))
			}
			continue
		}
		paths := make([]string, len(group))
		for i, f := range group {
			paths[i] = view.QuotePath(f.Path)
		}
		few := strings.Join(view.Few(paths, fewLeftOut), ", ")
		texts = append(texts, fmt.Sprintf("%d paths are not in the checkpoint: %s: %s", len(group), few, f.Reason))
	}
	return texts
}

const fewLeftOut = 3

func skippedWarning(f checkpoint.Skipped) string {
	if f.Path == "." {
		return fmt.Sprintf("files are not in the checkpoint: %s", f.Reason)
	}
	if f.Reason == checkpoint.ChangedSubmodule {
		return fmt.Sprintf("submodule %s has commits or changes of its own, which are not in the checkpoint: save them in the submodule", view.QuotePath(f.Path))
	}
	text := fmt.Sprintf("%s is not in the checkpoint: %s", view.QuotePath(f.Path), f.Reason)
	if f.Size > 0 {
		text += fmt.Sprintf(", %d bytes", f.Size)
	}
	return text + view.CarriedText(f)
}

// newSession returns a random UUID (RFC 9562, version 4).
func newSession() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
