package gitstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/ancestry"
	"git-checkpoint/gitstore/internal/restore"

	"github.com/go-git/go-git/v5/plumbing"
)

// A HeadReport compares current HEAD with HEAD at a checkpoint's save.
type HeadReport struct {
	Saved, Now        string         // commits, "" for an unborn branch
	ancestry.Relation                // of Now to Saved
	Home              BranchLocation // of the checkpoint's branch, if HEAD does not descend from Saved
}

func (s *Store) history() ancestry.Log { return ancestry.Log{Git: s.git, Shallow: s.repo.Shallow} }

// touchedSince returns a function that reports paths changed by commits since before.
func (s *Store) touchedSince(before plumbing.Hash) func(context.Context, []string) (map[string]bool, error) {
	return func(ctx context.Context, paths []string) (map[string]bool, error) {
		now, err := s.readHead(ctx)
		if err != nil || now.commit.IsZero() || now.commit == before {
			return nil, err
		}
		log, saved := s.history(), ""
		log.Git.Dir = s.repo.Root
		if !before.IsZero() {
			saved = before.String()
		}
		touched, err := log.Touched(ctx, saved, now.commit.String(), paths)
		if err != nil && ctx.Err() == nil { // git may have lacked file descriptors or memory
			touched, err = log.Touched(ctx, saved, now.commit.String(), paths)
		}
		if err != nil {
			err = fmt.Errorf("%w: %w", restore.ErrUnknownHistory, err)
		}
		return touched, err
	}
}

// CompareHead compares HEAD with HEAD at the save of a checkpoint. With incomplete
// history it returns an error if it cannot determine whether HEAD descends.
func (s *Store) CompareHead(ctx context.Context, c *Checkpoint) (HeadReport, error) {
	st, err := s.openSnapshot(c)
	if err != nil {
		return HeadReport{}, err
	}
	now, err := s.readHead(ctx)
	if err != nil {
		return HeadReport{}, err
	}
	var r HeadReport
	if !st.head.IsZero() {
		r.Saved = st.head.String()
	}
	if !now.commit.IsZero() {
		r.Now = now.commit.String()
	}
	switch {
	case r.Saved == r.Now:
		r.Contains = true
	case r.Saved == "" || r.Now == "":
		r.Contains = r.Saved == ""
	default:
		r.Relation, err = s.history().Relate(ctx, r.Saved, r.Now)
	}
	if err == nil && !r.Contains {
		r.Home = s.branchLocation(ctx, c.Branch, st.head)
	}
	return r, err
}

// A BaseReport describes the branch that the work will be merged into: a remote's default
// branch.
type BaseReport struct {
	Name   string // such as origin/main, "" if unknown
	Behind int    // number of commits missing from HEAD, at most maxBehind
}

const maxBehind = 1000

// Base compares HEAD with the remote-tracking ref of a remote's default branch. The
// current branch selects the remote, with origin as default.
func (s *Store) Base(ctx context.Context) (BaseReport, error) {
	now, err := s.readHead(ctx)
	if err != nil || now.commit.IsZero() || now.branch == "" {
		return BaseReport{}, err
	}
	remote, ok := git.Last(s.config, "branch."+now.branch+".remote")
	if !ok || remote == "." {
		remote = "origin"
	}
	name := s.symbolic(ctx, "refs/remotes/"+remote+"/HEAD")
	if name == "" {
		return BaseReport{}, nil
	}
	behind, err := s.history().Behind(ctx, now.commit.String(), name, maxBehind)
	if err != nil {
		return BaseReport{}, err
	}
	return BaseReport{Name: strings.TrimPrefix(name, "refs/remotes/"), Behind: behind}, nil
}

// symbolic returns the target of a symbolic ref, or "".
func (s *Store) symbolic(ctx context.Context, ref string) string {
	if s.repo.RefFormat != "files" {
		name, err := s.git.Line(ctx, "symbolic-ref", "--quiet", ref)
		if err != nil {
			return ""
		}
		return name
	}
	data, err := os.ReadFile(filepath.Join(s.repo.CommonDir, filepath.FromSlash(ref)))
	name, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "ref: refs/")
	if err != nil || !ok {
		return ""
	}
	return "refs/" + name
}
