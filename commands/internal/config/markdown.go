package config

import "strings"

// Takes describes the key's values for users, with literal values in backquotes.
func (k *Key) Takes() string {
	if k.Type != Enum {
		return k.Type.String()
	}
	values := make([]string, len(k.Values))
	for i, v := range k.Values {
		values[i] = code(v)
	}
	return orWords(values)
}

// FromFile describes for users whether a worktree file can set the key.
func (k *Key) FromFile() string {
	if len(k.NotFile) > 0 {
		return "yes, but not " + code(strings.Join(k.NotFile, ", "))
	}
	return k.Trust.String()
}

func code(s string) string {
	if s == "" {
		return "none"
	}
	return "`" + s + "`"
}
