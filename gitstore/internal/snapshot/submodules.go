package snapshot

import (
	"context"
	"os"
	"path/filepath"

	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A LocalCommit is a commit of a submodule that other clones cannot check out.
type LocalCommit struct {
	Path    string // of the submodule
	Commit  plumbing.Hash
	Missing bool // the submodule of this clone lacks the commit
}

// LocalCommits returns the commits of submodules that a checkpoint names and that no remote
// of the submodule has, by its remote-tracking branches. It looks only at submodules that
// differ from the checkpoint's HEAD and that are checked out here.
func (s *Capturer) LocalCommits(ctx context.Context, c *chain.Checkpoint) ([]LocalCommit, error) {
	st, err := s.TreesOf(c)
	if err != nil || s.repo.Info.Root == "" {
		return nil, err
	}
	changes, err := trees.Diff(s.repo.Objects, st.Base, st.Staged)
	var found []LocalCommit
	for _, c := range changes {
		if c.New.Mode != trees.ModeGitlink {
			continue
		}
		l := LocalCommit{Path: c.Path, Commit: c.New.Hash}
		dir := filepath.Join(s.repo.Info.Root, filepath.FromSlash(c.Path))
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
			continue // not checked out
		}
		g := git.Git{Dir: dir, Unset: repository.Variables(), Apart: s.repo.Git.Apart, Env: []string{"GIT_NO_LAZY_FETCH=1"}}
		// The question of git push --recurse-submodules=check.
		out, err := g.Output(ctx, "rev-list", "-n", "1", l.Commit.String(), "--not", "--remotes")
		if l.Missing = err != nil; l.Missing || len(out) > 0 {
			found = append(found, l)
		}
	}
	return found, err
}
