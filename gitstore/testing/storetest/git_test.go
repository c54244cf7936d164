package storetest_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/testing/gittest"
	"git-checkpoint/gitstore/testing/storetest"

	"github.com/stretchr/testify/require"
)

var (
	full         bool   // test all promises in each form, and long histories
	otherGitName string // set in the subprocess that runs with a git with reftable
)

func TestMain(m *testing.M) {
	full = os.Getenv("GIT_CHECKPOINT_TEST_MODEL") == "full"
	otherGitName = os.Getenv("GIT_CHECKPOINT_TEST_OTHER_GIT")
	os.Exit(gittest.Main(m))
}

var (
	plain    = gittest.NewTemplate(first)
	refTable = gittest.NewTemplate(first, "--ref-format=reftable")
)

func first(r *gittest.Repo) {
	r.Write("a.txt", "one\n")
	r.Git("add", "-A")
	r.Commit("first")
}

func open(t testing.TB, dir string, now func() time.Time) *gitstore.Store {
	t.Helper()
	s, err := gitstore.Open(context.Background(), gitstore.Options{Dir: dir, Now: now})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// world returns the World of a repository.
func world(r *gittest.Repo, handle func() storetest.Subject) storetest.World {
	return storetest.World{
		Open:    handle,
		Rewrite: func(i checkpoint.Issue, change func([]byte) []byte) { rewrite(r, i, change) },
		Stage: func(path, content string) {
			r.Write(path, content)
			r.Git("add", "--", path)
		},
		Files: func(c *gitstore.Checkpoint) map[string]string { return staged(r, c) },
	}
}

// staged returns the files below staged/ in a checkpoint.
func staged(r *gittest.Repo, c *gitstore.Checkpoint) map[string]string {
	held, tree := map[string]string{}, c.Commit.String()+":staged"
	for path := range strings.SplitSeq(strings.TrimSuffix(string(r.Pipe(nil, "ls-tree", "-rz", "--name-only", tree)), "\x00"), "\x00") {
		held[path] = string(r.Pipe(nil, "cat-file", "blob", tree+"/"+path))
	}
	return held
}

// rewrite replaces the record at the tip of an issue and updates the refs with known
// tips. Otherwise the store would assume that plain git moved the ref.
func rewrite(r *gittest.Repo, i checkpoint.Issue, change func([]byte) []byte) {
	tip := gitstore.LiveRef(i)
	blob := r.Git("rev-parse", tip+":checkpoint.yaml")
	changed := r.Hash(string(change(r.Pipe(nil, "cat-file", "blob", blob))))
	entries := bytes.Replace(r.Pipe(nil, "ls-tree", "-z", tip), []byte(blob), []byte(changed), 1)
	tree := strings.TrimSpace(string(r.Pipe(entries, "mktree", "-z")))
	commit := strings.Replace(string(r.Pipe(nil, "cat-file", "commit", tip)), r.Git("rev-parse", tip+"^{tree}"), tree, 1)
	hash := strings.TrimSpace(string(r.Pipe([]byte(commit), "hash-object", "-t", "commit", "-w", "--stdin")))
	r.Git("update-ref", tip, hash)
	r.Git("update-ref", "refs/git-checkpoint/own/"+i.RefName(), hash)
}
