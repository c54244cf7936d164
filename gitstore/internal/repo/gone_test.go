package repo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { os.Exit(gittest.Main(m)) }

// TestObjectThatIsBackAgainWasGone checks that a save takes a new snapshot after an object was
// missing for a moment: a gc deleted it, and another process has written it again.
func TestObjectThatIsBackAgainWasGone(t *testing.T) {
	t.Parallel()
	r := gittest.Seed.New(t)
	s, err := Open(context.Background(), Options{Dir: r.Dir})
	require.NoError(t, err)
	k := s.NewObjectWriter()
	there := plumbing.NewHash(r.Git("rev-parse", "HEAD"))
	k.Keep(there)
	assert.ErrorIs(t, k.gone(fmt.Errorf("object %s: %w", there, odb.ErrKeptGone)), ErrObjectsGone)
	assert.Equal(t, os.ErrPermission, k.gone(os.ErrPermission))
}

// Git reads each quoted value unchanged.
func TestQuotedValueIsReadByGit(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config")
	for _, value := range []string{
		"", "/plain", " spaces ", "a\"b", `a\b\t`, "line\nbreak", "tab\t", "\b", "# ; =", "caf\xe9", "zero\u200bwidth", "bell\a\x1f\x7f", "a\rb",
	} {
		require.NoError(t, os.WriteFile(file, []byte("[a]\n\tb = "+quoted(value)+"\n"), 0o666))
		got, err := git.Git{}.Output(t.Context(), "config", "--null", "--file", file, "a.b")
		require.NoError(t, err)
		assert.Equal(t, value+"\x00", string(got))
	}
}
