package commands

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"git-checkpoint/gitstore/layout"
)

// excludeFolder has git ignore a folder of files that are made of checkpoints,
// in this clone alone, unless some of it is tracked. It is no failure where it
// cannot be done.
func (c *call) excludeFolder(folder string) {
	if strings.ContainsFunc(folder, unicode.IsControl) {
		return // it would be several lines
	}
	line := excludeLine(folder)
	file := filepath.Join(c.store.CommonDir(), "info", "exclude")
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) || slices.Contains(strings.Split(string(data), "\n"), line) {
		return
	}
	pattern := strings.ReplaceAll(folder, "{issue_number}", "*")
	tracked, err := c.store.Git().Output(c.ctx, "ls-files", "-z", "--", ":(top,glob)"+strings.ReplaceAll(pattern, "{issue}", "*")+"/**")
	if err != nil || len(tracked) > 0 {
		return
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		line = "\n" + line
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.WriteString(line + "\n")
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
func (c *call) folderPattern(as layout.Name) string {
	if as == layout.Crunch {
		return filepath.ToSlash(filepath.Clean(c.settings.String("storage.location")))
	}
	return layout.Folder(as, "")
}
