package odb

import (
	"os"
	"strings"
)

// JoinAlternates returns the value of GIT_ALTERNATE_OBJECT_DIRECTORIES for directories.
func JoinAlternates(dirs []string) string {
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	words := make([]string, len(dirs))
	for i, dir := range dirs {
		words[i] = dir
		if strings.Contains(dir, string(os.PathListSeparator)) || strings.HasPrefix(dir, `"`) || strings.HasPrefix(dir, "#") {
			words[i] = `"` + quote.Replace(dir) + `"`
		}
	}
	return strings.Join(words, string(os.PathListSeparator))
}
