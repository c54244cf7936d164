package forge

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSameServer(t *testing.T) {
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

// FuzzLabelIDs holds that Gitea's list of labels is read or refused.
func FuzzLabelIDs(f *testing.F) {
	for _, s := range []string{`[{"id":1,"name":"a"}]`, `[]`, `null`, `{}`, `[{"id":"1"}]`, `[{"id":1e99}]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ids, err := labelIDs(data)
		assert.Equal(t, err == nil, ids != nil)
	})
}
