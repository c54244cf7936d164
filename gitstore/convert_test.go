package gitstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"git-checkpoint/gitstore/internal/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Where attributes may stand, and settings that convert without any.
var attributePlaces = []struct {
	name string
	put  func(w *world, text string)
}{
	{"root", func(w *world, text string) { w.Write(".gitattributes", text) }},
	{"above", func(w *world, text string) { w.Write("dir/.gitattributes", text) }},
	{"beside", func(w *world, text string) { w.Write("other/.gitattributes", text) }},
	// git hash-object does not look there where git add does.
	{"staged", func(w *world, text string) {
		w.Git("update-index", "--add", "--cacheinfo", "100644,"+w.Hash(text)+",dir/sub/.gitattributes")
	}},
	{"info", func(w *world, text string) { w.Write(".git/info/attributes", text) }},
	{"configured", func(w *world, text string) {
		w.Write("../attributes", text)
		w.Git("config", "core.attributesFile", w.Path("../attributes"))
	}},
	{"user", func(w *world, text string) {
		dir := filepath.Join(os.Getenv("HOME"), ".config", "git")
		must(os.MkdirAll(dir, 0o755))
		must(os.WriteFile(filepath.Join(dir, "attributes"), []byte(text), 0o644))
	}},
	{"autocrlf", func(w *world, _ string) { w.Git("config", "core.autocrlf", "true") }},
}

var (
	attributeTexts = []string{
		"* text", "* text=auto", "* eol=crlf", "* crlf", "* filter=up", "* ident", "* working-tree-encoding=UTF-16LE",
		"[attr]big filter=up\n* big", "* -diff",
	}
	convertedTexts = []string{"", "plain\n", "a\r\nb\r\n", "$Id: 1234 $\n", "no end", "\x00\x01", "a\x00b\x00\n\x00"}
)

// Whatever is taken as it stands has the hash that git would give it; and what
// nothing converts is not left to git.
func TestPlainFilesAreWhatGitStores(t *testing.T) {
	for _, place := range attributePlaces {
		t.Run(place.name, func(t *testing.T) {
			t.Setenv("XDG_CONFIG_HOME", "")
			w := newWorld(t, func(r *gittest.Repo) { r.Git("config", "filter.up.clean", "tr a-z A-Z") })
			taken := 0
			for _, attributes := range attributeTexts {
				place.put(w, attributes+"\n")
				taken += w.checkPlain(attributes)
			}
			assert.NotZero(t, taken, "no file was taken as it stands")
		})
	}
}

// checkPlain compares the files that are taken as they stand with what git makes
// of them, and counts them.
func (w *world) checkPlain(attributes string) (taken int) {
	w.t.Helper()
	s, err := Open(context.Background(), Options{Dir: w.Path("")})
	require.NoError(w.t, err)
	defer s.Close()
	snap, err := s.stagingArea(context.Background())
	require.NoError(w.t, err)
	root, err := os.OpenRoot(w.Path(""))
	require.NoError(w.t, err)
	defer root.Close()
	k := s.newSink()
	for _, o := range snap.made {
		k.Add(o.kind, o.data)
	}
	v := &converter{
		c: &capture{s: s, k: k, snap: &snapshot{area: snap}}, root: root,
		outside: sync.OnceValue(s.attributesElsewhere), inside: map[string]bool{},
	}
	for i, text := range convertedTexts {
		name := fmt.Sprintf("dir/sub/%d", i)
		w.Write(name, text)
		hash := v.plain(name)
		if hash.IsZero() {
			continue
		}
		taken++
		assert.Equal(w.t, w.Git("hash-object", "--", name), hash.String(), "%q with %q", text, attributes)
	}
	return taken
}
