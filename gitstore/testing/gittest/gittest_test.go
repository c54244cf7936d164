package gittest

import (
	"testing"

	"github.com/stretchr/testify/assert"
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
