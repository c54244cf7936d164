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
	x.scramble(r)
	x.scrambleIndex(r)
	c := x.save(func(req *gitstore.SaveRequest) { req.Worktree, req.Untracked = r.IntN(2) == 0, r.IntN(2) == 0 })
	if r.IntN(2) == 0 {
		x.Git("reset", "-q", "--hard")
	}
	if r.IntN(2) == 0 {
		x.scramble(r)
	}
	if r.IntN(3) == 0 {
		x.Git("add", "-A")
		x.Commit("later")
	}
	x.scramble(r)
	x.scrambleIndex(r)
	request := func(req *gitstore.RestoreRequest) {
		req.Changed = []restore.Changed{restore.Mine, restore.FromCheckpoint, restore.Merged}[r.IntN(3)]
		req.Force, req.Exact, req.Staged = r.IntN(4) == 0, r.IntN(3) == 0, r.IntN(4) == 0
	}
	before, files, entries := x.picture(), x.files(), x.entries()
	done := x.restore(c, request)
	x.nothingLost(done, files, entries)
	x.noLitter()
	if done.Undo == "" {
		require.Equal(t, before, x.picture())
		return
	}
	require.Empty(t, x.undo().Skipped)
	require.Equal(t, before, x.picture())
	x.noLitter()
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
