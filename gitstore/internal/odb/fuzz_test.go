package odb

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzLoose(f *testing.F) {
	f.Add(deflate([]byte("blob 7\x00content")))
	f.Add(deflate([]byte("tree 0\x00")))
	path := filepath.Join(f.TempDir(), "object")
	f.Fuzz(func(t *testing.T, data []byte) {
		require.NoError(t, os.WriteFile(path, data, 0o666))
		kind, content, err := readLoose(path)
		if err != nil {
			return
		}
		headKind, size, err := headLoose(path)
		require.NoError(t, err)
		require.Equal(t, kind, headKind)
		require.Equal(t, int64(len(content)), size)
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(absent.String() + " blob 7\ncontent\n"))
	f.Add([]byte(absent.String() + " blob 99999999\ncontent\n"))
	f.Add([]byte(absent.String() + " missing\n"))
	f.Fuzz(func(t *testing.T, out []byte) {
		a, err := readAnswer(bufio.NewReader(bytes.NewReader(out)), forContents, absent)
		require.True(t, err != nil || len(a.content) < len(out))
	})
}
