package codec

import (
	"path"
	"strings"
)

// FileName returns a safe file name for a text from a document.
func FileName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) || r == 0x7f {
			return '_'
		}
		return r
	}, s)
	if s = strings.TrimLeft(s, ". "); s == "" || len(s) > 200 {
		return "checkpoint.json"
	}
	return s
}

// pointer returns the name in a file that contains only another file's name. Such files
// replace symbolic links.
func pointer(data []byte) string {
	s := strings.Trim(strings.TrimSpace(string(data)), `"`)
	ext := path.Ext(s)
	if len(s) > 200 || strings.ContainsAny(s, "\n{}:[]") || ext != ".json" && ext != ".yaml" {
		return ""
	}
	return s
}
