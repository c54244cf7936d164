// Package layouttest reads the test documents of all layouts.
package layouttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/internal/codec"

	"github.com/stretchr/testify/require"
)

// Doc returns a test document of a system.
func Doc(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root(), system(name), "testdata", name))
	require.NoError(t, err)
	return data
}

// system returns the system in the name of a test document.
func system(name string) string {
	return name[:strings.IndexAny(name, "-.")]
}

// Docs returns the names of the test documents of a system, of all systems if as is "".
func Docs(t testing.TB, as string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root(), as+"*", "testdata", "*.*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for i, name := range files {
		files[i] = filepath.Base(name)
	}
	return files
}

// root returns the folder of package layout, for a test of this package or of a system.
func root() string {
	if _, err := os.Stat("internal"); err == nil {
		return "."
	}
	return ".."
}

// Read parses a valid test document.
func Read(t testing.TB, name string) *codec.File {
	t.Helper()
	f, err := layout.Read("", name, Doc(t, name))
	require.NoError(t, err)
	require.NoError(t, f.Err(false))
	return f
}

// Stored returns a record after a round trip through its encoding.
func Stored(t testing.TB, r *checkpoint.Record) *checkpoint.Record {
	t.Helper()
	data, err := r.Encode()
	require.NoError(t, err)
	r, err = checkpoint.Decode(data)
	require.NoError(t, err)
	return r
}

// MustTime parses a time.
func MustTime(t testing.TB, s string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, s)
	require.NoError(t, err)
	return at
}
