package share

import (
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"
)

// A HookPrecheck holds facts from a few files of the repository, so that hooks without
// work need no git process. If the files do not give a definite answer, every question is
// answered as if checkpoints may exist.
type HookPrecheck struct {
	Branch  string // branch of HEAD, "" if detached
	certain bool
	issues  []string // in lower case
}

// ReadHookPrecheck reads the repository of the working directory.
func ReadHookPrecheck() HookPrecheck {
	r, ok := repository.Discover("")
	if !ok || fsutil.Exists(filepath.Join(r.CommonDir, "reftable")) {
		return HookPrecheck{}
	}
	head, err := os.ReadFile(filepath.Join(r.Dir, "HEAD"))
	if err != nil {
		return HookPrecheck{}
	}
	g := HookPrecheck{certain: true}
	if name, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/"); ok {
		g.Branch = name
	}
	names, err := refs.Stored(r.CommonDir, repo.LiveRefs)
	if err != nil {
		return HookPrecheck{}
	}
	for _, name := range names {
		if i, err := checkpoint.IssueFromRef(strings.TrimPrefix(name, repo.LiveRefs)); err == nil {
			g.issues = append(g.issues, strings.ToLower(string(i)))
		}
	}
	return g
}

// HasNoCheckpoints reports whether the repository is known to have no checkpoint.
func (g HookPrecheck) HasNoCheckpoints() bool { return g.certain && len(g.issues) == 0 }

// IsForeign reports whether a branch is known to belong to no issue with checkpoints.
// Every rule takes the issue from a part of the branch name.
func (g HookPrecheck) IsForeign(branch string) bool {
	if !g.certain {
		return false
	}
	branch = strings.ToLower(branch)
	for _, i := range g.issues {
		if strings.Contains(branch, i) {
			return false
		}
	}
	return true
}
