package facts

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/internal/chain"
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

func (s *Facts) History() ancestry.Log { return ancestry.Log{Git: s.Git, Shallow: s.Info.Shallow} }

// TouchedSince returns a function that reports paths changed by commits since before.
func (s *Facts) TouchedSince(before plumbing.Hash) func(context.Context, []string) (map[string]bool, error) {
	return func(ctx context.Context, paths []string) (map[string]bool, error) {
		now, err := s.ReadHead(ctx)
		if err != nil || now.Commit.IsZero() || now.Commit == before {
			return nil, err
		}
		log, saved := s.History(), ""
		log.Git.Dir = s.Info.Root
		if !before.IsZero() {
			saved = before.String()
		}
		touched, err := log.Touched(ctx, saved, now.Commit.String(), paths)
		if err != nil && ctx.Err() == nil { // git may have lacked file descriptors or memory
			touched, err = log.Touched(ctx, saved, now.Commit.String(), paths)
		}
		if err != nil {
			err = fmt.Errorf("%w: %w", restore.ErrUnknownHistory, err)
		}
		return touched, err
	}
}

// CompareHead compares HEAD with HEAD at the save of a checkpoint. With incomplete
// history it returns an error if it cannot determine whether HEAD descends.
func (s *Facts) CompareHead(ctx context.Context, c *chain.Checkpoint) (HeadReport, error) {
	st, err := s.OpenSnapshot(c)
	if err != nil {
		return HeadReport{}, err
	}
	now, err := s.ReadHead(ctx)
	if err != nil {
		return HeadReport{}, err
	}
	var r HeadReport
	if !st.Head.IsZero() {
		r.Saved = st.Head.String()
	}
	if !now.Commit.IsZero() {
		r.Now = now.Commit.String()
	}
	switch {
	case r.Saved == r.Now:
		r.Contains = true
	case r.Saved == "" || r.Now == "":
		r.Contains = r.Saved == ""
	default:
		r.Relation, err = s.History().Relate(ctx, r.Saved, r.Now)
	}
	if err == nil && !r.Contains {
		r.Home = s.BranchLocation(ctx, c.Branch, st.Head)
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
func (s *Facts) Base(ctx context.Context) (BaseReport, error) {
	now, err := s.ReadHead(ctx)
	if err != nil || now.Commit.IsZero() || now.Branch == "" {
		return BaseReport{}, err
	}
	remote, ok := git.Last(s.Config, "branch."+now.Branch+".remote")
	if !ok || remote == "." {
		remote = "origin"
	}
	name := s.symbolic(ctx, "refs/remotes/"+remote+"/HEAD")
	if name == "" {
		return BaseReport{}, nil
	}
	behind, err := s.History().Behind(ctx, now.Commit.String(), name, maxBehind)
	if err != nil {
		return BaseReport{}, err
	}
	return BaseReport{Name: strings.TrimPrefix(name, "refs/remotes/"), Behind: behind}, nil
}

// symbolic returns the target of a symbolic ref, or "".
func (s *Facts) symbolic(ctx context.Context, ref string) string {
	if s.Info.RefFormat != "files" {
		name, err := s.Git.Line(ctx, "symbolic-ref", "--quiet", ref)
		if err != nil {
			return ""
		}
		return name
	}
	data, err := os.ReadFile(filepath.Join(s.Info.CommonDir, filepath.FromSlash(ref)))
	name, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "ref: refs/")
	if err != nil || !ok {
		return ""
	}
	return "refs/" + name
}
