// Package saving reads the flags of a save, saves a checkpoint and reports the result.
package saving

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/commands/internal/config"
	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"
)

// Open opens the repository for an immediate save. Invalid settings are an error
// for a manual save, because a person can correct them. For other triggers they are a
// warning, so that the checkpoint is not lost.
func Open(c *invoke.Invocation, trigger checkpoint.Trigger) error {
	c.WillSave = true
	return OpenFor(c, trigger)
}

// OpenFor opens the repository. Invalid settings are only a warning for automatic triggers.
func OpenFor(c *invoke.Invocation, trigger checkpoint.Trigger) error {
	err := c.Open()
	var setting *config.SettingError
	if errors.As(err, &setting) && trigger != checkpoint.Manual {
		c.Warnf("%v", err)
		return nil
	}
	return err
}

// Request reads the flags of a save.
func Request(c *invoke.Invocation, issue checkpoint.Issue, trigger checkpoint.Trigger, in Input) (gitstore.SaveRequest, error) {
	req := gitstore.SaveRequest{
		Issue: issue, Branch: c.CIBranch(),
		Worktree: c.Flags.Bool("worktree"), Untracked: c.Flags.Bool("untracked"),
		MaxSize:   int64(c.Settings.Int("storage.max_size_mb")) << 20,
		MaxFile:   int64(c.Settings.Int("storage.max_file_kb")) << 10,
		Budget:    time.Duration(c.Settings.Int("storage.budget_ms")) * time.Millisecond,
		IfChanged: c.Flags.Bool("if-changed"), DryRun: c.Flags.Bool("dry-run"),
		Keep:   in.Doc != nil && in.Doc.Whole(),
		Redact: redaction(c, in.Doc),
		Allow:  c.Settings.Strings("scan_allow"),
	}
	if c.Settings.Bool("auto_prune") && !c.Flags.Bool("no-prune") {
		req.Retention = c.Settings.Policy()
	}
	var err error
	if req.Artifacts, err = ArtifactPaths(c, in.Artifacts...); err != nil {
		return req, err
	}
	req.Edit, err = editor(c, issue, trigger, in)
	return req, err
}

// redaction returns how a save treats secrets in the record. A document of another system
// is never masked, because its export has to equal its import.
func redaction(c *invoke.Invocation, doc *layout.File) gitstore.Redaction {
	if c.Settings.String("redact") == "mask" && doc == nil {
		return gitstore.RedactMask
	}
	return gitstore.RedactWarn
}

// ArtifactPaths returns some files and the named files relative to the root.
func ArtifactPaths(c *invoke.Invocation, paths ...string) ([]string, error) {
	paths = slices.Clone(paths)
	for _, name := range c.Lists["artifact"] {
		p, err := c.RootPath(name)
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

// Enable returns the command that enables checkpoints.
func Enable(c *invoke.Invocation) string {
	if strings.HasPrefix(c.Settings.Origin("enabled"), "environment ") {
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
