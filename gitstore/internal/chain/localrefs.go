package chain

import (
	"context"
	"os"
	"path/filepath"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/remote"

	"github.com/go-git/go-git/v5/plumbing"
)

// A refsHere reads and deletes local refs for connections of package remote.
type refsHere struct{ s *Chains }

func (r refsHere) Values(ctx context.Context, prefixes ...string) (map[string]plumbing.Hash, error) {
	return r.s.Refs.Values(ctx, prefixes...)
}

func (r refsHere) Note(ctx context.Context, names []string) func(error) {
	t := r.s.RefDir().LockIncoming(ctx, names)
	return func(err error) {
		t.Failed(err)
		t.Done()
		t.Unlock()
	}
}

func (r refsHere) Delete(ctx context.Context, seen map[string]plumbing.Hash) error {
	return r.s.DeleteRefs(ctx, seen)
}

// A commitsHere answers questions of connections about local commits.
type commitsHere struct{ s *Chains }

func (h commitsHere) Cut() bool { return h.s.Info.Shallow }

// Came updates the Shallow flag, because a fetch may make the repository shallow. If
// GIT_SHALLOW_FILE is set, git reads another file than "shallow", so Came asks git.
func (h commitsHere) Came(ctx context.Context) error {
	repo := &h.s.Info
	if os.Getenv("GIT_SHALLOW_FILE") == "" {
		repo.Shallow = fsutil.Exists(filepath.Join(repo.CommonDir, "shallow"))
		return nil
	}
	answer, err := h.s.Git.Line(ctx, "rev-parse", "--is-shallow-repository")
	repo.Shallow = answer == "true"
	return err
}

func (h commitsHere) Parents(hash plumbing.Hash) ([]plumbing.Hash, error) {
	c, err := h.s.ReadCommit(hash)
	return c.Parents, err
}

// Here returns this repository in the form that package remote needs.
func (s *Chains) Here() remote.Here {
	return remote.Here{Git: s.Git, Config: s.Config, Refs: refsHere{s}, History: commitsHere{s}}
}
