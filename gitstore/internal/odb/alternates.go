package odb

import (
	"os"
	"path/filepath"
	"strings"
)

// maxAlternates is the maximum depth of nested alternates. Git ignores alternates that
// are nested deeper.
const maxAlternates = 6

// all returns the objects directories, the repository's own directory first.
func (s *Database) all() []*source {
	s.open.Do(func() {
		seen := make(map[string]bool)
		s.sources = s.add(nil, seen, s.cfg.Dir, 0)
		for _, dir := range s.cfg.Alternates {
			s.sources = s.add(s.sources, seen, dir, 1)
		}
	})
	return s.sources
}

// add appends dir and its alternates to list, each directory once.
func (s *Database) add(list []*source, seen map[string]bool, dir string, depth int) []*source {
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
	list = append(list, &source{dir: dir})
	data, err := os.ReadFile(filepath.Join(dir, "info", "alternates"))
	if err != nil {
		return list
	}
	for _, alt := range parseAlternates(string(data), "\n") {
		if !filepath.IsAbs(alt) {
			alt = filepath.Join(key, alt)
		}
		list = s.add(list, seen, alt, depth+1)
	}
	return list
}

// SplitAlternates splits the value of GIT_ALTERNATE_OBJECT_DIRECTORIES. Entries may have
// C-style quotes.
func SplitAlternates(value string) []string {
	return parseAlternates(value, string(os.PathListSeparator))
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
		case i+3 < len(s) && isOctal(s[i+1:i+4]):
			b.WriteByte((s[i+1]-'0')<<6 | (s[i+2]-'0')<<3 | (s[i+3] - '0'))
			i += 3
		default:
			return "", s, false
		}
	}
	return "", s, false
}

func isOctal(s string) bool {
	return s[0] >= '0' && s[0] <= '3' && s[1] >= '0' && s[1] <= '7' && s[2] >= '0' && s[2] <= '7'
}
