package convert

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// attributePlaces are locations of attributes, and settings that convert without
// attributes.
var attributePlaces = []struct {
	name string
	put  func(r *gittest.Repo, text string)
}{
	{"root", func(r *gittest.Repo, text string) { r.Write(".gitattributes", text) }},
	{"above", func(r *gittest.Repo, text string) { r.Write("dir/.gitattributes", text) }},
	{"beside", func(r *gittest.Repo, text string) { r.Write("other/.gitattributes", text) }},
	// git hash-object ignores staged attributes, unlike git add.
	{"staged", func(r *gittest.Repo, text string) {
		r.Git("update-index", "--add", "--cacheinfo", "100644,"+r.Hash(text)+",dir/sub/.gitattributes")
	}},
	{"info", func(r *gittest.Repo, text string) { r.Write(".git/info/attributes", text) }},
	{"configured", func(r *gittest.Repo, text string) {
		r.Write("../attributes", text)
		r.Git("config", "core.attributesFile", r.Path("../attributes"))
	}},
	{"user", func(_ *gittest.Repo, text string) {
		dir := filepath.Join(os.Getenv("HOME"), ".config", "git")
		_ = os.MkdirAll(dir, 0o755)
		_ = os.WriteFile(filepath.Join(dir, "attributes"), []byte(text), 0o644)
	}},
	{"autocrlf", func(r *gittest.Repo, _ string) { r.Git("config", "core.autocrlf", "true") }},
	{"input", func(r *gittest.Repo, _ string) { r.Git("config", "core.autocrlf", "input") }},
	{"strict", func(r *gittest.Repo, _ string) {
		r.Git("config", "core.autocrlf", "true")
		r.Git("config", "core.safecrlf", "true")
	}},
}

var (
	attributeTexts = []string{
		"* text", "* text=auto", "* eol=crlf", "* crlf", "* filter=up", "* ident", "* working-tree-encoding=UTF-16LE",
		"[attr]big filter=up\n* big", "* -diff",
	}
	convertedTexts = []string{"", "plain\n", "a\r\nb\r\n", "$Id: 1234 $\n", "$Id$\n", "no end", "\x00\x01", "a\x00b\x00\n\x00"}
)

// Hash returns the blobs that git hash-object returns, for all locations and contents of
// attributes. In each location, some files are hashed without git.
func TestHashMatchesGitHashObject(t *testing.T) {
	for _, place := range attributePlaces {
		t.Run(place.name, func(t *testing.T) {
			t.Setenv("XDG_CONFIG_HOME", "")
			r := newRepo(t)
			taken := 0
			for _, attributes := range attributeTexts {
				place.put(r, attributes+"\n")
				taken += checkHashes(t, r, attributes)
			}
			assert.NotZero(t, taken, "no file was taken as it stands")
		})
	}
}

// newRepo returns a repository that shares its environment with this process.
func newRepo(t *testing.T) *gittest.Repo {
	t.Helper()
	r := gittest.New(t)
	for _, kv := range r.Env() {
		if key, value, _ := strings.Cut(kv, "="); key == "HOME" {
			t.Setenv(key, value)
		}
	}
	r.Git("config", "filter.up.clean", "tr a-z A-Z")
	r.Git("config", "filter.up.required", "true")
	return r
}

// checkHashes compares Hash with git hash-object, and returns the number of files that
// need no git process.
func checkHashes(t *testing.T, r *gittest.Repo, attributes string) (taken int) {
	t.Helper()
	h := newHasher(t, r)
	var names []string
	var told strings.Builder
	for i, text := range convertedTexts {
		names = append(names, fmt.Sprintf("dir/sub/%d", i))
		r.Write(names[i], text)
		if !h.Plain(names[i]).IsZero() {
			taken++
		}
	}
	hashes, err := h.Hash(context.Background(), names)
	require.NoError(t, err)
	for _, hash := range hashes {
		fmt.Fprintln(&told, hash)
	}
	want := r.Pipe([]byte(strings.Join(names, "\n")+"\n"), "hash-object", "--stdin-paths")
	assert.Equal(t, string(want), told.String(), attributes)
	return taken
}

func newHasher(t *testing.T, r *gittest.Repo) *Hasher {
	t.Helper()
	root, err := os.OpenRoot(r.Dir)
	require.NoError(t, err)
	t.Cleanup(func() { root.Close() })
	g := git.Git{Dir: r.Dir}
	entries, err := g.Config(context.Background())
	require.NoError(t, err)
	return New(g, entries, r.GitPath(""), root)
}

// Hash handles names that git cannot read from stdin, symlinks, large files and missing
// files.
func TestHashOfUnusualFiles(t *testing.T) {
	r := newRepo(t)
	r.Write(".gitattributes", "*.up filter=up\n")
	r.Write("a\nb", "x\r\n")
	r.Write("\"q\".up", "x\n")
	r.Write("large", strings.Repeat("0123456789abcde\n", maxPlain/16+1))
	require.NoError(t, os.Symlink("large", r.Path("link")))
	names := []string{"gone", "a\nb", "\"q\".up", "large", "link"}
	hashes, err := newHasher(t, r).Hash(context.Background(), names)
	require.NoError(t, err)
	assert.Equal(t, plumbing.ZeroHash, hashes[0])
	for i, name := range names[1:] {
		assert.Equal(t, r.Git("hash-object", "--", name), hashes[i+1].String(), "%q", name)
	}
}

// If a required filter fails, the hash of the file is zero; other files are not affected.
func TestHashOfFailingFilter(t *testing.T) {
	r := newRepo(t)
	r.Git("config", "filter.up.clean", "false")
	r.Write(".gitattributes", "*.up filter=up\n")
	r.Write("x.up", "x\n")
	r.Write("x", "x\n")
	hashes, err := newHasher(t, r).Hash(context.Background(), []string{"x.up", "x"})
	require.NoError(t, err)
	assert.Equal(t, plumbing.ZeroHash, hashes[0])
	assert.Equal(t, r.Hash("x\n"), hashes[1].String())
}

// If staged attributes may convert, Hash runs git.
func TestStagedAttributesNeedGit(t *testing.T) {
	r := newRepo(t)
	r.Write("dir/x", "x\n")
	h := newHasher(t, r)
	h.Staged = func(file string) ([]byte, error) {
		if file == "dir/.gitattributes" {
			return []byte("x filter=up\n"), nil
		}
		return nil, nil
	}
	assert.Equal(t, plumbing.ZeroHash, h.Plain("dir/x"))
	assert.NotEqual(t, plumbing.ZeroHash, newHasher(t, r).Plain("dir/x"))
}
