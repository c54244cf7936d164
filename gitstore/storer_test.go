package gitstore

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// go-git reads the chain, the trees and the records of an issue through the storer, and finds
// what git finds, wherever the objects are.
func TestStorerReadsAsGitDoes(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]func(t *testing.T, w *world) *Store{
		"loose": func(_ *testing.T, w *world) *Store { return w.s },
		"packed": func(t *testing.T, w *world) *Store {
			w.Git("pack-refs", "--all")
			w.Git("repack", "-q", "-a", "-d", "-f")
			return w.open(w.Dir)
		},
		"refs through git": func(t *testing.T, w *world) *Store {
			s := w.open(w.Dir)
			s.repo.Info.RefFormat, s.repo.Refs.Files = "another", false
			return s
		},
		"alternates": func(t *testing.T, w *world) *Store {
			dir := filepath.Join(t.TempDir(), "clone")
			w.Git("clone", "-q", "--shared", "--no-checkout", w.Dir, dir)
			out, err := exec.Command("git", "-C", dir, "fetch", "-q", "origin", "refs/checkpoints/*:refs/checkpoints/*").CombinedOutput()
			require.NoError(t, err, string(out))
			return w.open(dir)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Write("sub/new.txt", "first\n")
			w.captured()
			w.Write("sub/new.txt", "second\n")
			w.captured()
			s := place(t, w)
			compareWithGit(t, w, s.Storer(ctx))
		})
	}
}

// compareWithGit walks the chain of issue 42 with go-git and compares each commit with git.
func compareWithGit(t *testing.T, w *world, s *Storer) {
	ref, err := storer.ResolveReference(s, plumbing.ReferenceName(LiveRef("42")))
	require.NoError(t, err)
	commit, err := object.GetCommit(s, ref.Hash())
	require.NoError(t, err)
	names, records := walked(t, commit)
	assert.ElementsMatch(t, strings.Fields(w.Git("rev-list", LiveRef("42"))), names)
	assert.NotEmpty(t, records)
	for name, content := range records {
		assert.Equal(t, w.Git("show", name), strings.TrimSuffix(content, "\n"), name)
	}
}

// walked returns the commits of a chain, newest first, and the contents of its files by
// commit:path.
func walked(t *testing.T, commit *object.Commit) (names []string, files map[string]string) {
	t.Helper()
	files = map[string]string{}
	require.NoError(t, object.NewCommitPreorderIter(commit, nil, nil).ForEach(func(c *object.Commit) error {
		names = append(names, c.Hash.String())
		tree, err := c.Files()
		require.NoError(t, err)
		return tree.ForEach(func(f *object.File) error {
			content, err := f.Contents()
			files[c.Hash.String()+":"+f.Name] = content
			return err
		})
	}))
	return names, files
}

func TestStorerListsObjectsAndRefs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.captured()
	s := w.s.Storer(ctx)
	iter, err := s.IterEncodedObjects(plumbing.CommitObject)
	require.NoError(t, err)
	n := 0
	require.NoError(t, iter.ForEach(func(o plumbing.EncodedObject) error {
		size, err := s.EncodedObjectSize(o.Hash())
		n++
		assert.Equal(t, o.Size(), size)
		return errors.Join(err, s.HasEncodedObject(o.Hash()))
	}))
	count := strings.Count(w.Git("cat-file", "--batch-all-objects", "--batch-check"), " commit ")
	assert.Equal(t, count, n)

	refs, err := s.IterReferences()
	require.NoError(t, err)
	var got []string
	require.NoError(t, refs.ForEach(func(r *plumbing.Reference) error {
		got = append(got, fmt.Sprintf("%s %s", r.Hash(), r.Name()))
		return nil
	}))
	want := append([]string{plumbing.ZeroHash.String() + " HEAD"}, strings.Split(w.Git("for-each-ref", "--format=%(objectname) %(refname)"), "\n")...)
	assert.Equal(t, want, got, "HEAD is symbolic")
	loose, err := s.CountLooseRefs()
	require.NoError(t, err)
	assert.Positive(t, loose)
	require.NoError(t, s.PackRefs())
	loose, err = s.CountLooseRefs()
	require.NoError(t, err)
	assert.Zero(t, loose)

	_, err = s.EncodedObject(plumbing.BlobObject, plumbing.NewHash(w.Head()))
	require.ErrorIs(t, err, plumbing.ErrObjectNotFound, "it is a commit")
	_, err = s.Reference("refs/heads/none")
	require.ErrorIs(t, err, plumbing.ErrReferenceNotFound)
	_, err = s.Reference("refs/../x")
	require.Error(t, err)
	require.Error(t, s.AddAlternate("x"))
}

// A ref that go-git moves has git's value, a reflog entry, and moves only from the expected value.
func TestStorerWritesAsGitDoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.s.Storer(ctx)
	o := s.NewEncodedObject()
	o.SetType(plumbing.BlobObject)
	out, err := o.Writer()
	require.NoError(t, err)
	_, err = io.WriteString(out, "content\n")
	require.NoError(t, err)
	require.NoError(t, out.Close())
	h, err := s.SetEncodedObject(o)
	require.NoError(t, err)
	assert.Equal(t, "content", w.Git("cat-file", "blob", h.String()))

	head, name := plumbing.NewHash(w.Head()), plumbing.ReferenceName("refs/heads/by-go-git")
	require.NoError(t, s.SetReference(plumbing.NewHashReference(name, head)))
	assert.Equal(t, head.String(), w.Git("rev-parse", name.String()))
	assert.Contains(t, w.Git("reflog", "show", name.String()), "go-git: update")
	parent := plumbing.NewHash(w.Commit("next"))
	require.NoError(t, s.CheckAndSetReference(plumbing.NewHashReference(name, parent), plumbing.NewHashReference(name, head)))
	require.ErrorIs(t, s.CheckAndSetReference(plumbing.NewHashReference(name, head), plumbing.NewHashReference(name, head)), ErrRefMoved)
	assert.Equal(t, parent.String(), w.Git("rev-parse", name.String()))
	require.NoError(t, s.SetReference(plumbing.NewSymbolicReference("refs/heads/alias", name)))
	got, err := s.Reference("refs/heads/alias")
	require.NoError(t, err)
	assert.Equal(t, name, got.Target())
	require.NoError(t, s.RemoveReference(name))
	require.NoError(t, s.RemoveReference(name), "it is gone")
	require.Error(t, s.SetReference(plumbing.NewHashReference("refs/heads/../x", head)))
	_, err = os.Stat(w.GitPath("refs/x"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
