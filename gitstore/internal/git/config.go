package git

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
)

// A ConfigEntry is a git setting, after git has resolved includes and conditions.
type ConfigEntry struct {
	Key    string // section and variable in lower case, subsection unchanged
	Value  string
	Scope  string // system, global, local, worktree, command
	Origin string // file:<path>, command line:, ...
}

// Config returns git's settings in the order in which git reads them. The last entry of a
// key takes precedence.
func (g Git) Config(ctx context.Context) ([]ConfigEntry, error) {
	out, err := g.Output(ctx, "config", "--list", "--null", "--show-scope", "--show-origin")
	if err != nil {
		return nil, fmt.Errorf("read git's configuration: %w", err)
	}
	return parseConfig(out)
}

// parseConfig parses `scope NUL origin NUL key LF value NUL` groups. A variable without
// "=" has no LF and is true.
func parseConfig(out []byte) ([]ConfigEntry, error) {
	var entries []ConfigEntry
	for len(out) > 0 {
		parts := bytes.SplitN(out, []byte{0}, 4)
		if len(parts) < 4 {
			return nil, fmt.Errorf("read git's configuration: truncated after %d settings", len(entries))
		}
		key, value, found := strings.Cut(string(parts[2]), "\n")
		if !found {
			value = "true"
		}
		entries = append(entries, ConfigEntry{Key: key, Value: value, Scope: string(parts[0]), Origin: string(parts[1])})
		out = parts[3]
	}
	return entries, nil
}

// Last returns the effective value of key and whether key is set.
func Last(entries []ConfigEntry, key string) (string, bool) {
	e, ok := LastEntry(entries, key)
	return e.Value, ok
}

// LastEntry returns the effective entry of key and whether key is set.
func LastEntry(entries []ConfigEntry, key string) (ConfigEntry, bool) {
	for i := len(entries) - 1; i >= 0; i-- {
		if entries[i].Key == key {
			return entries[i], true
		}
	}
	return ConfigEntry{}, false
}

// Bool parses a boolean value by git's rules, which include numbers. It returns false for
// invalid text.
func Bool(value string) bool {
	value = strings.ToLower(value)
	switch value {
	case "true", "yes", "on":
		return true
	}
	n, err := strconv.ParseInt(strings.TrimRight(value, "kmg"), 0, 64)
	return err == nil && n != 0
}
