package scan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMask(t *testing.T) {
	secret := mixed[:24]
	begin, end := "-----BEGIN "+"PRIVATE KEY-----", "-----END "+"PRIVATE KEY-----"
	for name, c := range map[string]struct{ key, text, want string }{
		"nothing":           {"note", "the token is in the vault", ""},
		"a key":             {"note", "use " + key + ", then go on", "use [redacted:github-token], then go on"},
		"twice":             {"note", key + "\n" + key, "[redacted:github-token]\n[redacted:github-token]"},
		"two kinds":         {"note", key + " AKIA" + "QRSTUVWXYZ234567", "[redacted:github-token] [redacted:aws-access-key]"},
		"by its key":        {"db_password", secret, "[redacted:named-secret]"},
		"by another key":    {"digest", secret, ""},
		"named in the text": {"note", "PASSWORD=" + secret + "\nnext", "PASSWORD=[redacted:named-secret]\nnext"},
		"in a url":          {"remote", "https://ann:" + "hunter22@host/x", "https://ann:[redacted:url-password]@host/x"},
		"a private key":     {"note", "it is\n" + begin + "\nMIIE\nabc\n" + end + "\nkeep it", "it is\n[redacted:private-key]\nkeep it"},
		"one cut short":     {"note", begin + "\nMIIE", "[redacted:private-key]"},
		"allowed":           {"note", key + " # checkpoint:allow\n" + key, key + " # checkpoint:allow\n[redacted:github-token]"},
		"masked before":     {"api_token", "[redacted:github-token]", ""},
		"a machine's path":  {"note", "/home/" + "ann/work", ""},
		"the key alone":     {key, "text", ""},
		"empty":             {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, rules := Mask(c.key, c.text, nil)
			if c.want == "" {
				c.want = c.text
			}
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.want != c.text, len(rules) > 0)
			again, _ := Mask(c.key, got, nil)
			assert.Equal(t, got, again)
		})
	}
}

func TestMaskNamesTheRules(t *testing.T) {
	_, rules := Mask("note", key+" AKIA"+"QRSTUVWXYZ234567 "+key, nil)
	assert.Equal(t, []string{"aws-access-key", "github-token"}, rules)
}

func TestMaskAllows(t *testing.T) {
	for _, allow := range []Allow{{"github-token"}, {"checkpoint.yaml"}, {"github-token:checkpoint.yaml"}} {
		got, _ := Mask("note", key, allow)
		assert.Equal(t, key, got)
	}
	got, _ := Mask("note", key, Allow{"staged/*", "npm-token"})
	assert.Equal(t, "[redacted:github-token]", got)
}

// TestMaskLeavesNothing checks for every rule that no secret remains after masking.
func TestMaskLeavesNothing(t *testing.T) {
	for _, c := range examples() {
		got, _ := Mask("note", c.yes, nil)
		for _, f := range searchText([]byte("note: " + got)) {
			assert.True(t, IsInformational(f.Rule), "%s in %q", f.Rule, got)
		}
	}
}

func FuzzMask(f *testing.F) {
	f.Add("note", "x "+key)
	f.Add("password", strings.Repeat(mixed, 2))
	f.Fuzz(func(t *testing.T, k, text string) {
		once, rules := Mask(k, text, nil)
		if (once != text) != (len(rules) > 0) {
			t.Fatalf("%q %v", once, rules)
		}
	})
}

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
