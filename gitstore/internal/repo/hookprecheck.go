package repo

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/refs"
)

// A HookPrecheck answers questions from a few files of the repository, so that hooks without
// work need one git process only. If the files do not give a definite answer, every question
// is answered as if checkpoints may exist.
type HookPrecheck struct {
	Branch string // branch of HEAD, "" if detached
	dir    string // common git directory, "" if the refs are not in its files
}

// storedElsewhere is the content of HEAD if the refs are stored elsewhere: in a reftable,
// or in the directory that extensions.refStorage names. Git writes it for old versions.
const storedElsewhere = "ref: refs/heads/.invalid"

// ReadHookPrecheck reads the repository of the working directory.
func ReadHookPrecheck(ctx context.Context) HookPrecheck {
	for _, name := range repository.Variables() {
		if _, set := os.LookupEnv(name); set {
			return HookPrecheck{}
		}
	}
	r, err := repository.Discover(ctx, git.Git{})
	if err != nil || fsutil.Exists(filepath.Join(r.CommonDir, "reftable")) {
		return HookPrecheck{}
	}
	head, err := os.ReadFile(filepath.Join(r.Dir, "HEAD"))
	if err != nil || strings.HasPrefix(string(head), storedElsewhere) {
		return HookPrecheck{}
	}
	g := HookPrecheck{dir: r.CommonDir}
	if name, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/"); ok {
		g.Branch = name
	}
	return g
}

// HasNoCheckpoints reports whether the repository is known to have no checkpoint.
func (g HookPrecheck) HasNoCheckpoints() bool {
	if g.dir == "" {
		return false
	}
	names, err := refs.Stored(g.dir, LiveRefs)
	return err == nil && len(names) == 0
}

// IsForeign reports whether a branch is known to belong to no issue with checkpoints.
// Every rule takes the issue from a part of the branch name. A renamed branch can belong to
// the issue of its former name.
func (g HookPrecheck) IsForeign(branch string) bool {
	if g.dir == "" || !fsutil.IsASCII(branch) {
		return false
	}
	names, err := refs.Stored(g.dir, LiveRefs)
	if err != nil {
		return false
	}
	plain := func(text string) string { return strings.ReplaceAll(strings.ToLower(text), "+", "-") } // the branch of a fork has a dash
	text := plain(branch)
	for _, name := range names {
		i, err := checkpoint.IssueFromRef(strings.TrimPrefix(name, LiveRefs))
		if err == nil && strings.Contains(text, plain(string(i))) {
			return false
		}
	}
	log, err := os.ReadFile(filepath.Join(g.dir, "logs", "refs", "heads", filepath.FromSlash(branch)))
	return branch == "" || errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Contains(log, []byte("\tBranch: renamed "))
}
