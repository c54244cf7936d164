package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/operation"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// refsFound examines every ref of this program, including broken refs.
func (s *Doctor) refsFound(ctx context.Context) ([]Ref, error) {
	var names []string
	for _, prefix := range []string{repo.LiveRefs, repo.ArchiveRefs, repo.BookRefs} {
		some, err := s.repo.Refs.Names(ctx, prefix)
		if err != nil {
			return nil, err
		}
		names = append(names, some...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if err := s.loadRefs(ctx, names); err != nil {
		return nil, err
	}
	defer s.repo.Objects.Hold(nil)
	head, err := s.repo.ReadHead(ctx)
	lasting := err == nil && (head.Commit.IsZero() || s.repo.Objects.Has(head.Commit))
	var found []Ref
	for _, name := range names {
		r := s.refFound(ctx, name)
		r.Lasting = lasting
		found = append(found, r)
	}
	return found, nil
}

// loadRefs loads the commits of refs, and all objects of operations.
func (s *Doctor) loadRefs(ctx context.Context, names []string) error {
	var roots []plumbing.Hash
	isOperation := map[plumbing.Hash]bool{}
	for _, name := range names {
		if hash, err := s.repo.ReadRef(ctx, name); err == nil && !hash.IsZero() {
			roots = append(roots, hash)
			isOperation[hash] = isOperation[hash] || strings.HasPrefix(name, operation.Refs)
		}
	}
	_, err := s.load(ctx, roots, loading{
		isKept: func(_ plumbing.Hash, name string) bool { return name == "operation" },
		next: func(c repo.RawCommit) []plumbing.Hash {
			if isOperation[c.Hash] {
				return []plumbing.Hash{c.Tree}
			}
			return nil
		},
	})
	return err
}

// refFound examines a ref and its target.
func (s *Doctor) refFound(ctx context.Context, name string) Ref {
	r := Ref{Name: name}
	issue := roleOf(&r)
	hash, err := s.repo.ReadRef(ctx, name)
	switch {
	case err != nil:
		r.Problem = strings.TrimPrefix(err.Error(), name+": ")
	case hash.IsZero():
		r.Problem = "broken ref: git does not read it"
	default:
		r.Value = hash.String()
		r.Problem = s.leadsNowhere(r.Role, hash)
		if r.Role == Operation && r.Problem == "" {
			if err := operation.Check(s.repo, name, hash); err != nil {
				r.Problem = strings.TrimPrefix(err.Error(), name+": ")
			}
		}
	}
	switch {
	case issue == "":
	case r.Problem != "":
		r.Good = s.lastSound(ctx, issue, name)
	case r.Role == Own:
		r.Taken = s.tookAway(ctx, issue, hash)
	}
	return r
}

// roleOf derives role and issue from a ref's name.
func roleOf(r *Ref) checkpoint.Issue {
	for _, p := range []struct {
		prefix string
		role   Role
	}{{repo.LiveRefs, Chain}, {repo.ArchiveRefs, Chain}, {repo.OwnRefs, Own}} {
		rest, ok := strings.CutPrefix(r.Name, p.prefix)
		if !ok {
			continue
		}
		issue, err := checkpoint.IssueFromRef(rest)
		if err != nil {
			r.Role = Strange
			return ""
		}
		r.Role, r.Issue = p.role, string(issue)
		return issue
	}
	switch {
	case strings.HasPrefix(r.Name, remote.Incoming):
		r.Role = Incoming
		r.Made, _ = remote.CameAt(r.Name)
	case strings.HasPrefix(r.Name, operation.Refs):
		r.Role = Operation
	default:
		r.Role = Note
	}
	return ""
}

// leadsNowhere returns why a ref's value is unusable, or "".
func (s *Doctor) leadsNowhere(role Role, hash plumbing.Hash) string {
	_, err := s.repo.ReadCommit(hash)
	switch {
	case err == nil, role == Strange && s.repo.Objects.Has(hash):
		return ""
	case !s.repo.Objects.Has(hash):
		return fmt.Sprintf("it points to %s, which does not exist", hash)
	}
	return err.Error()
}

// lastSound returns the newest completely readable tip of a ref, or "". Candidates are
// the values in the ref's reflog, then the tips of other refs that have the issue's
// chain.
func (s *Doctor) lastSound(ctx context.Context, i checkpoint.Issue, name string) string {
	var candidates []plumbing.Hash
	if s.repo.Info.RefFormat == "files" { // git refuses to show reflogs of broken refs
		entries, _ := refs.ReadLog(s.repo.Info.CommonDir, name)
		for _, e := range entries {
			candidates = append(candidates, e.New, e.Old)
		}
	}
	if name != repo.ArchiveRef(i) {
		for _, other := range []string{repo.OwnRef(i), repo.LiveRef(i)} {
			if hash, err := s.repo.ReadRef(ctx, other); err == nil {
				candidates = append(candidates, hash)
			}
		}
		tracking, _ := s.repo.TrackingRefs(ctx, i)
		for _, other := range slices.Sorted(maps.Keys(tracking)) {
			candidates = append(candidates, tracking[other])
		}
	}
	for _, tip := range candidates {
		if tip.IsZero() || !s.repo.Objects.Has(tip) {
			continue
		}
		if c, err := s.chain.Walk(i, name, tip, 0); err == nil && (c.Rooted || c.Cut) {
			return tip.String()
		}
	}
	return ""
}

// tookAway reports whether the live chain of an issue lacks checkpoints that this clone
// wrote. own is the tip that this clone wrote last.
func (s *Doctor) tookAway(ctx context.Context, i checkpoint.Issue, own plumbing.Hash) bool {
	live, err := s.repo.ReadRef(ctx, repo.LiveRef(i))
	if err != nil || live == own {
		return false
	}
	now, err := s.chain.Walk(i, repo.LiveRef(i), live, 0)
	if err != nil || now.ContainsCommit(own) {
		return false
	}
	last, err := s.chain.Walk(i, repo.OwnRef(i), own, 0)
	if err != nil || !now.Whole() || !last.Whole() {
		return false
	}
	tip, _, _, err := s.chain.MergeChains(s.repo.NewObjectWriter(), now, last)
	return err == nil && tip != now.Tip
}
