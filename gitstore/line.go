package gitstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/gitstore/remote"

	"github.com/go-git/go-git/v5/plumbing"
)

// A line is a connection to a remote, over which chains go by issue.
type line struct {
	*remote.Line
	s *Store
}

func (s *Store) line(op, name string, timeout time.Duration, quiet bool) (*line, error) {
	if name == "" {
		return nil, ErrNoRemote
	}
	if strings.HasPrefix(name, "-") || strings.ContainsAny(name, "\x00\n\r") { // git would take it for something else
		return nil, &RefusedError{Reason: fmt.Sprintf("remote %q: no remote is called that", name), Hint: "git remote -v"}
	}
	return &line{s.here().Open(op, name, timeout, quiet), s}, nil
}

// clearBefore removes the locks that killed processes have left here, so that git
// can make and move refs. What cannot be settled is reported by the command that
// needs it.
func (s *Store) clearBefore(ctx context.Context, dryRun bool) {
	if !dryRun {
		_ = s.SettleInterrupted(ctx)
	}
}

// here is this repository as package remote sees it.
func (s *Store) here() remote.Here {
	return remote.Here{Git: s.git, Config: s.config, Refs: refsHere{s}, History: commitsHere{s}}
}

// A refsHere reads and removes refs for connections.
type refsHere struct{ s *Store }

func (r refsHere) Values(ctx context.Context, prefixes ...string) (map[string]plumbing.Hash, error) {
	return r.s.refs.Values(ctx, prefixes...)
}

func (r refsHere) Note(ctx context.Context, names []string) func(error) {
	t := r.s.refDir().LockIncoming(ctx, names)
	return func(err error) {
		t.Failed(err)
		t.Done()
		t.Unlock()
	}
}

func (r refsHere) Delete(ctx context.Context, seen map[string]plumbing.Hash) error {
	return r.s.deleteRefs(ctx, seen)
}

// A commitsHere tells connections what the store knows of commits.
type commitsHere struct{ s *Store }

func (h commitsHere) Cut() bool { return h.s.repo.Shallow }

// Came looks again whether history is cut: a fetch may cut it. Git goes by a
// file, too, which a variable may name.
func (h commitsHere) Came(ctx context.Context) error {
	repo := &h.s.repo
	if os.Getenv("GIT_SHALLOW_FILE") == "" {
		repo.Shallow = exists(filepath.Join(repo.CommonDir, "shallow"))
		return nil
	}
	answer, err := h.s.git.Line(ctx, "rev-parse", "--is-shallow-repository")
	repo.Shallow = answer == "true"
	return err
}

func (h commitsHere) Parents(hash plumbing.Hash) ([]plumbing.Hash, error) {
	c, err := h.s.readCommit(hash)
	return c.parents, err
}
