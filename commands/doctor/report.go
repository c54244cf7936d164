package doctor

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/trace"
)

// report writes what a bug report needs to standard output: versions, the repository, settings
// that are not defaults, sizes, findings of doctor and the end of the last trace. It has no
// content and no value that names a place or a person. The trace names refs, and so issues.
func report(c *invoke.Invocation, result view.Doctor) error {
	version, err := gitstore.InstalledGitVersion()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c.Printf("git-checkpoint: %s\n", cmp.Or(programVersion(c, self), "unknown"))
	c.Printf("git: %d.%d\n", version[0], version[1])
	c.Printf("repository: %s\n", strings.Join(c.Store.Doctor.Features(), ", "))
	for _, s := range c.Settings.All() { // without the values of texts
		if c.Settings.IsDefault(s.Key) {
			continue
		}
		value := "(not shown)"
		if c.Settings.IsPlain(s.Key) {
			value = s.Value
		}
		origin := "a file" // without its path
		for _, kind := range []string{"environment", "flag", "git"} {
			if strings.HasPrefix(s.Origin, kind) {
				origin = kind
			}
		}
		c.Printf("setting %s: %s, from %s\n", s.Key, view.Clean(value), origin)
	}
	live, strange, err := c.Store.Issues(c.Ctx, false)
	if err != nil {
		return err
	}
	archived, _, err := c.Store.Issues(c.Ctx, true)
	if err != nil {
		return err
	}
	o, err := c.Store.Doctor.ObjectCounts(c.Ctx)
	if err != nil {
		return err
	}
	c.Printf("issues: %d, archived %d, refs that are no issue %d\n", len(live), len(archived), len(strange))
	c.Printf("checkpoints: %d\n", result.Checked)
	c.Printf("objects: %s, %s\n", view.Plural(o.Loose, "loose object"), view.Plural(o.Packs, "pack"))
	c.Printf("doctor: %s, %s\n", view.Plural(len(result.Errors), "error"), view.Plural(len(result.Warnings), "warning"))
	name := c.Env.Getenv(trace.Variable)
	if !filepath.IsAbs(name) {
		c.Printf("\nno trace: repeat the slow or failing command with %s=/tmp/trace, and then this report with the same variable\n", trace.Variable)
		return nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("doctor: read the trace: %w", err)
	}
	if len(data) > traceEnd {
		_, data, _ = bytes.Cut(data[len(data)-traceEnd:], []byte("\n"))
	}
	c.Printf("\ntrace:\n%s", view.CleanBlock(string(data)))
	return nil
}

// traceEnd is the number of bytes of a trace that a report has.
const traceEnd = 64 << 10
