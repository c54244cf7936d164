package layout_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/claude"
	"git-checkpoint/gitstore/layout/crunch"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/testing/layouttest"
	"git-checkpoint/gitstore/layout/internal/values"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite golden files")

// foreignDir is the external folder with real files.
var foreignDir = filepath.Join("..", "..", "..", "shared", "foreign")

// realFile is a real file: its name in the folder, its original path, and its content.
type realFile struct {
	name, path string
	data       []byte
}

func realFiles(t testing.TB) []realFile {
	t.Helper()
	if _, err := os.Stat(foreignDir); err != nil {
		require.NotEqual(t, "true", os.Getenv("CI"), "CI needs the real files: %v", err)
		t.Skip("no real files here: ", err)
	}
	var files []realFile
	err := filepath.WalkDir(foreignDir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "PROVENANCE.md" {
			return err
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(foreignDir, p)
		parts := strings.Split(d.Name(), "__")
		found := strings.ReplaceAll(parts[len(parts)-1], "~", "/")
		files = append(files, realFile{filepath.ToSlash(rel), found, data})
		return err
	})
	require.NoError(t, err)
	require.Greater(t, len(files), 140)
	return files
}

// verdict returns the kind of a file, or the reason for its rejection.
func verdict(f realFile) string {
	if why := layout.Ignored(f.path); why != "" {
		return "ignored: " + why
	}
	file, err := readAny(f)
	if err != nil {
		return "refused: " + err.Error()
	}
	if err := file.Err(false); err != nil {
		return "refused: " + err.Error()
	}
	out := string(file.Layout) + " " + file.Kind
	if file.Version != "" {
		out += " " + file.Version
	}
	return out + " key=" + file.Key()
}

// readAny parses a file of any layout or source.
func readAny(f realFile) (*codec.File, error) {
	file, err := layout.Read("", f.path, f.data)
	if errors.As(err, new(*codec.UnknownDocumentError)) {
		for _, from := range layout.Sources() {
			if file, err := layout.Read(from, f.path, f.data); err == nil {
				return file, nil
			}
		}
	}
	return file, err
}

// The golden file has a line for each real file: its kind, or the reason for its
// rejection.
func TestRealFilesTable(t *testing.T) {
	var b strings.Builder
	for _, f := range realFiles(t) {
		fmt.Fprintf(&b, "%s\n\t%s\n", f.name, strings.ReplaceAll(verdict(f), "\n", "\n\t"))
	}
	name := filepath.Join("testdata", "foreign.golden")
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String())
}

// imported parses a real file and returns nil if the file is not importable.
func imported(f realFile) *codec.File {
	if layout.Ignored(f.path) != "" {
		return nil
	}
	file, err := readAny(f)
	if err != nil || file.Err(false) != nil {
		return nil
	}
	return file
}

// Importable files survive a round trip through a stored record byte for byte.
func TestRealFilesRoundTrip(t *testing.T) {
	seen := 0
	for _, f := range realFiles(t) {
		file := imported(f)
		if file == nil {
			continue
		}
		seen++
		t.Run(f.name, func(t *testing.T) {
			r := file.Apply(nil)
			r.SetCreatedAt(layouttest.MustTime(t, "2026-11-21T10:00:00Z"))
			data, err := r.Encode()
			require.NoError(t, err)
			r, err = checkpoint.Decode(data)
			require.NoError(t, err)
			out, err := layout.Find(file.Layout).Of(r)
			require.NoError(t, err)
			require.Len(t, out, 1)
			assert.Equal(t, string(f.data), string(out[0].Data))
		})
	}
	assert.Greater(t, seen, 80)
}

// After changes, or without the original bytes, documents keep all keys in order.
func TestRealFilesKeepKeyOrder(t *testing.T) {
	seen := 0
	for _, f := range realFiles(t) {
		file := imported(f)
		if file == nil || file.Layout == crunch.Name && file.Kind == "story" {
			continue
		}
		seen++
		t.Run(f.name, func(t *testing.T) {
			r := file.Apply(nil)
			r.SetCreatedAt(layouttest.MustTime(t, "2026-11-21T10:00:00Z"))
			values.Sub(r.Doc(), "layout.files."+file.Kind).Delete("text")
			out, err := layout.Find(file.Layout).Of(layouttest.Stored(t, r))
			require.NoError(t, err)
			again, err := layout.Read(file.Layout, f.path, out[0].Data)
			require.NoError(t, err)
			assert.True(t, values.Same(file.Doc, again.Doc), "%s", out[0].Data)

			require.NoError(t, r.Doc().Assign("workflow.status", "failed"))
			out, err = layout.Find(file.Layout).Of(layouttest.Stored(t, r))
			require.NoError(t, err)
			was, err := checkpoint.DecodeDocument(f.data, checkpoint.DefaultLimits)
			require.NoError(t, err)
			now, err := checkpoint.DecodeDocument(out[0].Data, checkpoint.DefaultLimits)
			require.NoError(t, err)
			if !file.Whole() { // a record has its own key order
				ordered(t, was, now, "")
			}
		})
	}
	assert.Greater(t, seen, 80)
}

// ordered asserts that all keys are still present in their original order.
func ordered(t *testing.T, was, now *checkpoint.Map, at string) {
	t.Helper()
	keys := slices.DeleteFunc(now.Keys(), func(k string) bool { return !values.Has(was, k) })
	assert.Equal(t, was.Keys(), keys, at)
	for key, v := range was.All() {
		before, isMap := v.(*checkpoint.Map)
		after, still := values.Get(now, checkpoint.PathOf("", key)).(*checkpoint.Map)
		if isMap && still {
			ordered(t, before, after, checkpoint.PathOf(at, key))
		}
	}
}

// exercise asserts that an accepted document survives a round trip through a record.
func exercise(t testing.TB, as codec.Name, path string, data []byte) {
	f, err := layout.Read(as, path, data)
	if err != nil || f.Err(false) != nil {
		return
	}
	r := f.Apply(nil)
	_, _, _ = f.Key(), f.ID(), f.Trigger()
	if f.Layout != crunch.Name {
		r.SetCreatedAt(time.Unix(0, 0))
	}
	out, err := layout.Find(f.Layout).Of(r)
	require.NoError(t, err, "%s", data)
	require.Len(t, out, 1)
	require.Equal(t, string(data), string(out[0].Data))
}

// Real documents migrate to the same result as with the system's own migration.
func TestRealMigration(t *testing.T) {
	docs := map[string]*checkpoint.Map{}
	for _, f := range realFiles(t) {
		if file := imported(f); file != nil && file.Layout == claude.Name && file.Kind == "checkpoint" {
			docs[f.name] = file.Doc
		}
	}
	want := docs["001-002-benbrastmckie/gen__v2.0-to-2.1__migrated.json"]
	require.NotNil(t, want)
	for _, name := range []string{"gen__v1.0-to-1.1__migrated.json", "gen__v1.1-to-1.2__migrated.json", "gen__v1.2-to-1.3__migrated.json"} {
		got := docs["001-002-benbrastmckie/"+name]
		require.NotNil(t, got, name)
		assert.Equal(t, jsonOf(t, want), jsonOf(t, got), name)
	}
}
