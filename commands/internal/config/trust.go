package config

import (
	"fmt"
	"slices"
)

// admit returns an error if a worktree file must not set the key to this value. overruled
// means that a trusted source sets the key and the file's value has no effect.
func admit(k *Key, v *value, overruled bool) error {
	if slices.Contains(k.NotFile, v.text) {
		return fmt.Errorf("a file in the worktree cannot choose %s", v.text)
	}
	switch k.Trust {
	case Never:
		return fmt.Errorf("a file in the worktree cannot set this")
	case Inside:
		return checkInside(v.text)
	case Tighten:
		def := mustParse(k)
		if !overruled && weaker(k, v, &def) {
			return fmt.Errorf("a file in the worktree cannot make this weaker than %s, got %s", def.text, v.text)
		}
	}
	return nil
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

// mustParse returns the key's parsed default; a test parses all defaults.
func mustParse(k *Key) value {
	v, err := parse(k, k.Default)
	if err != nil {
		panic("config: default of " + k.Name + ": " + err.Error())
	}
	v.origin = "default"
	return v
}
