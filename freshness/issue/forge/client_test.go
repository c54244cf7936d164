package forge

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/freshness/issue"
)

func TestSameServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"https://a.example/x", "https://A.example/y", true},
		{"https://a.example", "https://a.example:8443", false},
		{"https://a.example", "http://a.example", false},
		{"https://a.example", "https://b.a.example", false},
		{"https://b.a.example", "https://a.example", false},
		{"http://a.example", "https://a.example", true},
		{"http://a.example:3000", "https://a.example:3000", false},
		{"http://a.example", "https://b.example", false},
		{"https://a.example", "ftp://a.example", false},
	} {
		from, err := url.Parse(c.from)
		require.NoError(t, err)
		to, err := url.Parse(c.to)
		require.NoError(t, err)
		assert.Equal(t, c.want, sameServer(from, to), c)
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 2, 14, 14, 30, 0, 0, time.UTC)
	f := &Forge{Now: func() time.Time { return now }}
	for _, c := range []struct {
		name    string
		status  int
		header  map[string]string
		until   time.Time
		limited bool
	}{
		{"GitLab", 429, map[string]string{"RateLimit-Remaining": "0", "RateLimit-Reset": "1771079460"}, now.Add(time.Minute), true},
		{"nothing said", 429, nil, time.Time{}, true},
		{"forbidden, and there is some left", 403, map[string]string{"X-RateLimit-Remaining": "17", "X-RateLimit-Reset": "1771079460"}, time.Time{}, false},
		{"of old", 403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1"}, time.Time{}, true},
		{"for ever", 403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "99999999999"}, time.Time{}, true},
		{"no number", 403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "soon"}, time.Time{}, true},
		{"too long", 429, map[string]string{"Retry-After": "999999999"}, time.Time{}, true},
		{"before", 429, map[string]string{"Retry-After": "-5"}, time.Time{}, true},
		{"another status", 500, map[string]string{"Retry-After": "5"}, time.Time{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &reply{status: c.status, header: http.Header{}}
			for name, value := range c.header {
				r.header.Set(name, value)
			}
			until, limited := f.limit(r)
			assert.Equal(t, c.limited, limited)
			assert.True(t, c.until.Equal(until), until)
		})
	}
}

// TestMissingScope checks that only names of scopes are shown of a response.
func TestMissingScope(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"message":"required=[read:issue], token scope=read:user"}`: "; the token needs the scope read:issue",
		`required=[read:issue write:repository]`:                     "; the token needs the scope read:issue write:repository",
		`required=[<b>hunter2</b>]`:                                  "",
		`required=[read:issue\n]`:                                    "",
		`required=[admin:hunter2]`:                                   "",
		`required=[read:` + strings.Repeat("x", 17) + `]`:            "",
		`hunter2`: "",
	} {
		assert.Equal(t, want, missingScope(&reply{body: []byte(body)}), body)
	}
}

// TestCachedEntryOfAnotherURLIsIgnored checks that a cached response of another URL is not used.
func TestCachedEntryOfAnotherURLIsIgnored(t *testing.T) {
	t.Parallel()
	f := &Forge{Cache: t.TempDir()}
	f.store(entry{Version: entryVersion, URL: "a", Issue: &issue.Issue{}})
	require.NotNil(t, f.load("a").Issue)
	require.NoError(t, os.Rename(f.entryFile("a"), f.entryFile("b")))
	assert.Nil(t, f.load("b").Issue)
}

// FuzzLabelNames checks that the answer to a change of labels is parsed or rejected.
func FuzzLabelNames(f *testing.F) {
	for _, s := range []string{`[{"id":1,"name":"a"}]`, `[]`, `null`, `{}`, `{"labels":["a"]}`, `{"labels":null}`, `[{"name":1}]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		names, err := labelNames(data)
		assert.Equal(t, err == nil, names != nil)
	})
}
