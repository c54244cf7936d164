package gitstore

import (
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
)

func FuzzParseCommit(f *testing.F) {
	f.Add([]byte("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\nx\n\nCheckpoint-Id: x-1\n"))
	f.Add([]byte("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nparent 4b825dc642cb6eb9a060e54bf8d69288fbee4904\ngpgsig x\n y\n\n"))
	f.Add([]byte("tree x\n\n"))
	f.Add([]byte("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseCommit(plumbing.ZeroHash, data)
		if err != nil {
			return
		}
		assert.Equal(t, strings.ToLower(string(data)), strings.ToLower(string(c.encode())))
		_ = c.describe("42")
		_ = c.isLedger()
		_ = c.authored()
	})
}
