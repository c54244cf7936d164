package scan

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const mixed = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6kL9nP2rS5uX8wA1cD4fG7iM0oR3tV6xY9zB2"

type example struct{ yes, no string }

// examples returns a matching and a similar non-matching text for every rule.
func examples() map[string]example {
	return map[string]example{
		"private-key":        {"-----BEGIN OPENSSH " + "PRIVATE KEY-----", "-----BEGIN PUBLIC KEY----- not a private key"},
		"aws-access-key":     {"id = AKIA" + "QRSTUVWXYZ234567", "AKIA" + "QRSTUVWXYZ23456789X and asia"},
		"aws-secret-key":     {"aws_secret_access = '" + mixed[:40] + "'", "aws secret = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'"},
		"github-token":       {"ghp_" + mixed[:36], "ghp_short"},
		"gitlab-token":       {"glpat-" + mixed[:20], "glpat-x"},
		"slack-token":        {"xoxb-" + "1234567890-" + mixed[:12], "xoxo-hugs"},
		"slack-webhook":      {"https://hooks.slack.com/services/" + "T00/B00/" + mixed[:40], "hooks.slack.com/services/x"},
		"stripe-key":         {"sk_live_" + mixed[:24], "sk_live_key"},
		"google-api-key":     {"AIza" + mixed[:35], "AIzabc"},
		"google-oauth":       {"ya29." + mixed[:40], "ya29.x"},
		"anthropic-key":      {"sk-ant-" + "api03-" + mixed[:60], "sk-ant-x"},
		"openai-key":         {"sk-proj-" + mixed[:48], "sk-proj-x"},
		"huggingface-token":  {"hf_" + "abcdefghijklmnopqrstuvwxyzABCDEFGH", "hf_model_name"},
		"npm-token":          {"npm_" + mixed[:36], "npm_config_registry"},
		"npm-auth":           {"//registry/:_authToken=" + mixed[:30], "//registry/:_authToken=${NPM}"},
		"pypi-token":         {"pypi-" + "AgEIcHlwaS" + mixed[:60], "pypi-server"},
		"sendgrid-key":       {"SG." + mixed[:22] + "." + mixed[:43], "msg.text"},
		"twilio-key":         {"TWILIO_AUTH: 0123456789abcdef" + "0123456789abcdef", "twilio 00000000000000000000000000000000"},
		"azure-key":          {"AccountKey=" + mixed[:44] + "==", "AccountKey=x"},
		"digitalocean-token": {"dop_v1_" + strings.Repeat("0123456789abcdef", 4), "dop_v1_x"},
		"age-key":            {"AGE-SECRET-KEY-1" + strings.Repeat("QPZRY9X8GF", 6)[:58], "AGE-SECRET-KEY-1 in a doc"},
		"vault-token":        {"hvs." + mixed[:30], "hvs.x"},
		"json-web-token":     {"eyJhbGciOiJIUzI1NiJ9aa.eyJzdWIiOiIxMjM0NTY3ODkw." + mixed[:30], "eyJx"},
		"bearer-token":       {"Authorization: Bearer " + mixed[:30], "authorization: bearer of bad news"},
		"url-password":       {"postgres://user:" + "hunter22@db/x", "https://user:${PASSWORD}@host and https://user@host"},
		"machine-path":       {"see /home/" + "ann/work", "/home/runner/x /Users/ /home/<you>/x C:\\Users\\Public\\x"},
		"named-secret":       {"db_password: '" + mixed[:24] + "'", "password: the_password_of_the_day, token_type: bearer"},
	}
}

// TestRules checks that every rule matches its own example only, and no similar text.
// vendorSamples contains the examples of the other rules.
func TestRules(t *testing.T) {
	cases, samples := examples(), vendorSamples()
	require.Equal(t, len(cases)+len(samples), len(table()))
	for _, r := range table() {
		if samples[r.name] != nil {
			continue
		}
		c, ok := cases[r.name]
		require.True(t, ok, r.name)
		assert.Contains(t, searchText([]byte("first\n"+c.yes+"\n")), Finding{r.name, 2}, r.name)
		assert.NotContains(t, searchText([]byte(c.no+"\n")), Finding{r.name, 1}, r.name)
	}
}

func TestSearchTextEdgeCases(t *testing.T) {
	secret := "ghp_" + mixed[:36]
	assert.Len(t, searchText([]byte(secret)), 1)
	assert.Empty(t, searchText([]byte(secret+" # gitleaks:allow\n")))
	assert.Len(t, searchText([]byte("phase_"+secret)), 1, "a name in front of it")
	assert.Empty(t, searchText([]byte("a"+secret)))
	assert.Empty(t, searchText(nil))
	assert.Len(t, searchText([]byte(strings.Repeat(secret+"\n", 200))), maxFindings)
	long := strings.Repeat("a ", window/2-10) + secret + strings.Repeat(" b", window)
	assert.Len(t, searchText([]byte(long)), 1, "across the end of a window")
}

// TestOrdinaryCodeHasNoSecrets checks that the sources below gitstore contain no secrets.
// Tests are skipped, because they contain examples.
func TestOrdinaryCodeHasNoSecrets(t *testing.T) {
	sources := os.DirFS(filepath.Join("..", "..", ".."))
	searched := 0
	require.NoError(t, fs.WalkDir(sources, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		data, err := fs.ReadFile(sources, name)
		require.NoError(t, err)
		assert.Empty(t, searchText(data), name)
		searched++
		return nil
	}))
	assert.Greater(t, searched, 200)
}

func FuzzText(f *testing.F) {
	f.Add([]byte("password = " + mixed[:30]))
	f.Add([]byte("a\n\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := strings.Count(string(data), "\n") + 1
		for _, found := range searchText(data) {
			if found.Line < 1 || found.Line > lines {
				t.Fatalf("%v of %d lines", found, lines)
			}
		}
	})
}

// searchText searches a text for secrets.
func searchText(data []byte) []Finding {
	s := searcher{}
	s.lines(data)
	return s.found
}
