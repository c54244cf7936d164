package config

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"git-checkpoint/commands/internal/view"
)

// placeholders lists placeholders for the issue in paths.
var placeholders = []string{"{issue}", "{issue_number}"}

// Expand replaces placeholders in path by component, the path component from
// Issue.RefName.
func Expand(path, component string) string {
	for _, p := range placeholders {
		path = strings.ReplaceAll(path, p, component)
	}
	return path
}

const (
	fromDefault source = iota
	fromFile
	fromGit
	fromEnvironment
)

// source is the source of a value, in order of precedence.
type source int

type value struct {
	text   string // canonical form
	num    int    // Bool: 0 or 1; Int, Days: number; Outcome: days for completed chains
	other  int    // Outcome: days for other chains
	list   []string
	pairs  map[string]string
	re     *regexp.Regexp
	source source
	origin string
}

// errOutside reports a path outside the worktree.
var errOutside = errors.New("must be a path inside the worktree")

// checkInside accepts a relative slash-separated path inside the worktree and outside
// .git, on every platform. Symlinks are the caller's responsibility.
func checkInside(path string) error {
	if path == "" {
		return nil
	}
	if strings.ContainsAny(path, "\\:") || strings.HasPrefix(path, "/") || strings.HasPrefix(path, "~") {
		return fmt.Errorf("%w, got %s", errOutside, shown(path))
	}
	for part := range strings.SplitSeq(path, "/") {
		switch plain := strings.ToLower(strings.TrimRight(part, ". ")); {
		case strings.Trim(part, ".") == "" && len(part) > 1:
			return fmt.Errorf("%w, got %s", errOutside, shown(path))
		case plain == ".git" || plain == "git~1":
			return fmt.Errorf("%w and outside .git, got %s", errOutside, shown(path))
		}
	}
	return nil
}

// mustParse returns the key's parsed default; a test parses all defaults.
func mustParse(k *Key) value {
	v, err := parse(k, k.Default)
	if err != nil {
		panic("config: default of " + k.Name + ": " + err.Error())
	}
	v.origin = "default"
	return v
}

func parse(k *Key, text string) (value, error) {
	switch k.Type {
	case Bool:
		switch strings.ToLower(text) {
		case "true", "yes", "on", "1":
			return value{text: "true", num: 1}, nil
		case "false", "no", "off", "0":
			return value{text: "false"}, nil
		}
		return value{}, fmt.Errorf("want true or false, got %s", shown(text))
	case Int:
		return parseInt(text, k.Min, k.Max)
	case Days:
		if text == "0" { // every chain is older than 0 days
			text = "off"
		}
		return parseDays(text)
	case Outcome:
		first, second, two := strings.Cut(text, ",")
		v, err := parseDays(strings.TrimSpace(first))
		if err != nil || !two {
			v.other = v.num
			return v, err
		}
		w, err := parseDays(strings.TrimSpace(second))
		return value{text: v.text + "," + w.text, num: v.num, other: w.num}, err
	case Enum:
		low := strings.ToLower(text)
		if !slices.Contains(k.Values, low) {
			return value{}, fmt.Errorf("want %s, got %s", view.OneOf(k.Values), shown(text))
		}
		return value{text: low}, nil
	case Path:
		return value{text: text}, checkTemplate(text)
	case Pattern:
		if text == "" {
			return value{}, nil
		}
		if len(text) > maxPattern {
			return value{}, fmt.Errorf("the pattern has %d bytes, at most %d are allowed", len(text), maxPattern)
		}
		re, err := regexp.Compile(text)
		if err != nil {
			return value{}, fmt.Errorf("not a regular expression: %s", shown(err.Error()))
		}
		return value{text: text, re: re}, nil
	case List:
		return parseList(splitItems(text))
	case Mapping: // label=phase; a label itself can contain "="
		var pairs [][2]string
		for _, item := range splitItems(text) {
			at := strings.LastIndexByte(item, '=')
			if at < 0 {
				return value{}, fmt.Errorf("want label=phase, got %s", shown(item))
			}
			pairs = append(pairs, [2]string{strings.TrimSpace(item[:at]), strings.TrimSpace(item[at+1:])})
		}
		return parsePairs(pairs)
	}
	if err := checkLine(text, maxText); err != nil {
		return value{}, err
	}
	// git would parse such a remote as an option.
	if k.Name == "remote" && strings.HasPrefix(text, "-") {
		return value{}, fmt.Errorf("a remote cannot begin with -, got %s", shown(text))
	}
	return value{text: text}, nil
}

func parseInt(text string, least, most int) (value, error) {
	n, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(n) != text || n < least || n > most {
		return value{}, fmt.Errorf("want a whole number from %d to %d, got %s", least, most, shown(text))
	}
	return value{text: text, num: n}, nil
}

func parseDays(text string) (value, error) {
	if strings.ToLower(text) == "off" || text == "-1" {
		return value{text: "off", num: -1}, nil
	}
	v, err := parseInt(text, 0, maxDays)
	if err != nil {
		return v, fmt.Errorf("want a number of days up to %d or off, got %s", maxDays, shown(text))
	}
	return v, nil
}

// Limits of values. They apply to all sources.
const (
	maxText    = 4096
	maxPattern = 512
	maxName    = 200
	maxItems   = 1000
)

// checkTemplate accepts a path without unknown placeholders.
func checkTemplate(path string) error {
	if err := checkLine(path, maxText); err != nil {
		return err
	}
	rest := path
	for _, p := range placeholders {
		rest = strings.ReplaceAll(rest, p, "")
	}
	if strings.ContainsAny(rest, "{}") {
		return fmt.Errorf("only {issue} may stand in braces, got %s", shown(path))
	}
	return nil
}

// checkLine accepts one line of printable text.
func checkLine(text string, most int) error {
	switch {
	case len(text) > most:
		return fmt.Errorf("the text has %d bytes, at most %d are allowed", len(text), most)
	case !utf8.ValidString(text):
		return fmt.Errorf("the text is not UTF-8: %s", shown(text))
	case strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("control or invisible characters are not allowed: %s", shown(text))
	}
	return nil
}

func parseList(items []string) (value, error) {
	if len(items) > maxItems {
		return value{}, fmt.Errorf("%d names, at most %d are allowed", len(items), maxItems)
	}
	seen := make(map[string]bool, len(items))
	for _, item := range items {
		if err := checkName(item); err != nil {
			return value{}, err
		}
		if seen[item] {
			return value{}, fmt.Errorf("%s stands there twice", shown(item))
		}
		seen[item] = true
	}
	return value{text: strings.Join(items, ","), list: items}, nil
}

func checkName(name string) error {
	if name == "" {
		return fmt.Errorf("a name is empty")
	}
	return checkLine(name, maxName)
}

// splitItems splits a one-line list or mapping at commas.
func splitItems(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

func parsePairs(pairs [][2]string) (value, error) {
	if len(pairs) > maxItems {
		return value{}, fmt.Errorf("%d entries, at most %d are allowed", len(pairs), maxItems)
	}
	v := value{pairs: make(map[string]string, len(pairs))}
	for _, p := range pairs {
		for _, name := range p {
			if err := checkName(name); err != nil {
				return value{}, err
			}
		}
		if _, twice := v.pairs[p[0]]; twice {
			return value{}, fmt.Errorf("%s stands there twice", shown(p[0]))
		}
		v.pairs[p[0]] = p[1]
	}
	items := make([]string, 0, len(v.pairs))
	for _, label := range slices.Sorted(maps.Keys(v.pairs)) {
		items = append(items, label+"="+v.pairs[label])
	}
	v.text = strings.Join(items, ",")
	return v, nil
}

// weaker reports whether v keeps less, or is less strict, than def.
func weaker(k *Key, v, def *value) bool {
	switch k.Type {
	case Enum:
		return slices.Index(k.Values, v.text) < slices.Index(k.Values, def.text)
	case Outcome:
		return fewer(v.num, def.num) || fewer(v.other, def.other)
	}
	return fewer(v.num, def.num)
}

// fewer compares limits; a negative number means no limit.
func fewer(a, b int) bool {
	return a >= 0 && (b < 0 || a < b)
}
