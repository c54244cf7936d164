package remote

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLongestPath(t *testing.T) {
	for lines, want := range map[string]int{
		"":                          0,
		"a\n":                       1,
		"a\nb a\nc b\n":             3,
		"a\nb a\nc a\nd c\ne b d\n": 4,
		"b cut\nc b\n":              2,
		"a\nb a\nc b\nd a c\n":      4,
	} {
		assert.Equal(t, want, longestPath(lines), lines)
	}
}

func TestExplain(t *testing.T) {
	for said, want := range map[string]string{
		"": "git ended without a word",
		"ssh: connect to host x port 22: Connection refused\nfatal: Could not read from remote repository.\n\nPlease make sure": "ssh: connect to host x port 22: Connection refused",
		"Warning: Permanently added 'x'\nfatal: unable to access 'https://a:b@x/y/': Could not resolve host: x":                 "unable to access 'https://x/y/': Could not resolve host: x",
		"hint: y\nFrom /hub\nremote: full\nfatal: the remote end hung up\n":                                                     "full",
	} {
		assert.Equal(t, want, explain(said))
	}
}

func TestWithoutPasswords(t *testing.T) {
	for text, want := range map[string]string{
		"origin": "origin", "git@x:y": "git@x:y", "https://x/y": "https://x/y",
		"https://tok@x/y@z":                    "https://x/y@z",
		"a 'https://a:b@c@x' and ssh://q@h b@": "a 'https://x' and ssh://h b@",
	} {
		assert.Equal(t, want, withoutPasswords(text))
	}
}

func TestPushReports(t *testing.T) {
	out := "To /hub\n*\tabc:refs/x\t[new reference]\n=\tabc:refs/y\t[up to date]\n!\tabc:refs/z\t[rejected] (stale info)\n!\t(delete)\nDone\n"
	assert.Equal(t, map[string]pushReport{
		"refs/x": {flag: '*'}, "refs/y": {flag: '='}, "refs/z": {'!', "stale info"},
	}, pushReports([]byte(out)))
}
