package gitstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stage makes changes of all kinds.
func stage(r *gittest.Repo) {
	r.Write("a.txt", "changed\n")
	r.Write("new dir/ünï \"q\"\nline\t.txt", "odd name\n")
	r.Write("latin-\xe9.txt", "bytes\n")
	r.Write("run.sh", "#!/bin/sh\n")
	must(os.Chmod(r.Path("run.sh"), 0o755))
	must(os.Symlink("a.txt", r.Path("link")))
	r.Git("rm", "-q", "--cached", "dir/b.txt")
	r.Git("add", "-A", "--", "a.txt", "new dir", "latin-\xe9.txt", "run.sh", "link")
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// The staged tree equals git write-tree for every index format.
func TestStagedTreeMatchesWriteTree(t *testing.T) {
	gittest.Slow(t)
	for name, setup := range map[string]func(r *gittest.Repo){
		"plain":     stage,
		"version 3": func(r *gittest.Repo) { stage(r); r.Write("later", "x"); r.Git("add", "-N", "later") },
		"version 4": func(r *gittest.Repo) { stage(r); r.Git("update-index", "--index-version", "4") },
		"split":     func(r *gittest.Repo) { r.Git("update-index", "--split-index"); stage(r) },
		"skip hash": func(r *gittest.Repo) { r.Git("config", "index.skipHash", "true"); stage(r) },
		"unborn":    func(r *gittest.Repo) { r.Git("symbolic-ref", "HEAD", "refs/heads/new"); stage(r) },
		"detached":  func(r *gittest.Repo) { r.Git("checkout", "-q", "--detach"); stage(r) },
		"empty":     func(r *gittest.Repo) { r.Git("rm", "-rq", "--cached", ".") },
		"no index":  func(r *gittest.Repo) { must(os.Remove(r.GitPath("index"))) },
		"packed":    func(r *gittest.Repo) { stage(r); r.Git("gc", "-q", "--prune=now") },
		"assume":    func(r *gittest.Repo) { stage(r); r.Git("update-index", "--assume-unchanged", "a.txt") },
		"submodule": func(r *gittest.Repo) {
			r.Git("update-index", "--add", "--cacheinfo", "160000,"+r.Git("rev-parse", "HEAD")+",sub")
		},
		"sparse": func(r *gittest.Repo) {
			r.Git("sparse-checkout", "set", "--cone", "other")
			r.Write("a.txt", "x")
			r.Git("add", "a.txt")
		},
		"sparse index": func(r *gittest.Repo) {
			r.Git("sparse-checkout", "set", "--cone", "--sparse-index", "other")
			r.Write("a.txt", "x")
			r.Git("add", "a.txt")
		},
		"shared group":  func(r *gittest.Repo) { r.Git("config", "core.sharedRepository", "group"); stage(r) },
		"shared octal":  func(r *gittest.Repo) { r.Git("config", "core.sharedRepository", "0640"); stage(r) },
		"bare is false": func(r *gittest.Repo) { r.Git("config", "core.bare", "false"); stage(r) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, setup)
			w.checkStaged(w.save(w.request(checkpoint.Manual)))
		})
	}
}

// checkStaged compares a checkpoint with git's view of the worktree.
func (w *world) checkStaged(saved *Saved) {
	w.t.Helper()
	rev := saved.Commit.String()
	assert.Equal(w.t, w.Git("write-tree"), w.Git("rev-parse", rev+":staged"))
	assert.Equal(w.t, w.Git("write-tree"), w.Git("rev-parse", rev+"^2^2^{tree}"))
	assert.Equal(w.t, w.Git("rev-parse", rev+":state"), w.Git("rev-parse", rev+"^2^{tree}"))
	head, err := w.Run(nil, "rev-parse", "--verify", "-q", "HEAD")
	if err != nil {
		assert.Equal(w.t, "checkpoints of issue 42", w.Git("log", "-1", "--format=%s", rev+"^2^"))
		assert.Empty(w.t, saved.Record.Snapshot().Head)
	} else {
		assert.Equal(w.t, strings.TrimSpace(string(head)), w.Git("rev-parse", rev+"^2^"))
		assert.Equal(w.t, checkpoint.HashText(strings.TrimSpace(string(head))), saved.Record.Snapshot().Head)
	}
	w.sound()
}

func TestSaveInASubmodule(t *testing.T) {
	t.Parallel()
	inner, w := newWorld(t), newWorld(t)
	w.Git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.Dir, "sub")
	w.Write("sub/a.txt", "in the submodule\n")
	sub := worldIn(t, w.Repo, w.Path("sub"))
	sub.Git("add", "-A")
	sub.checkStaged(sub.save(sub.request(checkpoint.Manual)))
	assert.Empty(t, w.live())
	w.checkStaged(w.save(w.request(checkpoint.Manual)))
}

func TestOpenRefusesPathWithLineBreak(t *testing.T) {
	r := gittest.At(t, filepath.Join(t.TempDir(), "two\nlines"), t.TempDir())
	must(os.Mkdir(r.Dir, 0o777))
	r.Git("init", "-q")
	t.Setenv("GIT_DIR", filepath.Join(r.Dir, ".git"))
	_, err := Open(ctx, Options{Dir: r.Dir})
	require.ErrorAs(t, err, new(*UnsupportedError))
}
