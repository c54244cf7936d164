package gitstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/gitcmd"
)

// A HeadReport relates HEAD to where it was when a checkpoint was saved.
type HeadReport struct {
	Saved, Now string // commits, "" for an unborn branch
	Contains   bool   // HEAD now is Saved or descends from it
	Ahead      int    // commits of HEAD's that Saved does not have

	// Where HEAD does not descend:
	Base  string // the best common commit, "" for none
	Gone  int    // commits of Saved's that HEAD does not have
	Alike int    // of these, how many HEAD has with the same changes
	Home  Home   // of the checkpoint's branch
}

// CompareHead compares HEAD with the checkpoint's. In a clone without the whole
// history it fails rather than to say that HEAD does not descend.
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
		err = s.countAhead(ctx, &r)
	}
	if err == nil && !r.Contains {
		r.Home = s.home(ctx, c.Branch, st.head)
	}
	return r, err
}

func (s *Store) countAhead(ctx context.Context, r *HeadReport) error {
	counts, err := s.counts(ctx, "--left-right", r.Saved+"..."+r.Now)
	if err != nil {
		return err
	}
	r.Gone, r.Ahead = counts[0], counts[1]
	if r.Contains = r.Gone == 0; r.Contains {
		return nil
	}
	return s.relate(ctx, r)
}

// maxCompared bounds the commits whose changes are compared.
const maxCompared = 1000

// relate finds out how a HEAD that does not descend from the checkpoint's is
// related to it.
func (s *Store) relate(ctx context.Context, r *HeadReport) error {
	base, err := s.git.Line(ctx, "merge-base", r.Saved, r.Now)
	switch {
	case err != nil && gitcmd.Code(err) != 1:
		return err
	case err != nil && s.repo.Shallow:
		return fmt.Errorf("what HEAD and %s have in common is not in this shallow clone", r.Saved[:12])
	case err != nil:
		return nil
	}
	if r.Base = base; base == r.Now || r.Gone+r.Ahead > maxCompared {
		return nil
	}
	counts, err := s.counts(ctx, "--left-right", "--cherry-mark", r.Saved+"..."+r.Now)
	if err == nil && len(counts) == 3 {
		r.Alike = r.Gone - counts[0]
	}
	return err
}

// counts is git rev-list --count, which prints two numbers or three.
func (s *Store) counts(ctx context.Context, args ...string) ([]int, error) {
	out, err := s.git.Line(ctx, append([]string{"rev-list", "--count"}, args...)...)
	if err != nil {
		return nil, err
	}
	var counts []int
	for _, text := range strings.Split(out, "\t") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("git rev-list: %q: want numbers", out)
		}
		counts = append(counts, n)
	}
	if len(counts) < 2 {
		return nil, fmt.Errorf("git rev-list: %q: want two numbers", out)
	}
	return counts, nil
}

// A BaseReport is the branch that work goes into: a remote's default branch.
type BaseReport struct {
	Name   string // as in origin/main, "" where none is known
	Behind int    // its commits that HEAD does not have, at most maxBehind
}

const maxBehind = 1000

// Base compares HEAD with the default branch of the remote of the branch that
// HEAD is on, else of origin, as this clone last saw it.
func (s *Store) Base(ctx context.Context) (BaseReport, error) {
	now, err := s.readHead(ctx)
	if err != nil || now.commit.IsZero() || now.branch == "" {
		return BaseReport{}, err
	}
	remote, ok := gitcmd.Last(s.config, "branch."+now.branch+".remote")
	if !ok || remote == "." {
		remote = "origin"
	}
	name := s.symbolic(ctx, "refs/remotes/"+remote+"/HEAD")
	if name == "" {
		return BaseReport{}, nil
	}
	out, err := s.git.Line(ctx, "rev-list", "--count", "--max-count="+strconv.Itoa(maxBehind), now.commit.String()+".."+name)
	if err != nil {
		return BaseReport{}, err
	}
	behind, err := strconv.Atoi(out)
	return BaseReport{Name: strings.TrimPrefix(name, "refs/remotes/"), Behind: behind}, err
}

// symbolic is the ref that a symbolic ref leads to, "" for none.
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
