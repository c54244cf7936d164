package gitstore

import (
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"
)

// graft adds a handmade commit to issue 42's chain: a checkpoint with this id, or a
// foreign commit if id is "". Its tree equals the tip's tree with one file replaced.
func (w *world) graft(id, path, content string) string {
	w.t.Helper()
	tip := w.Git("rev-parse", "refs/checkpoints/42")
	index := w.In(w.Dir)
	index.Setenv("GIT_INDEX_FILE", w.GitPath("graft"))
	index.Git("read-tree", tip)
	if path != "" {
		index.Git("update-index", "--add", "--cacheinfo", "100644,"+w.Hash(content)+","+path)
	}
	message := "by hand\n"
	if id != "" {
		message += fmt.Sprintf("\nCheckpoint-Id: %s\nCheckpoint-Issue: 42\nCheckpoint-Trigger: manual\nCheckpoint-Clock: %d\n", id, w.now.UnixNano())
	}
	return w.onTop(index.Git("write-tree"), message, tip, tip+"^2")
}

// onTop commits a tree and sets the chain ref to this commit.
func (w *world) onTop(tree, message string, parents ...string) string {
	w.t.Helper()
	args := []string{"commit-tree", tree}
	for _, p := range parents {
		if _, err := w.Run(nil, "rev-parse", "--verify", "-q", p+"^{commit}"); err == nil {
			args = append(args, "-p", p)
		}
	}
	out, err := w.Run([]byte(message), args...)
	require.NoError(w.t, err)
	commit := strings.TrimSpace(string(out))
	w.Git("update-ref", "refs/checkpoints/42", commit)
	return commit
}
