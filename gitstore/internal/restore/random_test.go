package restore_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/restore"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRestoreRandomWorlds restores random checkpoints into random worktrees and undoes
// the restore. Existing content must never be lost, unreported paths must stay unchanged,
// and undo must return every byte, mode and entry. GIT_CHECKPOINT_TEST_RESTORE_ROUNDS and
// GIT_CHECKPOINT_TEST_RESTORE_SEED select a longer run or repeat a failed run.
func TestRestoreRandomWorlds(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	rounds, _ := strconv.Atoi(os.Getenv("GIT_CHECKPOINT_TEST_RESTORE_ROUNDS"))
	seed, err := strconv.ParseUint(os.Getenv("GIT_CHECKPOINT_TEST_RESTORE_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	for i := range max(rounds, 12) {
		seed := seed + uint64(i)
		if !t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { randomWorld(t, rand.New(rand.NewPCG(seed, 1))) }) {
			return
		}
	}
}

// randomPaths lists paths of random worlds; some are files in one world and directories
// in another.
var randomPaths = []string{"p", "q", "d", "d/x", "d/y", "d/z/w", "e/f", "e/f/g", "e/h", "caf\xe9/\n", "i.ign"}

func randomWorld(t *testing.T, r *rand.Rand) {
	x := newSite(t)
	x.Write(".git/info/exclude", "*.ign\n")
	x.Git("rm", "-rq", ".")
	x.scramble(r)
	x.Git("add", "-A")
	x.Commit("base")
	var saved []*gitstore.Checkpoint
	var pictures []string
	for range 1 + r.IntN(3) {
		x.scramble(r)
		x.scrambleIndex(r)
		saved = append(saved, x.save(func(req *gitstore.SaveRequest) { req.Staged = r.IntN(4) == 0 }))
		pictures = append(pictures, x.picture())
	}
	moved := false
	for range r.IntN(4) {
		moved = x.event(r) || moved
	}
	at := r.IntN(len(saved))
	c, asked, before, files, entries := saved[at], r.IntN(2) == 0, x.picture(), x.files(), x.entries()
	var options gitstore.RestoreOptions
	options.Changed = []restore.Changed{"", restore.Mine, restore.FromCheckpoint, restore.Merged}[r.IntN(4)]
	options.Force, options.Exact, options.Staged = r.IntN(4) == 0, asked && r.IntN(3) == 0, r.IntN(4) == 0
	request := func(req *gitstore.RestoreRequest) { req.Request, req.Asked, req.AnyHead = options, asked, !asked }
	planned, err := x.try(c, request, dryRun)
	if err != nil { // an operation of git is under way, or HEAD is elsewhere
		_, again := x.try(c, request)
		require.EqualError(t, again, err.Error())
		require.Equal(t, before, x.picture())
		return
	}
	require.Equal(t, before, x.picture())
	done := x.restore(c, request)
	x.nothingLost(done, files, entries)
	x.noLitter()
	require.Equal(t, planned.Outcome, done.Outcome, "the plan of a dry run")
	after := x.picture()
	if s := c.Omitted > 0 || moved || len(done.InTheWay)+len(done.Sparse)+len(done.Skipped) > 0; !s && options.Force && options.Exact && !options.Staged && x.isWhole(c) {
		require.Equal(t, x.filesOf(pictures[at]), x.filesOf(after), "a forced, exact restore gives the files of the save")
		if asked {
			require.Equal(t, entriesOf(pictures[at]), entriesOf(after), "and its index")
		}
	}
	if done.Undo == "" {
		require.Equal(t, before, after)
		return
	}
	require.Empty(t, x.undo().Skipped)
	require.Equal(t, before, x.picture())
	redone, err := x.s.Revert(t.Context(), "redo", gitstore.Which{Issue: "42"}, nil)
	require.NoError(t, err)
	require.Empty(t, redone.Restored.Skipped)
	require.Equal(t, after, x.picture(), "redo")
	require.Empty(t, x.undo().Skipped)
	require.Equal(t, before, x.picture())
	x.noLitter()
}

// isWhole reports whether a checkpoint has every file.
func (x *site) isWhole(c *gitstore.Checkpoint) bool {
	r, err := x.s.Record(c)
	require.NoError(x.t, err)
	s := r.Snapshot()
	return s.Scope == checkpoint.ScopeWhole && len(s.Skipped) == 0
}

// filesOf returns the files of a picture that git does not ignore, without permissions that git
// does not store.
func (x *site) filesOf(picture string) (files []string) {
	head, _, _ := strings.Cut(picture, "\n--\n")
	for line := range strings.Lines(head) {
		mode, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !strings.Contains(rest, ".ign") && !strings.Contains(rest, "nested") {
			files = append(files, map[bool]string{false: "-", true: "x"}[strings.Contains(mode[:4], "x")]+mode[:1]+rest)
		}
	}
	slices.Sort(files)
	return files
}

// entriesOf returns the index entries of a picture.
func entriesOf(picture string) (entries []string) {
	_, index, _ := strings.Cut(picture, "\n--\n")
	for line := range strings.Lines(index) {
		if !strings.HasPrefix(line, ":") && !strings.Contains(line, ".ign") && !strings.Contains(line, "nested") {
			entries = append(entries, line)
		}
	}
	return entries
}

// event does something that people do between a save and a restore, and reports whether HEAD
// has moved, files are kept out of the worktree, or git ignores other files than before.
func (x *site) event(r *rand.Rand) (moved bool) {
	switch r.IntN(9) {
	case 0:
		x.Git("reset", "-q", "--hard")
	case 1:
		_, _ = x.Run(nil, "add", "-A")
		_, _ = x.Run(nil, "commit", "-q", "-m", "later", "--allow-empty")
		return true
	case 2:
		_, err := x.Run(nil, "revert", "--no-edit", "HEAD")
		if err != nil {
			_, _ = x.Run(nil, "revert", "--abort")
		}
		return true
	case 3:
		_, _ = x.Run(nil, "commit", "-q", "--amend", "-m", "amended", "--allow-empty")
		return true
	case 4:
		_, _ = x.Run(nil, "stash", "-q", "-u")
	case 5:
		x.remove("nested")
		x.Git("init", "-q", "--template=", "nested")
		x.Write("nested/own", fmt.Sprint(r.IntN(3)))
	case 6:
		_, err := x.Run(nil, "sparse-checkout", "set", "--no-cone", "/*", "!/e")
		return err == nil
	case 7:
		x.Write(".gitignore", []string{"p\n", "q\nd/x\n"}[r.IntN(2)])
		moved = true
	case 8:
		require.NoError(x.t, os.RemoveAll(x.Path("d")))
		_, _ = x.Run(nil, "mv", "e", "moved")
	}
	x.scramble(r)
	x.scrambleIndex(r)
	return moved
}

// scramble changes about half of all paths.
func (x *site) scramble(r *rand.Rand) {
	for _, i := range r.Perm(len(randomPaths)) {
		p := randomPaths[i]
		if r.IntN(2) == 0 {
			continue
		}
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			if info, err := os.Lstat(x.Path(dir)); err == nil && !info.IsDir() {
				x.remove(dir)
			}
		}
		x.remove(p)
		switch r.IntN(6) {
		case 0:
		case 1:
			require.NoError(x.t, os.MkdirAll(path.Dir(x.Path(p)), 0o755))
			x.link([]string{"p", "/nowhere", "e"}[r.IntN(3)], p)
		default:
			x.Write(p, fmt.Sprintf("%d\nsame\nsame\n%d\n", r.IntN(3), r.IntN(3)))
			require.NoError(x.t, os.Chmod(x.Path(p), []os.FileMode{0o644, 0o755, 0o600, 0o744}[r.IntN(4)]))
		}
	}
}

// scrambleIndex stages some files and creates unusual entries.
func (x *site) scrambleIndex(r *rand.Rand) {
	for _, p := range randomPaths {
		spec := ":(literal)" + p
		switch r.IntN(8) {
		case 0, 1, 2:
			_, _ = x.Run(nil, "add", "-f", spec)
		case 3:
			_, _ = x.Run(nil, "rm", "-q", "--cached", spec)
		case 4:
			_, _ = x.Run(nil, "add", "-N", spec)
		case 5:
			if strings.Contains(p, "/") || r.IntN(3) > 0 {
				continue
			}
			one, two := x.Hash("one\n"), x.Hash("two\n")
			in := fmt.Sprintf("0 %040d\t%s\x00100644 %s 1\t%s\x00100755 %s 3\t%s\x00", 0, p, one, p, two, p)
			_, _ = x.Run([]byte(in), "update-index", "-z", "--index-info")
		}
	}
}

// files returns content hashes by path.
func (x *site) files() map[string]string {
	files := map[string]string{}
	head, _, _ := strings.Cut(x.picture(), "\n--\n")
	for line := range strings.Lines(head) {
		var mode, name, content string
		_, err := fmt.Sscanf(line, "%s %q %q", &mode, &name, &content)
		if err != nil {
			continue
		}
		files[name] = plumbing.ComputeHash(plumbing.BlobObject, []byte(content)).String() + " " + mode
	}
	return files
}

// entries returns index entries by path.
func (x *site) entries() map[string][]string {
	entries := map[string][]string{}
	for line := range strings.SplitSeq(x.Git("ls-files", "-s", "-z"), "\x00") {
		if info, name, ok := strings.Cut(line, "\t"); ok {
			entries[name] = append(entries[name], info)
		}
	}
	return entries
}

func (x *site) nothingLost(done *gitstore.Restored, files map[string]string, entries map[string][]string) {
	x.t.Helper()
	kept := ""
	if done.Undo != "" {
		kept = x.Git("ls-tree", "-r", done.Undo)
	}
	filesNow, entriesNow := x.files(), x.entries()
	for name, was := range files {
		if filesNow[name] == was {
			continue
		}
		assert.Contains(x.t, done.Restored, name, "a file was touched and not told")
		hash, _, _ := strings.Cut(was, " ")
		assert.Contains(x.t, kept, hash, "the content of %q is lost", name)
	}
	for name := range filesNow {
		if files[name] == "" {
			assert.Contains(x.t, done.Restored, name, "a file was made and not told")
		}
	}
	for name, was := range entries {
		if slices.Equal(was, entriesNow[name]) {
			continue
		}
		assert.Contains(x.t, done.Restored, name, "an entry was touched and not told")
		for _, e := range was {
			if hash := strings.Fields(e)[1]; !strings.HasPrefix(hash, "e69de29") {
				assert.Contains(x.t, kept, hash, "the staged content of %q is lost", name)
			}
		}
	}
}
