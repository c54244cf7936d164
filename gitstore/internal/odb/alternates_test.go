package odb

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
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

// chainOf creates n repositories, each with the previous repository as alternate. It
// returns the last repository and an object that only the first contains.
func chainOf(t *testing.T, n int, link func(from, to string) string) (*gittest.Repo, string) {
	t.Helper()
	first := gittest.New(t)
	h := first.Hash("far away")
	last := first
	for i := range n {
		next := last.In(fmt.Sprintf("%s-%d", first.Dir, i))
		require.NoError(t, os.Mkdir(next.Dir, 0o777))
		next.Git("init", "-q")
		from, to := filepath.Join(next.Dir, ".git/objects"), filepath.Join(last.Dir, ".git/objects")
		next.Write(".git/objects/info/alternates", "# a comment\n\n"+link(from, to)+"\n")
		last = next
	}
	return last, h
}

func absolute(_, to string) string { return to }

func relative(from, to string) string {
	rel, err := filepath.Rel(from, to)
	if err != nil {
		panic(err)
	}
	return filepath.ToSlash(rel)
}

func quoted(_, to string) string { return `"` + to + `"` }

func TestNestedAlternatesMatchGit(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	for name, link := range map[string]func(string, string) string{
		"absolute": absolute, "relative": relative, "quoted": quoted,
	} {
		for _, n := range []int{1, 2, 6, 7} {
			t.Run(fmt.Sprint(name, " ", n), func(t *testing.T) {
				r, h := chainOf(t, n, link)
				_, err := r.Run(nil, "cat-file", "-e", h)
				require.Equal(t, err == nil, open(t, r).Has(plumbing.NewHash(h)), "as git")
			})
		}
	}
}

func TestConfiguredAlternatesAreRead(t *testing.T) {
	t.Parallel()
	lender, r := gittest.New(t), gittest.New(t)
	h := plumbing.NewHash(lender.Hash("lent"))
	requireAbsent(t, open(t, r), h)
	s := open(t, r, func(c *Config) {
		c.Git = c.Git.With("GIT_ALTERNATE_OBJECT_DIRECTORIES=" + JoinAlternates([]string{"/does/not/exist", lender.GitPath("objects")}))
	})
	_, content, err := s.Read(h)
	require.NoError(t, err)
	require.Equal(t, "lent", string(content))
}

func TestCyclicAlternatesAreListedOnce(t *testing.T) {
	t.Parallel()
	a, b := gittest.New(t), gittest.New(t)
	a.Write(".git/objects/info/alternates", b.GitPath("objects"))
	b.Write(".git/objects/info/alternates", a.GitPath("objects"))
	s := open(t, a)
	require.True(t, s.Has(plumbing.NewHash(b.Hash("in b"))))
	require.Equal(t, []string{a.GitPath("objects"), b.GitPath("objects")}, Directories(a.GitPath("objects"), nil))
	requireAbsent(t, s, absent)
}
