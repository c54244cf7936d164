package commands

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"git-checkpoint/commands/atomicfile"
	"git-checkpoint/gitstore/layout"
)

// excludeFolder has git ignore a folder of files that are made of checkpoints,
// in this clone alone, unless some of it is tracked. It is no failure where it
// cannot be done.
func (c *Invocation) excludeFolder(folder string) {
	if strings.ContainsFunc(folder, unicode.IsControl) {
		return // it would be several lines
	}
	line := excludeLine(folder)
	file := filepath.Join(c.store.CommonDir(), "info", "exclude")
	f, err := atomicfile.Read(file)
	if err != nil || slices.Contains(strings.Split(f.Text, "\n"), line) {
		return
	}
	pattern := strings.ReplaceAll(folder, "{issue_number}", "*")
	tracked, err := c.store.Git().Output(c.ctx, "ls-files", "-z", "--", ":(top,glob)"+strings.ReplaceAll(pattern, "{issue}", "*")+"/**")
	if err != nil || len(tracked) > 0 {
		return
	}
	if f.Text != "" && !strings.HasSuffix(f.Text, "\n") {
		line = "\n" + line
	}
	if _, err := c.keepFormer(f); err == nil {
		_ = f.Write(f.Text + line + "\n") // another process may have changed it: the next command tries again
	}
}

// keepFormer stores a copy of a file that is about to change, and returns its
// path.
func (c *Invocation) keepFormer(f atomicfile.Replacement) (string, error) {
	return atomicfile.Keep(filepath.Join(c.store.CommonDir(), "git-checkpoint", "before"), f)
}

// excludeLine is the pattern of a folder in git's exclude file.
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

// folderPattern is where a layout's files are, with the placeholders of
// storage.location.
func (c *Invocation) folderPattern(as layout.Name) string {
	if as == layout.Crunch {
		return filepath.ToSlash(filepath.Clean(c.settings.String("storage.location")))
	}
	return layout.Folder(as, "")
}
