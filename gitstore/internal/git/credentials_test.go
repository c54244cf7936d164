package git

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

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
