package checkpoint

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// foreign returns the external folder of real files.
func foreign(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		require.NotEqual(t, "/", dir)
		dir = filepath.Dir(dir)
	}
	dir = filepath.Join(dir, "..", "shared", "foreign")
	if _, err := os.Stat(dir); err != nil {
		require.NotEqual(t, "true", os.Getenv("CI"), "CI needs the real files: %v", err)
		t.Skip("no real files here: ", err)
	}
	return dir
}

// Every real document survives a round trip with its key order, or is rejected with a
// position.
func TestRealDocuments(t *testing.T) {
	documents, refused := 0, 0
	err := filepath.WalkDir(foreign(t), func(name string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		ext := filepath.Ext(name)
		if d.IsDir() || ext != ".yaml" && ext != ".json" {
			return nil
		}
		m, err := DecodeDocument(read(t, name), DefaultLimits)
		if err != nil {
			var se *SyntaxError
			require.True(t, errors.As(err, &se), "%s: %v", name, err)
			assert.Positive(t, se.Line)
			assert.Positive(t, se.Column)
			t.Logf("%s: %v", filepath.Base(name), err)
			refused++
			return nil
		}
		documents++
		requireRoundTrip(t, m)
		return nil
	})
	require.NoError(t, err)
	t.Log(documents, "read,", refused, "refused")
	assert.Greater(t, documents, 100)
	assert.Less(t, refused, documents/4)
}
