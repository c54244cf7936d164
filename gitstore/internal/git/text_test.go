package git

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseGitVersion(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]Version{
		"git version 2.39.5":                     {2, 39},
		"git version 2.54.0.windows.1":           {2, 54},
		"git version 2.39.3 (Apple Git-146)":     {2, 39},
		"git version 2.55-rc1":                   {2, 55},
		"git version 3.0":                        {3, 0},
		"git version 2.47.1.543.gdeadbeef-dirty": {2, 47},
	} {
		v, err := ParseVersion(line)
		require.NoError(t, err, line)
		assert.Equal(t, want, v, line)
	}
	for _, line := range []string{"", "git version", "git version x.y"} {
		_, err := ParseVersion(line)
		assert.Error(t, err, line)
	}
	assert.True(t, Version{3, 0}.AtLeast(2, 54))
	assert.False(t, Version{2, 53}.AtLeast(2, 54))
}

func TestWithoutCredentials(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"origin": "origin", "git@x:y": "git@x:y", "https://x/y": "https://x/y", "https://x/y?": "https://x/y?",
		"https://tok@x/y@z":                       "https://x/y@z",
		"a 'https://a:b@c@x' and ssh://q@h b@":    "a 'https://x' and ssh://h b@",
		"https://x/y?access_token=tok":            "https://x/y?***",
		"https://x/y#tok":                         "https://x/y#***",
		"https://x?tok=https://u:tok@y/z#tok":     "https://x?***",
		"access 'http://x/y?t=tok'tok/': refused": "access 'http://x/y?***': refused",
		"see http://x/y?t=tok\nand http://u@z?t":  "see http://x/y?***\nand http://z?***",
	} {
		assert.Equal(t, want, WithoutCredentials(text))
	}
	err := &CommandError{Args: []string{"fetch"}, Stderr: "fatal: unable to access 'https://u:tok@x/y?a=tok/': no", Err: errors.New("exit 128")}
	assert.Equal(t, "git fetch: unable to access 'https://x/y?***': no", err.Error())
}

// TestBoundedTextKeepsStartAndEnd checks that short text is kept, and that the size of long
// text is limited for large and for small writes.
func TestBoundedTextKeepsStartAndEnd(t *testing.T) {
	t.Parallel()
	var short boundedText
	for range 3 * maxKept / 10 {
		_, _ = short.Write([]byte("0123456789"))
	}
	assert.Equal(t, strings.Repeat("0123456789", 3*maxKept/10), short.String())
	for _, size := range []int{10, 1000, 50 * maxKept} {
		var long boundedText
		_, _ = long.Write([]byte("first"))
		for range 50 * maxKept / size {
			n, err := long.Write([]byte(strings.Repeat("x", size)))
			assert.NoError(t, err)
			assert.Equal(t, size, n)
			assert.LessOrEqual(t, len(long.tail), 2*maxKept)
		}
		_, _ = long.Write([]byte("last"))
		text := long.String()
		assert.True(t, strings.HasPrefix(text, "firstx") && strings.HasSuffix(text, "xlast"), size)
		assert.LessOrEqual(t, len(text), 3*maxKept+len("\n"), size)
		assert.Equal(t, 1, strings.Count(text, "\n"), size)
	}
}
