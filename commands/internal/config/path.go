package config

import (
	"errors"
	"fmt"
	"strings"
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
