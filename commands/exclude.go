package commands

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"git-checkpoint/commands/atomicfile"
	"git-checkpoint/gitstore/layout"
)

// excludeFolder adds a generated folder to .git/info/exclude, unless a file in it is
// tracked. Errors are ignored.
func (c *Invocation) excludeFolder(folder string) {
	if strings.ContainsFunc(folder, unicode.IsControl) {
		return // a control character could add lines
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
		_ = f.Write(f.Text + line + "\n") // if another process has changed the file, the next command tries again
	}
}

// keepFormer stores a copy before a file changes and returns the copy's path.
func (c *Invocation) keepFormer(f atomicfile.Replacement) (string, error) {
	return atomicfile.Keep(filepath.Join(c.store.CommonDir(), "git-checkpoint", "before"), f)
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

// folderPattern returns the folder of a layout's files, with the placeholders of
// storage.location.
func (c *Invocation) folderPattern(as layout.Name) string {
	if as == layout.Crunch {
		return filepath.ToSlash(filepath.Clean(c.settings.String("storage.location")))
	}
	return layout.Folder(as, "")
}
