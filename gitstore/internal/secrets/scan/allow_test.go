package scan

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAllow(t *testing.T) {
	for name, c := range map[string]struct {
		entry, rule, path string
		want              bool
	}{
		"a rule":              {"named-secret", "named-secret", "staged/a", true},
		"another rule":        {"named-secret", "npm-token", "staged/a", false},
		"a path":              {"testdata/*", "npm-token", "staged/testdata/x/y", true},
		"a path as it stands": {"staged/testdata/*", "npm-token", "staged/testdata/x", true},
		"another path":        {"testdata/*", "npm-token", "staged/src/testdata/x", false},
		"one file":            {"a.txt", "npm-token", "untracked/a.txt", true},
		"a rule in a place":   {"npm-token:*.lock", "npm-token", "staged/dir/yarn.lock", true},
		"the place, not it":   {"npm-token:*.lock", "slack-token", "staged/yarn.lock", false},
		"it, not the place":   {"npm-token:*.lock", "npm-token", "staged/yarn.txt", false},
		"any rule":            {"*:docs/*", "slack-token", "staged/docs/x", true},
		"the record":          {"checkpoint.yaml", "slack-token", "checkpoint.yaml", true},
		"stars":               {"a*b*c", "slack-token", "staged/axxbyybzzc", true},
		"stars, no":           {"a*b*c", "slack-token", "staged/axxbyybzz", false},
		"empty":               {"", "slack-token", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, Allow{"x", c.entry}.Has(c.rule, c.path))
		})
	}
}
