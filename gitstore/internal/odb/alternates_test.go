package odb

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/require"
)

func TestParseAlternates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in, sep string
		want    []string
	}{
		{"", "\n", nil},
		{"/a\n/b\n", "\n", []string{"/a", "/b"}},
		{"# note\n\n/a", "\n", []string{"/a"}},
		{"../rel/objects\n", "\n", []string{"../rel/objects"}},
		{`"/with \"quote\" and \303\251"` + "\n/b\n", "\n", []string{`/with "quote" and é`, "/b"}},
		{`"/a:b":/c`, ":", []string{"/a:b", "/c"}},
		{`"unfinished` + "\n/b", "\n", []string{`"unfinished`, "/b"}},
		{`"tail"x` + "\n/b", "\n", []string{`"tail"x`, "/b"}},
		{`"bad \q"` + "\n/b", "\n", []string{`"bad \q"`, "/b"}},
		{`"\`, "\n", []string{`"\`}},
		{`"\30`, "\n", []string{`"\30`}},
		{`"a\tb"`, "\n", []string{"a\tb"}},
	} {
		require.Equal(t, c.want, parseAlternates(c.in, c.sep), c.in)
	}
}

func TestJoinedAlternatesAreSplitAgain(t *testing.T) {
	t.Parallel()
	sep := string(os.PathListSeparator)
	dirs := []string{"/a", "/b" + sep + "c", `"quoted"`, "#no comment", `/back\slash`, `/d"` + sep + `\x`, "caf\xe9"}
	require.Equal(t, dirs, SplitAlternates(JoinAlternates(dirs)))
	require.Equal(t, "/a"+sep+"/b", JoinAlternates([]string{"/a", "/b"}))
	require.Empty(t, JoinAlternates(nil))
}

// Directories lists the alternates through which git finds an object, at most maxAlternates deep.
func TestDirectoriesMatchGit(t *testing.T) {
	t.Parallel()
	first := gittest.New(t)
	h, last := first.Hash("far away"), first
	for n := range maxAlternates + 1 {
		next := last.In(fmt.Sprintf("%s-%d", first.Dir, n))
		require.NoError(t, os.Mkdir(next.Dir, 0o777))
		next.Git("init", "-q")
		link := last.GitPath("objects")
		switch n % 3 {
		case 1:
			link = `"` + link + `"`
		case 2:
			link = "../../../" + filepath.Base(last.Dir) + "/.git/objects"
		}
		next.Write(".git/objects/info/alternates", "# a comment\n\n"+link+"\n")
		_, err := next.Run(nil, "cat-file", "-e", h)
		dirs := Directories(next.GitPath("objects"), []string{"/does/not/exist"})
		require.Equal(t, err == nil, slices.ContainsFunc(dirs, func(dir string) bool {
			return filepath.Clean(dir) == first.GitPath("objects")
		}), "%d: %v", n, dirs)
		last = next
	}
	first.Write(".git/objects/info/alternates", last.GitPath("objects")+"\n")
	require.Len(t, Directories(first.GitPath("objects"), nil), maxAlternates+1, "each once")
}
