package document

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxSteps limits the length of a path. No document is deeper.
const maxSteps = 100

var errPath = errors.New("want keys joined by dots, like a.b[0].\"c.d\"")

// Step is a key of a path. A step in brackets is always an index.
type Step struct {
	Key   string
	Index bool
}

// ParsePath splits a path into steps. A key with a dot or bracket is written in double
// quotes, with '\' before '"' and '\'.
func ParsePath(path string) ([]Step, error) {
	var steps []Step
	for rest := path; ; {
		s, tail, err := nextStep(rest)
		if err != nil || len(steps) >= maxSteps {
			return nil, fmt.Errorf("path %.80q: %w", path, errPath)
		}
		steps = append(steps, s)
		if tail == "" {
			return steps, nil
		}
		if tail[0] == '.' {
			tail = tail[1:]
		} else if tail[0] != '[' {
			return nil, fmt.Errorf("path %.80q: %w", path, errPath)
		}
		rest = tail
	}
}

// nextStep returns the first step of s and the remaining text.
func nextStep(s string) (Step, string, error) {
	switch {
	case s == "":
		return Step{}, "", errPath
	case s[0] == '[':
		end := strings.IndexByte(s, ']')
		if end < 0 || !isIndex(s[1:end]) {
			return Step{}, "", errPath
		}
		return Step{s[1:end], true}, s[end+1:], nil
	case s[0] == '"':
		return quotedStep(s)
	}
	end := strings.IndexAny(s, ".[")
	if end < 0 {
		end = len(s)
	}
	if end == 0 {
		return Step{}, "", errPath
	}
	return Step{Key: s[:end]}, s[end:], nil
}

func quotedStep(s string) (Step, string, error) {
	var b strings.Builder
	for k := 1; k < len(s); k++ {
		switch {
		case s[k] == '"':
			return Step{Key: b.String()}, s[k+1:], nil
		case s[k] == '\\' && k+1 < len(s):
			k++
		}
		b.WriteByte(s[k])
	}
	return Step{}, "", errPath
}

func isIndex(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 0 && strconv.Itoa(n) == s
}

// indexIn returns the index for a list of n elements.
func (s Step) indexIn(n int) (int, bool) {
	if !isIndex(s.Key) {
		return 0, false
	}
	k, _ := strconv.Atoi(s.Key)
	return k, k < n
}

// JoinPath returns the path of key below parent in the syntax of ParsePath.
func JoinPath(parent, key string) string {
	if key == "" || strings.ContainsAny(key, ".[\"") {
		key = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
	}
	if parent == "" {
		return key
	}
	return parent + "." + key
}

func JoinIndex(parent string, k int) string {
	return parent + "[" + strconv.Itoa(k) + "]"
}

// Lookup returns the value at a path like "workflow_state.current_phase",
// "files_modified[0].path" or "files_modified.0.path". It returns false if the path is
// invalid.
func (m *Map) Lookup(path string) (any, bool) {
	steps, err := ParsePath(path)
	if err != nil {
		return nil, false
	}
	var v any = m
	for _, s := range steps {
		var ok bool
		if v, ok = s.in(v); !ok {
			return nil, false
		}
	}
	return v, true
}

// in returns the value of the step in v.
func (s Step) in(v any) (any, bool) {
	switch v := v.(type) {
	case *Map:
		if !s.Index {
			return v.Get(s.Key)
		}
	case []any:
		if k, ok := s.indexIn(len(v)); ok {
			return v[k], true
		}
	}
	return nil, false
}
