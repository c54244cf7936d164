package view

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAgo(t *testing.T) {
	now := time.Date(2026, 2, 14, 14, 30, 0, 0, time.UTC)
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{-time.Hour, "just now"},
		{0, "just now"},
		{59 * time.Second, "just now"},
		{time.Minute, "1 minute ago"},
		{119 * time.Second, "1 minute ago"},
		{12*time.Minute + 59*time.Second, "12 minutes ago"},
		{59*time.Minute + 59*time.Second, "59 minutes ago"},
		{time.Hour, "1 hour ago"},
		{23*time.Hour + 59*time.Minute, "23 hours ago"},
		{24 * time.Hour, "1 day ago"},
		{8 * 24 * time.Hour, "8 days ago"},
	} {
		assert.Equal(t, c.want, Ago(now.Add(-c.d), now), c.d.String())
	}
}

func TestQuotes(t *testing.T) {
	for in, want := range map[string]string{
		"src/a.go": "src/a.go", "a b": "a b", "a\tb": `"a\tb"`, "\u202ex": `"\u202ex"`, "caf\xe9": `"caf\351"`, "café": "café",
	} {
		assert.Equal(t, want, QuotePath(in))
	}
	for in, want := range map[string]string{"42": "42", "PROJ-42": "PROJ-42", "a b": "'a b'", "it's": `'it'\''s'`, "": "''", "$(x)": "'$(x)'"} {
		assert.Equal(t, want, QuoteArg(in))
	}
}
