package config

import "strings"

// Takes is what values the key takes, in words; what is typed is in backquotes.
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

// FromFile is whether a file in the worktree may set the key, in words.
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
