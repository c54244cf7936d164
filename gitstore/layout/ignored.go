package layout

import (
	"path"
	"strings"
)

// Ignored returns the reason why a file in a layout's folder is not a document, based
// only on its name. The result is "" for a possible document.
func Ignored(file string) string {
	base := strings.ToLower(path.Base(file))
	switch ext := path.Ext(base); {
	case ext == ".lock" || ext == ".pid":
		return "a lock"
	case ext == ".tmp", strings.HasPrefix(base, ".tmp"), strings.HasSuffix(base, ".partial"):
		return "the remains of a write that was interrupted"
	case strings.Contains(base, "backup"), ext == ".bak", ext == ".migrated", strings.HasSuffix(base, "~"):
		return "a backup"
	case ext == ".jsonl":
		return "a journal, not a checkpoint"
	case ext == ".template":
		return "a template"
	case ext != ".json" && ext != ".yaml" && ext != ".yml":
		return "neither JSON nor YAML by its name"
	}
	return ""
}
