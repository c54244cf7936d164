package work

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"git-checkpoint/commands/internal/atomicfile"
	"git-checkpoint/commands/internal/config"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/claude"
	"git-checkpoint/gitstore/layout/crunch"
	"git-checkpoint/gitstore/retention"
)

// RecordsToExport returns the records to write, oldest first: all readable records for
// crunch, the newest record for other layouts. Temporary read errors, such as missing
// file descriptors or disk errors, are returned.
func RecordsToExport(c *invoke.Invocation, issue checkpoint.Issue, as layout.Name) ([]*checkpoint.Record, error) {
	_, newest, err := c.Store.NewestValid(c.Ctx, issue)
	if err != nil || as != crunch.Name {
		return []*checkpoint.Record{newest}, err
	}
	l, err := c.Store.List(c.Ctx, issue, 0)
	if err != nil {
		return nil, err
	}
	var records []*checkpoint.Record
	for i := range l.Checkpoints {
		r, err := c.Store.Record(&l.Checkpoints[i])
		if atomicfile.IsPassing(err) {
			return nil, fmt.Errorf("export: read %s: %w", l.Checkpoints[i].ID, err)
		}
		if err != nil {
			c.Warnf("%s is left out: %v", l.Checkpoints[i].ID, err)
			continue
		}
		records = append(records, r)
	}
	slices.Reverse(records)
	return records, nil
}

// IsFailure reports whether an archived checkpoint belongs to a workflow that failed. In
// the claude system this includes what a user archived or abandoned: all three are moved
// to its folder failed.
func IsFailure(as layout.Name, cp *gitstore.Checkpoint) bool {
	switch cp.Filed.Why {
	case retention.ReasonFailed:
		return true
	case retention.ReasonAbandoned, retention.ReasonAsked:
		return as == claude.Name
	}
	return false
}

// ExcludeFolder adds a generated folder to .git/info/exclude, unless a file in it is
// tracked. Errors are ignored.
func ExcludeFolder(c *invoke.Invocation, folder string) {
	if strings.ContainsFunc(folder, unicode.IsControl) {
		return // a control character could add lines
	}
	line := excludeLine(folder)
	file := filepath.Join(c.Store.CommonDir(), "info", "exclude")
	f, err := atomicfile.Read(file)
	if err != nil || slices.Contains(strings.Split(f.Text, "\n"), line) {
		return
	}
	pattern := strings.ReplaceAll(folder, "{issue_number}", "*")
	tracked, err := c.Store.Git().Output(c.Ctx, "ls-files", "-z", "--", ":(top,glob)"+strings.ReplaceAll(pattern, "{issue}", "*")+"/**")
	if err != nil || len(tracked) > 0 {
		return
	}
	if f.Text != "" && !strings.HasSuffix(f.Text, "\n") {
		line = "\n" + line
	}
	if _, err := KeepFormer(c, f); err == nil {
		_ = f.Write(f.Text + line + "\n") // if another process has changed the file, the next command tries again
	}
}

// KeepFormer stores a copy before a file changes and returns the copy's path.
func KeepFormer(c *invoke.Invocation, f atomicfile.Replacement) (string, error) {
	return atomicfile.Keep(filepath.Join(c.Store.CommonDir(), "git-checkpoint", "before"), f)
}

// excludeLine returns the gitignore pattern of a folder.
func excludeLine(folder string) string {
	var b strings.Builder
	for _, r := range folder {
		if strings.ContainsRune(`\*?[]! #`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return "/" + strings.NewReplacer("{issue}", "*", "{issue_number}", "*").Replace(b.String()) + "/"
}

// FolderPattern returns the folder of a layout's files, with the placeholders of
// storage.location.
func FolderPattern(c *invoke.Invocation, as layout.Name) string {
	if as == crunch.Name {
		return filepath.ToSlash(filepath.Clean(c.Settings.String("storage.location")))
	}
	return layout.Find(as).Folder
}

// LayoutFolder returns the folder of an issue's files in a layout, with slashes. It is
// below the root, unless trusted settings name another folder.
func LayoutFolder(c *invoke.Invocation, as layout.Name, issue checkpoint.Issue) string {
	if as != crunch.Name {
		return layout.Find(as).Folder
	}
	return path.Clean(filepath.ToSlash(config.Expand(c.Settings.String("storage.location"), issue.RefName())))
}

// WithPath replaces the base name in an error about a document by the path of its file.
func WithPath(err error, path string) error {
	var invalid *layout.InvalidError
	var unknown *layout.UnknownDocumentError
	var version *layout.VersionError
	switch {
	case path == "":
	case errors.As(err, &invalid):
		invalid.File = path
	case errors.As(err, &unknown):
		unknown.File = path
	case errors.As(err, &version):
		version.File = path
	}
	return err
}

// Breaks returns an error if a document breaks rules. With --strict, warnings count as
// errors too.
func Breaks(f *layout.File, strict bool) error {
	if err := f.Err(false); err != nil {
		return err
	}
	if err := f.Err(strict); err != nil {
		return failure.Errorf(failure.Stale, "", "%w", err)
	}
	return nil
}

// Accept returns an error if a document breaks rules, and prints its other problems as
// warnings.
func Accept(c *invoke.Invocation, f *layout.File, strict bool) error {
	if err := Breaks(f, strict); err != nil {
		return err
	}
	for _, p := range f.Problems {
		c.Warnf("%s", p)
	}
	return nil
}
