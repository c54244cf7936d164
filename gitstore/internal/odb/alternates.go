package odb

import (
	"os"
	"path/filepath"
	"strings"
)

// maxAlternates is the maximum depth of nested alternates. Git ignores alternates that
// are nested deeper.
const maxAlternates = 6

// Directories returns an object directory and all its alternates, also nested ones.
// alternates are the directories of GIT_ALTERNATE_OBJECT_DIRECTORIES. Like git, it ignores
// missing alternates.
func Directories(dir string, alternates []string) []string {
	seen := make(map[string]bool)
	list := addDirectory(nil, seen, dir, 0)
	for _, alt := range alternates {
		list = addDirectory(list, seen, alt, 1)
	}
	return list
}

// addDirectory appends dir and its alternates to list, each directory once.
func addDirectory(list []string, seen map[string]bool, dir string, depth int) []string {
	key := dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		key = real
	} else if depth > 0 {
		return list // git ignores missing alternates
	}
	if depth > maxAlternates || seen[key] {
		return list
	}
	seen[key] = true
	list = append(list, dir)
	data, err := os.ReadFile(filepath.Join(dir, "info", "alternates"))
	if err != nil {
		return list
	}
	for _, alt := range parseAlternates(string(data), "\n") {
		if !filepath.IsAbs(alt) {
			alt = filepath.Join(key, alt)
		}
		list = addDirectory(list, seen, alt, depth+1)
	}
	return list
}

// SplitAlternates splits the value of GIT_ALTERNATE_OBJECT_DIRECTORIES. Entries may have
// C-style quotes.
func SplitAlternates(value string) []string {
	return parseAlternates(value, string(os.PathListSeparator))
}

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

// parseAlternates returns the directories in s, which are separated by sep. Lines that
// begin with # are comments. A quoted entry is unquoted; if its quoting is invalid,
// parseAlternates returns it unchanged.
func parseAlternates(s, sep string) []string {
	var dirs []string
	for s != "" {
		var dir string
		if unquoted, rest, ok := unquote(s); ok && (rest == "" || strings.HasPrefix(rest, sep)) {
			dir, s = unquoted, strings.TrimPrefix(rest, sep)
		} else {
			dir, s, _ = strings.Cut(s, sep)
			if strings.HasPrefix(dir, "#") {
				continue
			}
		}
		if dir != "" {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

var escapes = map[byte]byte{
	'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '\\': '\\', '"': '"',
}

// unquote decodes a C-style quoted string at the start of s and returns the remaining
// text in rest.
func unquote(s string) (value, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", s, false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:], true
		case c != '\\':
			b.WriteByte(c)
		case i+1 < len(s) && escapes[s[i+1]] != 0:
			i++
			b.WriteByte(escapes[s[i]])
		case i+3 < len(s) && s[i+1] >= '0' && s[i+1] <= '3' && strings.Trim(s[i+2:i+4], "01234567") == "":
			b.WriteByte((s[i+1]-'0')<<6 | (s[i+2]-'0')<<3 | (s[i+3] - '0'))
			i += 3
		default:
			return "", s, false
		}
	}
	return "", s, false
}
