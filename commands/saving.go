package commands

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/commands/config"
	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"
)

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
			return nil, exit.Usagef("save: --artifact: %w", err)
		}
		paths = append(paths, p)
	}
	return paths, nil
}

// enable returns the command that enables checkpoints.
func (c *Invocation) enable() string {
	if strings.HasPrefix(c.settings.Origin("enabled"), "environment ") {
		return "unset GIT_CHECKPOINT_ENABLED"
	}
	return "git config checkpoint.enabled true"
}

// newSession returns a random UUID (RFC 9562, version 4).
func newSession() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
