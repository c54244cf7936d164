//go:build amd64

package commands

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/gitstore/failure"

	"github.com/stretchr/testify/require"
)

// A refsForm is the storage format of a repository's refs.
type refsForm int

const (
	refsLoose refsForm = iota
	refsPacked
	refsTable
	refsForms
)

func (f refsForm) String() string { return [...]string{"loose", "packed", "reftable"}[f] }

// A faultWorld is a directory with a repository, its remote and another clone. It is
// copied for every stop.
type faultWorld struct {
	*victim
	root string
	form refsForm
	git2 string // directory of a git with reftables, first on PATH

	shares bool // compare the remote's checkpoints
}

// newFaultWorld creates a repository with a commit, staged, unstaged and untracked
// changes, and a bare remote.
func newFaultWorld(t *testing.T, dir string, form refsForm, git2 string) *faultWorld {
	t.Helper()
	w := &faultWorld{root: dir, form: form, git2: git2}
	w.victim = &victim{t: t, dir: filepath.Join(dir, "repo")}
	w.setEnv()
	require.NoError(t, os.MkdirAll(w.dir, 0o777))
	for _, name := range []string{"home", "out"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o777))
	}
	refs := "--ref-format=files"
	switch {
	case form == refsTable:
		refs = "--ref-format=reftable"
	case git2 == "":
		refs = "--quiet"
	}
	w.git("init", "-q", "--template=", "-b", "main", refs)
	w.git("init", "-q", "--template=", "--bare", "-b", "main", refs, "../remote.git")
	w.git("config", "gc.auto", "0")
	w.git("config", "checkpoint.issue-source", "none")
	w.git("remote", "add", "origin", "../remote.git")
	w.write("a.txt", "one\n")
	w.write("dir/b.txt", "one\n")
	w.git("add", ".")
	w.git("commit", "-qm", "first")
	w.git("push", "-q", "origin", "main")
	w.write("a.txt", "two\n")
	w.git("add", ".")
	w.write("dir/b.txt", "unstaged\n")
	w.write("new.txt", "untracked\n")
	return w
}

func (w *faultWorld) setEnv() {
	w.env = tortureEnv(filepath.Join(w.root, "home"))
	w.durable()
	if w.git2 != "" {
		w.env = append(w.env, "PATH="+w.git2+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
}

// settle converts a template's refs to the world's form.
func (w *faultWorld) settle() {
	w.t.Helper()
	if w.form != refsLoose {
		w.git("pack-refs", "--all")
		w.git("-C", "../remote.git", "pack-refs", "--all")
	}
	if w.form == refsPacked {
		w.git("repack", "-adq")
	}
}

// copyTo copies the world to another directory.
func (w *faultWorld) copyTo(t *testing.T, dir string) *faultWorld {
	c := &faultWorld{root: dir, form: w.form, git2: w.git2, shares: w.shares}
	c.victim = &victim{t: t, dir: filepath.Join(dir, "repo")}
	c.setEnv()
	require.NoError(t, copyTree(w.root, dir))
	return c
}

// command finds programs on the world's PATH.
func (w *faultWorld) command(name string, args ...string) *exec.Cmd {
	cmd := w.victim.command(name, args...)
	if name == "git" && w.git2 != "" {
		cmd.Path, cmd.Err = filepath.Join(w.git2, "git"), nil
	}
	return cmd
}

func (w *faultWorld) try(name string, args ...string) outcome {
	return outcomeOf(w.command(name, args...))
}

func (w *faultWorld) must(name string, args ...string) string {
	w.t.Helper()
	o := w.try(name, args...)
	require.Zerof(w.t, o.code, "%s: exit %d: %s", o.name, o.code, o.err)
	return o.out
}

func (w *faultWorld) git(args ...string) string { w.t.Helper(); return w.must("git", args...) }
func (w *faultWorld) tool(args ...string) string {
	w.t.Helper()
	return w.must("git-checkpoint", args...)
}

// pending reports whether an operation is pending, as victim.pending, but with the world's
// git, because another git may not support reftables.
func (w *faultWorld) pending() bool { return strings.Contains(w.git(operations...), ": pending") }

// Places of a checkpoint.
const (
	isLive     = "live"
	isPinned   = "pinned"
	isArchived = "archived"
	isBoth     = "live and archived"
)

// A faultState is the part of a world that a command can change and a user would miss.
type faultState struct {
	ids    map[string]string // place of each checkpoint
	remote map[string]string // place of each checkpoint at the remote
	files  map[string]string // worktree, hooks and settings
	index  string
	heads  string // branches and HEAD

	thinned map[string]bool // checkpoints that retention may keep or drop
}

// state returns the state of a world.
func (w *faultWorld) state() (faultState, error) {
	s := faultState{files: map[string]string{}}
	var err error
	if s.ids, err = w.checkpoints("."); err != nil {
		return s, err
	}
	if w.shares {
		if s.remote, err = w.checkpoints("../remote.git"); err != nil {
			return s, fmt.Errorf("remote: %w", err)
		}
	}
	if err := w.readFiles(s.files); err != nil {
		return s, err
	}
	index := w.try("git", "ls-files", "-s", "-v")
	if index.code != 0 {
		return s, fmt.Errorf("read index: %s", index.err)
	}
	s.index = index.out
	heads := w.try("git", "for-each-ref", "--format=%(HEAD)%(refname) %(objectname)", "refs/heads", "refs/tags")
	s.heads = heads.out + heads.err
	return s, nil
}

// checkpoints returns the places of all checkpoints, live and archived.
func (w *faultWorld) checkpoints(dir string) (map[string]string, error) {
	all := map[string]string{}
	for _, where := range []string{isLive, isArchived} {
		args := []string{"-C", dir, "list", "--all", "--json"}
		if where == isArchived {
			args = append(args, "--archived")
		}
		cmd := w.command("git-checkpoint", args...)
		cmd.Env = append(cmd.Env, "GIT_CHECKPOINT_MIRROR=off") // otherwise list would record changes of mirrored files
		o := outcomeOf(cmd)
		if o.code != 0 && o.code != failure.None {
			return nil, fmt.Errorf("%s: exit %d: %s", o.name, o.code, o.err)
		}
		var list struct {
			Checkpoints []struct {
				ID     string `json:"checkpoint_id"`
				Valid  bool   `json:"valid"`
				Pinned bool   `json:"pinned"`
			} `json:"checkpoints"`
		}
		if o.out != "" {
			if err := json.Unmarshal([]byte(o.out), &list); err != nil {
				return nil, err
			}
		}
		for _, c := range list.Checkpoints {
			switch {
			case !c.Valid:
				return nil, fmt.Errorf("%s is not valid", c.ID)
			case all[c.ID] != "":
				all[c.ID] = isBoth
			case c.Pinned:
				all[c.ID] = isPinned
			default:
				all[c.ID] = where
			}
		}
	}
	return all, nil
}

// readFiles reads the files that a command can write outside of git's own storage.
func (w *faultWorld) readFiles(files map[string]string) error {
	return filepath.WalkDir(w.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(w.root, path)
		key := anonymous(name)
		if d.IsDir() {
			if name == "out" || name == "remote.git" || name == "other" || strings.HasPrefix(name, "repo/.git/") && !slices.Contains(keptInGit, name) {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Dir(name) == "repo/.git" && name != "repo/.git/config" {
			return nil
		}
		if d.Type()&os.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			files[key] = "-> " + anonymous(target)
			return err
		}
		data, err := os.ReadFile(path)
		files[key] = anonymous(string(data))
		return err
	})
}

var (
	idText   = regexp.MustCompile(`CP-[A-Za-z0-9_.]+-\d{8}T\d{6}Z-[0-9a-f]{8}`)
	timeText = regexp.MustCompile(`\d{4}-?\d\d-?\d\d[T_]\d\d:?\d\d:?\d\d(\.\d+)?Z?`)
)

// anonymous replaces ids and times, which differ between runs.
func anonymous(text string) string {
	return timeText.ReplaceAllString(idText.ReplaceAllString(text, "<id>"), "<time>")
}

// keptInGit are the directories of .git that contain files for users.
var keptInGit = []string{"repo/.git/hooks", "repo/.git/info"}

// oldIDs returns ids that occur in both states.
func oldIDs(ids, of map[string]string) map[string]string {
	old := maps.Clone(ids)
	maps.DeleteFunc(old, func(id, _ string) bool { return of[id] == "" })
	return old
}

// shape returns a text for the comparison of two states. New ids are counted, and ids
// that retention may keep are ignored.
func (s faultState) shape(before faultState) string {
	old := oldIDs(s.ids, before.ids)
	maps.DeleteFunc(old, func(id, _ string) bool { return before.thinned[id] })
	return fmt.Sprint(old, counts(s.ids, before.ids), oldIDs(s.remote, before.ids), counts(s.remote, before.ids))
}

func counts(ids, before map[string]string) string {
	n := map[string]int{}
	for id, where := range ids {
		if before[id] == "" {
			n[where]++
		}
	}
	return fmt.Sprint(n)
}
