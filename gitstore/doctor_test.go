package gitstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/doctor"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// examine returns the texts of all findings. heal repairs them, and checks that no
// finding remains and git gc works.
func (w *world) examine() (texts []string, findings []doctor.Finding) {
	w.t.Helper()
	findings, err := w.s.Doctor.Check(ctx)
	require.NoError(w.t, err)
	for _, f := range findings {
		texts = append(texts, f.Text)
	}
	return texts, findings
}

func (w *world) heal() {
	w.t.Helper()
	_, findings := w.examine()
	require.NotEmpty(w.t, findings)
	for _, f := range findings {
		require.NotNil(w.t, f.Fix, f.Text)
		_, err := f.Fix(ctx)
		require.NoError(w.t, err, f.Text)
	}
	left, _ := w.examine()
	require.Empty(w.t, left)
	w.Git("gc", "--prune=now", "--quiet")
	w.sound()
}

func (w *world) file(name string) string {
	return filepath.Join(w.Dir, ".git", filepath.FromSlash(name))
}

func (w *world) put(name, text string) {
	w.t.Helper()
	require.NoError(w.t, os.MkdirAll(filepath.Dir(w.file(name)), 0o777))
	require.NoError(w.t, os.WriteFile(w.file(name), []byte(text), 0o666))
}

var nowhere = strings.Repeat("12", objectformat.Size)

// Doctor sets a chain back whose ref in a reftable is symbolic. Such a ref has no file.
func TestDoctorReplacesASymbolicRefOfAReftable(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	if _, err := r.Run(nil, "init", "-q", "--ref-format=reftable", r.Path("tables")); err != nil {
		t.Skip("this git has no reftable (2.45 has): ", err)
	}
	for _, setting := range []string{"user.name", "user.email"} {
		r.In(r.Path("tables")).Git("config", setting, r.Git("config", setting))
	}
	w := worldIn(t, r, r.Path("tables"))
	w.Commit("first")
	w.manual(2)
	tip := w.Git("rev-parse", LiveRef("42"))
	w.Git("symbolic-ref", LiveRef("42"), repo.OwnRef("42"))
	w.heal()
	assert.Equal(t, tip, w.Git("rev-parse", LiveRef("42")))
	_, err := w.Run(nil, "symbolic-ref", "-q", LiveRef("42"))
	require.Error(t, err)
}

// Doctor restores broken chain refs to their last valid value.
func TestDoctorRestoresBrokenChainRefs(t *testing.T) {
	gittest.Slow(t)
	for name, c := range map[string]struct {
		value string
		how   func(w *world)
	}{
		"empty":                       {"", func(w *world) {}},
		"zeros":                       {"\x00\x00\x00\x00", func(w *world) {}},
		"an object that is not there": {nowhere + "\n", func(w *world) {}},
		"by its reflog":               {"", func(w *world) { w.Git("update-ref", "-d", repo.OwnRef("42")) }},
		"by what was written": {"", func(w *world) {
			require.NoError(w.t, os.Remove(w.file("logs/"+LiveRef("42"))))
		}},
		"by what a remote had": {"", func(w *world) {
			w.Git("update-ref", "refs/git-checkpoint/remote/origin/42", LiveRef("42"))
			require.NoError(w.t, os.Remove(w.file("logs/"+LiveRef("42"))))
			w.Git("update-ref", "-d", repo.OwnRef("42"))
		}},
		"with an older value packed": {"", func(w *world) {
			tip := w.Git("rev-parse", LiveRef("42"))
			w.Git("update-ref", LiveRef("42"), LiveRef("42")+"~1")
			w.Git("pack-refs", "--all")
			w.Git("update-ref", LiveRef("42"), tip)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ids := w.manual(3)
			c.how(w)
			w.put(LiveRef("42"), c.value)
			w.heal()
			assert.Equal(t, ids, w.live())
			w.manual(1)
		})
	}
}

// Doctor moves refs without a known valid value aside, and stores their contents.
func TestDoctorMovesUnknownRefsAside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(LiveRef("7"), nowhere+"\n")
	w.put("refs/git-checkpoint/remote/origin/7", "")
	_, err := w.Run(nil, "gc", "--quiet")
	require.Error(t, err, "what makes it worth mending")
	w.heal()
	kept, err := filepath.Glob(w.file("git-checkpoint/broken/*"))
	require.NoError(t, err)
	require.Len(t, kept, 2)
	data, err := os.ReadFile(kept[0])
	require.NoError(t, err)
	assert.Equal(t, nowhere+"\n", string(data))
	assert.False(t, w.s.HasIssue(ctx, "7"))
}

// If HEAD is unreadable too, a disk may be missing: doctor repairs nothing.
func TestDoctorRepairsNothingIfHeadIsUnreadable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("refs/heads/main", nowhere+"\n")
	w.put(LiveRef("7"), nowhere+"\n")
	texts, findings := w.examine()
	assert.Equal(t, []string{LiveRef("7") + ": it points to " + nowhere + ", which does not exist"}, texts)
	assert.Nil(t, findings[0].Fix)
}

func TestDoctorRemovesStaleFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.manual(1)
	w.now = time.Now()
	stale := []string{
		LiveRef("42") + ".lock", ArchiveRef("42") + ".lock", "packed-refs.lock", "refs/git-checkpoint/remote/origin/42.lock",
		"git-checkpoint/.tmp-1",
	}
	for _, name := range stale {
		w.put(name, "x")
	}
	none, _ := w.examine()
	assert.Empty(t, none, "they may be in use")
	for _, name := range stale {
		require.NoError(t, os.Chtimes(w.file(name), time.Time{}, w.now.Add(-50*time.Hour)))
	}
	w.put("index.lock", "")
	w.heal()
	for _, name := range stale {
		assert.NoFileExists(t, w.file(name))
	}
	assert.FileExists(t, w.file("index.lock"))
}

func TestDoctorRepairsBookkeepingRefs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.manual(3)
	w.Git("update-ref", LiveRef("42"), LiveRef("42")+"~1")
	texts, _ := w.examine()
	assert.Len(t, texts, 1)
	w.heal()
	assert.Equal(t, ids, w.live(), "what other means took is back")
}

// NewestValid only checks the existence of files. NewestIntact and Verify read them.
func TestNewestValidDoesNotReadFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Write("new.txt", "something new\n")
	w.Git("add", "-A")
	w.manual(1)
	blob := w.Git("rev-parse", LiveRef("42")+":staged/new.txt")
	path := w.file("objects/" + blob[:2] + "/" + blob[2:])
	require.NoError(t, os.Chmod(path, 0o666))
	require.NoError(t, os.WriteFile(path, []byte("damaged"), 0o666))
	_, _, err := w.s.NewestValid(ctx, "42")
	require.NoError(t, err)
	_, _, err = w.s.NewestIntact(ctx, "42")
	require.ErrorAs(t, err, new(*CorruptError))
	deep, err := w.s.Verify(ctx, "42")
	require.NoError(t, err)
	assert.Len(t, deep.Errors, 1)
	require.NoError(t, os.Remove(path))
	_, _, err = w.s.NewestValid(ctx, "42")
	require.ErrorAs(t, err, new(*CorruptError))
	deep, err = w.s.Verify(ctx, "42")
	require.NoError(t, err)
	require.Len(t, deep.Errors, 1)
	assert.Contains(t, deep.Errors[0], "is missing")
	assert.Equal(t, checkpoint.Issue("42"), deep.Issue)
}

// Doctor preserves locks that another process created during the examination.
func TestDoctorLeavesALockThatIsNew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("packed-refs.lock", "")
	old := w.now.Add(-2 * time.Hour)
	require.NoError(t, os.Chtimes(w.file("packed-refs.lock"), old, old))
	_, findings := w.examine()
	require.Len(t, findings, 1)
	require.NoError(t, os.Chtimes(w.file("packed-refs.lock"), w.now, w.now))
	_, err := findings[0].Fix(ctx)
	require.ErrorContains(t, err, "another process uses it")
	assert.FileExists(t, w.file("packed-refs.lock"))
}
