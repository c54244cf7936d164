package web

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (w *world) export(file string, issues ...checkpoint.Issue) (string, []string) {
	w.t.Helper()
	repo, err := w.open(w.t.Context())
	require.NoError(w.t, err)
	defer repo.Close()
	left, err := Export(w.t.Context(), into(file), repo, w.o, issues, false)
	require.NoError(w.t, err)
	data, err := os.ReadFile(file)
	require.NoError(w.t, err)
	return string(data), left
}

// into returns a function that writes an exported page to file.
func into(file string) func(string, io.Reader) error {
	return func(_ string, page io.Reader) error { return Put(file, page) }
}

// Exported files stay small and report omitted content.
func TestExportLimitsContent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	for i := range exportWhole + 2 {
		w.save("42", "p", "manual", fmt.Sprint("note ", i), nil)
	}
	file := filepath.Join(t.TempDir(), "out.html")
	page, left := w.export(file, "42")
	assert.Empty(t, left, "every checkpoint is in the timeline")
	assert.Equal(t, exportWhole, strings.Count(page, `<details class="cp"`))
	has(t, page, "note 0")
	assert.Less(t, len(page), 1<<20)

	repo, err := w.open(t.Context())
	require.NoError(t, err)
	defer repo.Close()
	_, err = Export(t.Context(), into(filepath.Join(t.TempDir(), "nowhere", "x.html")), repo, w.o, nil, false)
	require.Error(t, err)
	_, err = Export(t.Context(), into(file), repo, w.o, []checkpoint.Issue{"99"}, false)
	require.Error(t, err)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, page, string(data), "a failure leaves what was there")
}

// Each link of a site leads to a file and an anchor that exist. Nothing is loaded from elsewhere.
func TestExportedSiteIsWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	w.turns()
	w.hostileWork()
	w.save(strings.Repeat("é", 30), "", checkpoint.Manual, "a long name", nil)
	w.fork(w.turn("42", "claude", "the last"), "a")
	repo, err := w.open(t.Context())
	require.NoError(t, err)
	defer repo.Close()
	pages := map[string]string{}
	notes, err := Export(t.Context(), func(name string, page io.Reader) error {
		data, err := io.ReadAll(page)
		assert.Regexp(t, `^[A-Za-z0-9_-]{1,200}\.html$`, name)
		pages[name] = string(data)
		return err
	}, repo, w.o, nil, true)
	require.NoError(t, err)
	assert.Empty(t, notes)
	assert.Len(t, pages, 5)
	for name, page := range pages {
		assertHarmless(t, name, page)
		_, body, _ := strings.Cut(page, "<body")
		for _, to := range groups(body, `href="([^"]+)"`) {
			file, anchor, _ := strings.Cut(to, "#")
			if file == "" {
				file = name
			}
			target, ok := pages[file]
			assert.True(t, ok, "%s: %s", name, to)
			assert.True(t, anchor == "" || strings.Contains(target, `id="`+anchor+`"`), "%s: %s", name, to)
		}
	}
	has(t, pages["issue-42.html"], "Attempts")
}
