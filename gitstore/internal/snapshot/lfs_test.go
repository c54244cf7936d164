package snapshot

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParsePointer(t *testing.T) {
	oid := strings.Repeat("a1", 32)
	for text, want := range map[string]bool{
		"version https://git-lfs.github.com/spec/v1\noid sha256:" + oid + "\nsize 5\n":                  true,
		"version https://git-lfs.github.com/spec/v1\next-0-x sha256:00\noid sha256:" + oid + "\nsize 5": true,
		"version https://git-lfs.github.com/spec/v1\noid sha256:../../etc/passwd\nsize 5\n":             false,
		"version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.ToUpper(oid) + "\nsize 5\n": false,
		"version https://git-lfs.github.com/spec/v1\noid sha256:" + oid[2:] + "\nsize 5\n":              false,
		"version https://git-lfs.github.com/spec/v1\noid sha256:" + oid + "\nsize -5\n":                 false,
		"version https://git-lfs.github.com/spec/v1\n":                                                  false,
		"oid sha256:" + oid + "\nsize 5\n":                                                              false,
		"":                                                                                              false,
	} {
		_, ok := parsePointer(text)
		assert.Equal(t, want, ok, text)
	}
}
