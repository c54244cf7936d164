package facts

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/ancestry"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A HeadReport compares current HEAD with HEAD at a checkpoint's save.
type HeadReport struct {
	Saved, Now        string // commits, "" for an unborn branch
	ancestry.Relation        // of Now to Saved

	// Home is the branch of the checkpoint if it contains Saved and HEAD does not. HomeWorktree has
	// it checked out, or is "". Work on the checkpoint can continue there.
	Home, HomeWorktree string
}

func (s *Facts) History() ancestry.Log {
	return ancestry.Log{Git: s.repo.Git, Shallow: s.repo.Info.Shallow}
}

// CompareHead compares HEAD with HEAD at the save of a checkpoint. With incomplete
// history it returns an error if it cannot determine whether HEAD descends. The report then
// has the commits, as far as they are known.
func (s *Facts) CompareHead(ctx context.Context, c *chain.Checkpoint) (HeadReport, error) {
	now, err := s.repo.ReadHead(ctx)
	if err != nil {
		return HeadReport{}, err
	}
	var r HeadReport
	if !now.Commit.IsZero() {
		r.Now = now.Commit.String()
	}
	st, err := s.snapshot.OpenSnapshot(c)
	if err != nil {
		return r, err
	}
	if !st.Head.IsZero() {
		r.Saved = st.Head.String()
	}
	switch {
	case r.Saved == r.Now:
		r.Contains = true
	case r.Saved == "" || r.Now == "":
		r.Contains = r.Saved == ""
	default:
		r.Relation, err = s.History().Relate(ctx, r.Saved, r.Now)
	}
	if err != nil || r.Contains || c.Branch == "" || now.Branch == c.Branch {
		return r, err
	}
	tip, err := s.repo.ReadRef(ctx, "refs/heads/"+c.Branch)
	if err != nil || tip.IsZero() {
		return r, nil
	}
	if has, err := s.History().Contains(ctx, tip.String(), r.Saved); err == nil && has {
		r.Home, r.HomeWorktree = c.Branch, s.CheckedOut(ctx, c.Branch)
	}
	return r, nil
}

// HasDiverged reports whether Saved and Now have a common ancestor, and each has commits since.
func (r HeadReport) HasDiverged() bool { return !r.Contains && r.Base != "" && r.Base != r.Now }

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
	now, err := s.repo.ReadHead(ctx)
	if err != nil || now.Commit.IsZero() || now.Branch == "" {
		return BaseReport{}, err
	}
	remote, ok := git.Last(s.repo.Config, "branch."+now.Branch+".remote")
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

// MergedInto returns the branch whose history has the state of a checkpoint by content, as after a
// squash merge of several commits and the deletion of their branch: HEAD's, or the default branch
// of origin, otherwise "".
func (s *Facts) MergedInto(ctx context.Context, c *chain.Checkpoint) string {
	head, _ := s.repo.ReadHead(ctx)
	for _, ref := range []string{"HEAD", s.symbolic(ctx, "refs/remotes/origin/HEAD")} {
		if ref != "" && s.hasContent(ctx, ref, c.Commit.String()+"^2") {
			if ref == "HEAD" && head.Branch != "" {
				return head.Branch
			}
			return strings.TrimPrefix(ref, "refs/remotes/")
		}
	}
	return ""
}

// hasContent reports whether commits of ref have all that a state changed since both went apart, and no
// later commit has reverted it.
func (s *Facts) hasContent(ctx context.Context, ref, state string) bool {
	base, err := s.repo.Git.Line(ctx, "merge-base", state+"^", ref)
	if err != nil {
		return false
	}
	changes, out := map[string]git.RawChange{}, []byte(nil)
	diff := func(a, b string) (list []git.RawChange) {
		if out, err = s.repo.Git.Output(ctx, "diff-tree", "-r", "--raw", "-z", "--no-abbrev", "--no-renames", a, b); err == nil {
			list, _, err = git.ParseRaw(out)
		}
		return list
	}
	for _, c := range diff(base, state) {
		changes[c.Path] = c
	}
	if err != nil || len(changes) == 0 {
		return false
	}
	found, err := s.History().Versions(ctx, ref, base, slices.Collect(maps.Keys(changes)))
	for path, c := range changes {
		if err != nil || !found[path][ancestry.Version{Mode: c.NewMode, Hash: c.New}] {
			return false
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	gone := 0
	for _, now := range diff(state, ref) {
		if c, is := changes[now.Path]; is && s.isReverted(ctx, c, now) {
			if gone++; !now.New.IsZero() { // otherwise the file may have another name now
				return false
			}
		}
	}
	return err == nil && gone < len(changes)
}

// isReverted reports whether the version of a file now has nothing of a change, although it had it once: it
// is the version before the change, or the inverse of the change is in it.
func (s *Facts) isReverted(ctx context.Context, c, now git.RawChange) bool {
	if now.New == c.Old && now.NewMode == c.OldMode {
		return true
	}
	var data [3][]byte
	for n, hash := range []plumbing.Hash{c.New, now.New, c.Old} {
		var err error
		if data[n], err = trees.ReadAs(s.repo.Objects, plumbing.BlobObject, hash); err != nil {
			return false
		}
	}
	out, clean, err := s.repo.Git.MergeFile(ctx, data[0], data[1], data[2])
	return err == nil && clean && bytes.Equal(out, data[1])
}

// RemoteMayHave reports whether a remote-tracking ref of a branch exists. The remote's default
// branch counts only if named is set.
func (s *Facts) RemoteMayHave(ctx context.Context, remote, branch string, named bool) bool {
	ref := "refs/remotes/" + remote + "/" + branch
	hash, err := s.repo.ReadRef(ctx, ref)
	return err == nil && branch != "" && !hash.IsZero() && (named || s.symbolic(ctx, "refs/remotes/"+remote+"/HEAD") != ref)
}

// symbolic returns the target of a symbolic ref, or "".
func (s *Facts) symbolic(ctx context.Context, ref string) string {
	if s.repo.Info.RefFormat != "files" {
		name, err := s.repo.Git.Line(ctx, "symbolic-ref", "--quiet", ref)
		if err != nil {
			return ""
		}
		return name
	}
	data, err := os.ReadFile(filepath.Join(s.repo.Info.CommonDir, filepath.FromSlash(ref)))
	name, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "ref: refs/")
	if err != nil || !ok {
		return ""
	}
	return "refs/" + name
}
