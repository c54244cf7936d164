package gitstore

import (
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/fsutil"
	"git-checkpoint/gitstore/refs"
	"git-checkpoint/gitstore/repository"
)

// A HookPrecheck holds facts from a few files of a repository: a hook that has nothing to
// do must not cost a git process. Where they do not tell, it is not certain.
type HookPrecheck struct {
	Branch  string // what HEAD is on, "" when it is detached
	certain bool
	issues  []string // in lower case
}

// ReadHookPrecheck looks at the repository of the working directory.
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
	names, err := refs.Stored(r.CommonDir, liveRefs)
	if err != nil {
		return HookPrecheck{}
	}
	for _, name := range names {
		if i, err := checkpoint.IssueFromRef(strings.TrimPrefix(name, liveRefs)); err == nil {
			g.issues = append(g.issues, strings.ToLower(string(i)))
		}
	}
	return g
}

// HasNoCheckpoints reports that the repository has no checkpoint, for certain.
func (g HookPrecheck) HasNoCheckpoints() bool { return g.certain && len(g.issues) == 0 }

// IsForeign reports that a branch belongs to no issue that has checkpoints, for
// certain: by whatever rule, an issue is a part of the branch's name.
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
