package hook

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tailscale/hujson"
)

// A Move is an environment variable whose value replaces a directory in the user's home directory.
type Move struct {
	Variable string
	Dir      string // with slashes, "" for the home directory itself
}

// UserFile returns the path of a file of the agent in the user's home directory. It follows the
// variables that move the agent's files. A relative value depends on the directory in which the
// agent starts, and is an error.
func (a *Agent) UserFile(home, name string, getenv func(string) string) (string, error) {
	for _, m := range a.Moves {
		rest, below := strings.CutPrefix(name, m.Dir)
		to := getenv(m.Variable)
		if to == "" || !below || m.Dir != "" && !strings.HasPrefix(rest, "/") {
			continue
		}
		if after, ok := strings.CutPrefix(to, "~/"); ok {
			to = filepath.Join(home, after)
		}
		if !filepath.IsAbs(to) {
			return "", fmt.Errorf("%s is %q: where %s reads its settings depends on the directory in which it starts", m.Variable, to, a.Name)
		}
		return filepath.Join(to, filepath.FromSlash(rest)), nil
	}
	return filepath.Join(home, filepath.FromSlash(name)), nil
}

// A Switch is a setting that switches the hooks of an agent off.
type Switch struct {
	Path  string // members from the root, with dots
	Value string // literal that switches the hooks off, or listed

	System bool // it counts only in files of the system
}

// listed is the value of a setting that lists the hooks or plugins that are off.
const listed = "..."

var allHooksOff = Switch{Path: "disableAllHooks", Value: "true"}

// SwitchedOff returns the first of the agent's settings that switches its hooks off, and its file, or
// "". read returns the text of one of OffFiles.
func (a *Agent) SwitchedOff(read func(file string) string) (setting, in string) {
	for _, s := range a.Off {
		for _, file := range a.OffFiles {
			if s.System && !strings.HasPrefix(file, "/") {
				continue
			}
			off, stated := s.in(file, read(file))
			if off {
				return s.Path, file
			}
			if stated {
				break // weaker files do not count
			}
		}
	}
	return "", ""
}

// in reports whether the text of a settings file switches hooks off by the setting, and whether it has
// the setting. A list that names no hook of this program does not count as stated, because agents join
// the lists of all files.
func (s Switch) in(file, text string) (off, stated bool) {
	if strings.HasSuffix(file, ".toml") {
		value := tomlValue(text, s.Path)
		return value == s.Value, value != ""
	}
	root, err := parseJSON(text)
	if err != nil {
		return false, false
	}
	v := find(root, strings.Split(s.Path, ".")...)
	if s.Value != listed {
		stated = v != nil && (v.Value.Kind() == 't' || v.Value.Kind() == 'f')
		return stated && v.Value.Kind() == hujson.Kind(s.Value[0]), stated
	}
	off = slices.ContainsFunc(elements(v), func(e hujson.Value) bool {
		name := textAt(&e)
		return strings.Contains(name, calls) || strings.Contains(name, "git-checkpoint") && strings.ContainsAny(name[:1], "-!")
	})
	return off, off
}

// tomlWords matches strings, comments, punctuation, line ends and bare words of a TOML text.
var tomlWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s:""".*?"""|'''.*?''')|"(?:\\.|[^"\\])*"|'[^']*'|#.*|[][{}=,.\n]|[^][{}=,."'#\s]+`)
})

// tomlValue returns the literal of a key with dots in a TOML text, or "".
func tomlValue(text, path string) string {
	const dot = "\x00" // a quoted key can have dots
	table, key, isValue, arrays := "", "", false, 0
	var inline []string // keys of the inline tables around
	for _, word := range tomlWords().FindAllString(text, -1) {
		switch {
		case word[0] == '#':
		case arrays > 0 || isValue && word == "[":
			arrays += strings.Count("[{", word) - strings.Count("]}", word)
		case word == "\n" && len(inline) == 0, word == "[":
			key, isValue = "", false
		case word == "]":
			table = key + dot // also at the second one of [[key]]
		case word == "{":
			inline, key, isValue = append(inline, key), key+dot, false
		case word == "}" && len(inline) > 0:
			inline = inline[:len(inline)-1]
		case word == "," && len(inline) > 0:
			key, isValue = inline[len(inline)-1]+dot, false
		case word == "=":
			isValue = true
		case isValue && table+key == strings.ReplaceAll(path, ".", dot):
			return word
		case isValue || word == "\n":
		case word == ".":
			key += dot
		default:
			name, err := strconv.Unquote(word)
			if err != nil {
				name = strings.Trim(word, "'")
			}
			key += name
		}
	}
	return ""
}
