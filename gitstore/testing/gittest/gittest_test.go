package gittest

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The hash of a commit is reproducible, because identity, dates and configuration are
// fixed.
func TestCommitIsReproducible(t *testing.T) {
	t.Setenv("GIT_AUTHOR_NAME", "somebody else")
	t.Setenv("GIT_DIR", "/nowhere")
	r := New(t)
	r.Write("a/b.txt", "text\n")
	r.Git("add", "-A")
	want := ByFormat("2d963d8019aae642071c83acdc7dc8d6552966ec", "cfa395dc19cc9f2fc4918c9dbe98d531264a42d30c3c22dd17d0b63726b2b24c")
	assert.Equal(t, want, r.Commit("first"))
	first := r.Git("log", "-1", "--format=%ct")
	r.Commit("second")
	assert.NotEqual(t, first, r.Git("log", "-1", "--format=%ct"))
}

func TestGenerate(t *testing.T) {
	r := New(t)
	head := r.Generate(1000)
	assert.Equal(t, head, r.Git("rev-parse", "main"))
	assert.Len(t, strings.Split(r.Git("ls-files"), "\n"), 1000)
	assert.Equal(t, r.Git("rev-parse", "HEAD^{tree}"), r.Git("write-tree"))
	assert.Len(t, r.Stage(1000, 10, 1), 10)
	assert.Len(t, strings.Split(r.Git("diff", "--cached", "--name-only"), "\n"), 10)

	r.Checkout()
	assert.Equal(t, GeneratedContent(999), r.Read(GeneratedPath(999)))
	assert.Empty(t, r.Git("status", "--porcelain"))
}

func TestRunErrorContainsStderr(t *testing.T) {
	_, err := New(t).Run(nil, "rev-parse", "--verify", "nothing")
	var e *CommandError
	require.ErrorAs(t, err, &e)
	assert.Contains(t, e.Stderr, "fatal: Needed a single revision")
}

func TestEnvKeepsPath(t *testing.T) {
	assert.Contains(t, Env("/home"), "PATH="+os.Getenv("PATH"))
}
