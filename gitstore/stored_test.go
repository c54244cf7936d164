package gitstore

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The golden file contains every object of a chain in git's output format. Changes here
// are format changes.
func TestStoredForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.s.repo.Random = func() string { return "fixed" }
	w.Write("a.txt", "staged\n")
	w.Write("dir/new.txt", "new\n")
	w.Git("add", "-A")
	first := w.save(w.request(checkpoint.BatchComplete))
	w.Write("dir/b.txt", "unstaged\n")
	w.Write("note.txt", "untracked\n")
	w.Write("out/log.txt", "artifact\n")
	req := w.request(checkpoint.Manual, func(r *checkpoint.Record) { r.SetNote("first line\n\nCheckpoint-Id: CP-forged\n") })
	req.Artifacts = []string{"out/log.txt"}
	saved := w.save(req)
	_, err := w.s.Pin(ctx, "42", saved.ID, true)
	require.NoError(t, err)
	_, err = w.s.chain.SetPoint(ctx, "42", "", first.ID)
	require.NoError(t, err)
	w.sound()
	golden(t, objectformat.Name+"/chain.txt", w.dump("refs/checkpoints/42"))
}

// dump returns a chain's commits, trees and files as text.
func (w *world) dump(ref string) string {
	var b strings.Builder
	for at := ref; ; {
		hash := w.Git("rev-parse", at)
		fmt.Fprintf(&b, "== commit %s\n%s\n", hash, w.Git("cat-file", "commit", hash))
		fmt.Fprintf(&b, "-- tree\n%s\n", w.Git("ls-tree", "-r", "-t", hash))
		for _, name := range []string{"checkpoint.yaml", "ledger"} {
			if out, err := w.Run(nil, "cat-file", "blob", hash+":"+name); err == nil {
				fmt.Fprintf(&b, "-- %s\n%s", name, out)
			}
		}
		parents := strings.Fields(w.Git("log", "-1", "--format=%P", hash))
		if len(parents) > 1 {
			fmt.Fprintf(&b, "-- state commit %s\n%s\n", parents[1], w.Git("cat-file", "commit", parents[1]))
			index := w.Git("rev-parse", parents[1]+"^2")
			fmt.Fprintf(&b, "-- index commit %s\n%s\n", index, w.Git("cat-file", "commit", index))
		}
		if len(parents) == 0 {
			return b.String()
		}
		at = parents[0]
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("..", "testdata", "store", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o666))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// Every clone creates identical genesis commits.
func TestGenesisIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	for issue, want := range map[checkpoint.Issue]string{
		"42":      gittest.ByFormat("4d5062388204c4c60c9aed7c711c73893fd6ea5b", "ff9981e5357d3b7a715e265f4f7e1fd0d1a1977c16e5e27efd2314837a66b6fc"),
		"PROJ-42": "",
		"a/b":     "",
	} {
		t.Run(string(issue), func(t *testing.T) {
			got := chain.Genesis(issue)
			if want != "" {
				assert.Equal(t, want, got.Hash.String())
			}
			w := newWorld(t)
			w.now = w.now.Add(time.Hour * 1000)
			w.Git("config", "user.name", "Somebody Else")
			req := w.request(checkpoint.Manual)
			req.Issue = issue
			w.save(req)
			assert.Equal(t, got.Hash.String(), w.Git("rev-list", "--max-parents=0", "--first-parent", LiveRef(issue)))
		})
	}
}
