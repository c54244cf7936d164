package refs

import (
	"io/fs"
	"maps"
	"os"
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reader returns a Reader of a repository with one commit.
func reader(t *testing.T) (w *gittest.Repo, r *Reader, head string) {
	t.Helper()
	w = gittest.New(t)
	return w, &Reader{Git: git.Git{Dir: w.Dir, Env: w.Env()}, Path: w.GitPath("."), Files: true}, w.Commit("first")
}

// Reading files and running git return equal results.
func TestReadMatchesGit(t *testing.T) {
	t.Parallel()
	w, r, one := reader(t)
	two := w.Commit("second")
	w.Git("update-ref", "refs/checkpoints/loose", one)
	w.Git("update-ref", "refs/checkpoints/packed", one)
	w.Git("update-ref", "refs/checkpoints/packed.more", two)
	w.Git("update-ref", "refs/checkpoints/both", one)
	w.Git("tag", "-a", "-m", "x", "annotated", one)
	w.Git("pack-refs", "--all")
	w.Git("update-ref", "refs/checkpoints/both", two)
	w.Git("update-ref", "refs/checkpoints/loose", two)
	w.Git("update-ref", "refs/checkpoints/dir/below", one)
	git := &Reader{Git: r.Git, Path: r.Path}
	for name, want := range map[string]string{
		"refs/checkpoints/loose": two, "refs/checkpoints/packed": one, "refs/checkpoints/packed.more": two,
		"refs/checkpoints/both": two, "refs/checkpoints/none": "", "refs/checkpoints/dir": "", "refs/checkpoints/dir/below": one,
		"refs/checkpoints/pack": "", "checkpoints/packed": "", "refs/checkpoints/loose/below": "",
	} {
		for _, r := range []*Reader{r, git} {
			got, err := r.Read(t.Context(), name)
			require.NoError(t, err, name)
			assert.Equal(t, plumbing.NewHash(want), got, name)
		}
	}
}

// Between Cache and Release, reads return the old values, and broken refs are broken.
func TestCacheKeepsValues(t *testing.T) {
	t.Parallel()
	w, r, one := reader(t)
	two := w.Commit("second")
	const live, own = "refs/checkpoints/", "refs/git-checkpoint/own/"
	w.Git("update-ref", live+"1", one)
	w.Git("update-ref", own+"1", one)
	w.Git("pack-refs", "--all")
	w.Git("update-ref", live+"2", one)
	require.NoError(t, os.WriteFile(w.GitPath(live+"3"), []byte("zz\n"), 0o666))
	require.True(t, r.Cache(t.Context(), "refs/git-checkpoint/", live))
	w.Git("update-ref", live+"1", two)
	w.Git("update-ref", live+"4", two)
	w.Git("update-ref", "refs/heads/x", two)
	for _, want := range []struct{ first, fourth, names string }{{one, "", "1 2 3"}, {two, two, "1 2 3 4"}} {
		for name, want := range map[string]string{live + "1": want.first, live + "2": one, live + "4": want.fourth, own + "1": one, "refs/heads/x": two} {
			got, err := r.Read(t.Context(), name)
			require.NoError(t, err)
			assert.Equal(t, plumbing.NewHash(want), got, name)
		}
		_, err := r.Read(t.Context(), live+"3")
		require.ErrorAs(t, err, new(*BrokenError))
		names, err := r.Names(t.Context(), live)
		require.NoError(t, err)
		assert.Equal(t, want.names, strings.ReplaceAll(strings.Join(names, " "), live, ""))
		values, err := r.Values(t.Context(), own)
		require.NoError(t, err)
		assert.Equal(t, map[string]plumbing.Hash{own + "1": plumbing.NewHash(one)}, values)
		r.Release()
	}
}

// Names and Values treat a loose ref that git for-each-ref leaves out without a warning as broken, and fail
// if git cannot list a directory.
func TestListReportsWhatGitLeavesOut(t *testing.T) {
	t.Parallel()
	w, r, one := reader(t)
	const live = "refs/checkpoints/"
	w.Git("update-ref", live+"1", one)
	w.Git("symbolic-ref", live+"dangling", live+"none")
	w.Git("symbolic-ref", live+"symbolic", live+"1")
	for _, name := range []string{".hidden", "a b"} {
		require.NoError(t, os.WriteFile(w.GitPath(live+name), []byte(one+"\n"), 0o666))
	}
	require.NoError(t, os.MkdirAll(w.GitPath("refs/else/where"), 0o777))
	require.NoError(t, os.Symlink("../else", w.GitPath(live+"link")))
	w.Git("update-ref", "refs/else/5", one)
	names, err := r.Names(t.Context(), live)
	require.NoError(t, err)
	assert.Equal(t, ".hidden|1|a b|dangling|link/5|symbolic", strings.ReplaceAll(strings.Join(names, "|"), live, ""))
	values, err := r.Values(t.Context(), live)
	require.NoError(t, err)
	assert.Equal(t, map[string]plumbing.Hash{live + "1": plumbing.NewHash(one), live + "link/5": plumbing.NewHash(one)}, values)
	require.NoError(t, os.Chmod(w.GitPath("refs/checkpoints"), 0))
	t.Cleanup(func() { assert.NoError(t, os.Chmod(w.GitPath("refs/checkpoints"), 0o777)) })
	if _, err := os.ReadDir(w.GitPath("refs/checkpoints")); err == nil {
		t.Skip("this user reads all directories")
	}
	_, err = r.Names(t.Context(), live)
	require.ErrorIs(t, err, fs.ErrPermission)
	_, err = r.InFolders(t.Context(), live, "1")
	require.ErrorIs(t, err, fs.ErrPermission)
}

// Values lists loose and packed refs like git: loose values take precedence, nested refs are included, and
// refs of similar prefixes are not. It includes refs to missing objects.
func TestValuesListsRefsBelowPrefixes(t *testing.T) {
	t.Parallel()
	w, r, one := reader(t)
	want := map[string]plumbing.Hash{}
	for _, ref := range []string{
		"checkpoints-archive/7", "git-checkpoint/remote/origin/7", "checkpoints/1", "checkpoints/ü",
		"checkpoints/z", "checkpoints0/1", "checkpoint/1", "checkpoints/a/b/c",
	} {
		w.Git("update-ref", "refs/"+ref, one)
		want["refs/"+ref] = plumbing.NewHash(one)
	}
	w.Git("tag", "-a", "-m", "x", "v1")
	w.Git("pack-refs", "--all")
	two := w.Commit("second")
	w.Git("update-ref", "refs/checkpoints/1", two)
	missing := strings.Repeat("12", objectformat.Size)
	require.NoError(t, os.WriteFile(w.GitPath("refs/checkpoints/9"), []byte(missing+"\n"), 0o666))
	want["refs/checkpoints/1"], want["refs/checkpoints/9"] = plumbing.NewHash(two), plumbing.NewHash(missing)
	const live, book, archive = "refs/checkpoints/", "refs/git-checkpoint/", "refs/checkpoints-archive/"
	for _, prefixes := range [][]string{{live}, {live, book}, {archive}, {archive, live}, {"refs/none/"}} {
		got, err := r.Values(t.Context(), prefixes...)
		require.NoError(t, err)
		below := maps.Clone(want)
		maps.DeleteFunc(below, func(name string, _ plumbing.Hash) bool { return !Below(name, prefixes) })
		assert.Equal(t, below, got, "%v", prefixes)
	}
	names, err := r.Names(t.Context(), archive)
	require.NoError(t, err)
	assert.Equal(t, []string{archive + "7"}, names)
}

// InFolders finds the refs that a list of all has.
func TestInFolders(t *testing.T) {
	t.Parallel()
	w, r, one := reader(t)
	two := w.Commit("second")
	const prefix = "refs/git-checkpoint/remote/"
	for _, name := range []string{"a/42", "a-b/42", "a.b/42", "a/421", "b/7", "c/4", "origin/42", "z/1"} {
		w.Git("update-ref", prefix+name, one)
	}
	w.Git("update-ref", "refs/git-checkpoint/remote0/x/42", one)
	w.Git("pack-refs", "--all")
	for _, name := range []string{"a/42", "loose/42", "loose/7"} {
		w.Git("update-ref", prefix+name, two)
	}
	require.NoError(t, os.MkdirAll(w.GitPath(prefix+"broken"), 0o777))
	require.NoError(t, os.WriteFile(w.GitPath(prefix+"broken/42"), []byte("zz"), 0o666))
	all, err := r.Values(t.Context(), prefix)
	require.NoError(t, err)
	check := func(r *Reader) {
		for _, base := range []string{"42", "7", "1", "none"} {
			want := map[string]plumbing.Hash{}
			for name, hash := range all {
				if strings.HasSuffix(name, "/"+base) {
					want[name] = hash
				}
			}
			got, err := r.InFolders(t.Context(), prefix, base)
			require.NoError(t, err)
			assert.Equal(t, want, got, base)
		}
	}
	check(r)
	check(&Reader{Git: r.Git, Path: r.Path}) // through git
	require.True(t, r.Cache(t.Context(), "refs/git-checkpoint/"))
	check(r)
}

// An id ends at white space, as for git. An id that is followed by other text is broken.
func TestTextAfterAnIDIsReadLikeGit(t *testing.T) {
	t.Parallel()
	w, r, one := reader(t)
	for _, end := range []string{"", "\n", " \t\r\n", " foo\n", "\tfoo", "\nfoo\n", "foo\n", "\vfoo\n", "0\n"} {
		require.NoError(t, os.WriteFile(w.GitPath("refs/heads/x"), []byte(one+end), 0o666))
		_, gitErr := w.Run(nil, "rev-parse", "-q", "--verify", "refs/heads/x")
		got, err := r.Read(t.Context(), "refs/heads/x")
		require.Equal(t, gitErr == nil, err == nil, "%q: git: %v, here: %v", end, gitErr, err)
		if err == nil {
			assert.Equal(t, one, got.String(), "%q", end)
		}
	}
}

// Values skips locks, garbage and symbolic refs. Names includes broken refs.
func TestValuesSkipsInvalidRefs(t *testing.T) {
	t.Parallel()
	w, r, one := reader(t)
	w.Git("update-ref", "refs/checkpoints/42", one)
	for name, text := range map[string]string{"9": "", "10": "ref: refs/heads/main\n", "11.lock": one + "\n", "12": "zz"} {
		require.NoError(t, os.WriteFile(w.GitPath("refs/checkpoints/"+name), []byte(text), 0o666))
	}
	got, err := r.Values(t.Context(), "refs/checkpoints/")
	require.NoError(t, err)
	assert.Equal(t, map[string]plumbing.Hash{"refs/checkpoints/42": plumbing.NewHash(one)}, got)
	names, err := r.Names(t.Context(), "refs/checkpoints/")
	require.NoError(t, err)
	assert.Equal(t, []string{"refs/checkpoints/10", "refs/checkpoints/12", "refs/checkpoints/42", "refs/checkpoints/9"}, names)
}

func TestOtherBackends(t *testing.T) {
	t.Parallel()
	w, r, one := reader(t)
	w.Git("update-ref", "refs/checkpoints/42", one)
	if _, err := w.Run(nil, "refs", "migrate", "--ref-format=reftable"); err != nil {
		t.Skip("this git has no reftable")
	}
	r.Files = false
	got, err := r.Values(t.Context(), "refs/checkpoints/")
	require.NoError(t, err)
	assert.Equal(t, one, got["refs/checkpoints/42"].String())
}

// Happened removes entries of moves without effect at any position, and accepts gaps of
// expired or missing entries.
func TestHappenedSkipsMovesWithoutEffect(t *testing.T) {
	t.Parallel()
	name := func(digit byte) plumbing.Hash {
		return plumbing.NewHash(strings.Repeat(string(digit), objectformat.HexSize))
	}
	for entries, want := range map[string]string{ // newest first, after the tip
		"c: bc ab":       "bc ab",
		"b: bc ab":       "ab",
		"b: bd bc ab":    "ab",
		"c: bc bd ab 0a": "bc ab 0a",
		"c: bc 0a":       "bc 0a", // ab expired
		"d: bc ab":       "bc ab", // cd is missing
		"a: ab":          "",
		"a: ba ab":       "ba ab",
		"a:":             "",
	} {
		words := strings.Fields(strings.ReplaceAll(entries, ":", ""))
		var logged []Logged
		for _, w := range words[1:] {
			logged = append(logged, Logged{Old: name(w[0]), New: name(w[1]), Message: w})
		}
		var real []string
		for _, e := range Happened(logged, name(words[0][0])) {
			real = append(real, e.Message)
		}
		assert.Equal(t, want, strings.Join(real, " "), entries)
	}
}
