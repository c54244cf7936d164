package gitstore

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
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

func FuzzParseCommit(f *testing.F) {
	f.Add([]byte("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\nx\n\nCheckpoint-Id: x-1\n"))
	f.Add([]byte("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nparent 4b825dc642cb6eb9a060e54bf8d69288fbee4904\ngpgsig x\n y\n\n"))
	f.Add([]byte("tree x\n\n"))
	f.Add([]byte("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := repo.ParseCommit(plumbing.ZeroHash, data)
		if err != nil {
			return
		}
		assert.Equal(t, strings.ToLower(string(data)), strings.ToLower(string(c.Encode())))
		_ = chain.CheckpointOf(c, "42")
		_ = chain.IsLedger(c)
		_ = c.Authored()
	})
}

// Encode returns the parsed object, also without a message and without a blank line.
func TestParsedCommitIsEncodedExactly(t *testing.T) {
	t.Parallel()
	headers := "tree " + plumbing.ZeroHash.String() + "\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n"
	for _, data := range []string{headers, headers + "\n", headers + "\n\n", headers + "\nx", headers + "\nx\n\ny\n"} {
		c, err := repo.ParseCommit(plumbing.ZeroHash, []byte(data))
		require.NoError(t, err, "%q", data)
		assert.Equal(t, data, string(c.Encode()))
	}
	_, err := repo.ParseCommit(plumbing.ZeroHash, []byte(strings.TrimSuffix(headers, "\n")))
	assert.ErrorContains(t, err, "cut off")
}

// Author dates outside the calendar range return the zero time.
func TestAuthorDateOutOfRange(t *testing.T) {
	t.Parallel()
	for date, want := range map[string]string{
		"1790000000 +0200": "2026-09-21T14:13:20Z", "0 +0000": "1970-01-01T00:00:00Z", "253402300799 +0000": "9999-12-31T23:59:59Z",
		"-1 +0000": "", "-99999999999 +0000": "", "253402300800 +0000": "", "9223372036854775807 +0000": "", "99999999999999999999 +0000": "", "x": "",
	} {
		at := repo.RawCommit{Rest: []byte("author A <a@x> " + date + "\n")}.Authored()
		if want == "" {
			assert.True(t, at.IsZero(), date)
		} else {
			assert.Equal(t, want, at.Format(time.RFC3339), date)
		}
	}
}

// Save rejects messages above the size limit of readers.
func TestSaveRejectsLongMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.manual(1)
	tip := w.Git("rev-parse", "refs/checkpoints/42")
	_, err := w.s.Save(ctx, w.request(checkpoint.Manual, func(r *checkpoint.Record) { r.SetNote(strings.Repeat("n", chain.MaxMessage)) }))
	require.ErrorContains(t, err, "note and phase: ")
	require.ErrorContains(t, err, ", more than the limit of ")
	assert.Equal(t, tip, w.Git("rev-parse", "refs/checkpoints/42"))
}
