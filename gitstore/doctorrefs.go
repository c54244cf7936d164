package gitstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/health"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/remote"

	"github.com/go-git/go-git/v5/plumbing"
)

// refsFound examines every ref of this program, including broken refs.
func (s *Store) refsFound(ctx context.Context) ([]health.Ref, error) {
	names, err := s.everyRef(ctx)
	if err != nil {
		return nil, err
	}
	head, err := s.readHead(ctx)
	lasting := err == nil && (head.commit.IsZero() || s.objects.Has(head.commit))
	var found []health.Ref
	for _, name := range names {
		r := s.refFound(ctx, name)
		r.Lasting = lasting
		found = append(found, r)
	}
	return found, nil
}

// everyRef returns the names of all refs of the stored form, including broken refs.
func (s *Store) everyRef(ctx context.Context) ([]string, error) {
	var all []string
	for _, prefix := range []string{liveRefs, archiveRefs, bookRefs} {
		names, err := s.refs.Names(ctx, prefix)
		if err != nil {
			return nil, err
		}
		all = append(all, names...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// refFound examines a ref and its target.
func (s *Store) refFound(ctx context.Context, name string) health.Ref {
	r := health.Ref{Name: name}
	issue := roleOf(&r)
	hash, err := s.readRef(ctx, name)
	switch {
	case err != nil:
		r.Problem = strings.TrimPrefix(err.Error(), name+": ")
	case hash.IsZero():
		r.Problem = "broken ref: git does not read it"
	default:
		r.Value = hash.String()
		r.Problem = s.leadsNowhere(r.Role, hash)
	}
	switch {
	case issue == "":
	case r.Problem != "":
		r.Good = s.lastSound(ctx, issue, name)
	case r.Role == health.Own:
		r.Taken = s.tookAway(ctx, issue, hash)
	}
	return r
}

// roleOf derives role and issue from a ref's name.
func roleOf(r *health.Ref) checkpoint.Issue {
	for _, p := range []struct {
		prefix string
		role   health.Role
	}{{liveRefs, health.Chain}, {archiveRefs, health.Chain}, {ownRefs, health.Own}} {
		rest, ok := strings.CutPrefix(r.Name, p.prefix)
		if !ok {
			continue
		}
		issue, err := checkpoint.IssueFromRef(rest)
		if err != nil {
			r.Role = health.Strange
			return ""
		}
		r.Role, r.Issue = p.role, string(issue)
		return issue
	}
	switch rest := r.Name[strings.LastIndexByte(r.Name, '/')+1:]; {
	case strings.HasPrefix(r.Name, undoRefs):
		r.Role = health.Undo
		r.Made, _ = time.Parse(safetyTime, strings.TrimSuffix(rest, takenBack))
	case strings.HasPrefix(r.Name, remote.Incoming):
		r.Role = health.Incoming
		r.Made, _ = remote.CameAt(r.Name)
	default:
		r.Role = health.Note
	}
	return ""
}

// leadsNowhere returns why a ref's value is unusable, or "".
func (s *Store) leadsNowhere(role health.Role, hash plumbing.Hash) string {
	_, err := s.readCommit(hash)
	switch {
	case err == nil, role == health.Strange && s.objects.Has(hash):
		return ""
	case !s.objects.Has(hash):
		return fmt.Sprintf("it leads to %s, which is not there", hash)
	}
	return err.Error()
}

// lastSound returns the newest completely readable tip of a ref, or "". Candidates are
// the values in the ref's reflog, then the tips of other refs that have the issue's
// chain.
func (s *Store) lastSound(ctx context.Context, i checkpoint.Issue, name string) string {
	candidates := s.loggedTips(name)
	if name != ArchiveRef(i) {
		for _, other := range []string{ownRef(i), LiveRef(i)} {
			if hash, err := s.readRef(ctx, other); err == nil {
				candidates = append(candidates, hash)
			}
		}
		candidates = append(candidates, s.remoteTips(ctx, i)...)
	}
	for _, tip := range candidates {
		if tip.IsZero() || !s.objects.Has(tip) {
			continue
		}
		if c, err := s.walk(i, name, tip, 0); err == nil && (c.rooted || c.cut) {
			return tip.String()
		}
	}
	return ""
}

// loggedTips returns the former values of a ref, newest first. It reads the reflog file
// itself, because git refuses to show reflogs of broken refs.
func (s *Store) loggedTips(name string) []plumbing.Hash {
	entries, err := refs.ReadLog(s.repo.CommonDir, name)
	if err != nil || s.repo.RefFormat != "files" {
		return nil
	}
	var tips []plumbing.Hash
	for _, e := range entries {
		tips = append(tips, e.New, e.Old)
	}
	return tips
}

// remoteTips returns known tips of an issue's chain at all remotes.
func (s *Store) remoteTips(ctx context.Context, i checkpoint.Issue) []plumbing.Hash {
	refs, err := s.refs.List(ctx, remoteRefs)
	if err != nil {
		return nil
	}
	var tips []plumbing.Hash
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		if strings.HasSuffix(name, "/"+i.RefName()) {
			tips = append(tips, refs[name])
		}
	}
	return tips
}

// tookAway reports whether the live chain of an issue lacks checkpoints that this clone
// wrote. own is the tip that this clone wrote last.
func (s *Store) tookAway(ctx context.Context, i checkpoint.Issue, own plumbing.Hash) bool {
	live, err := s.readRef(ctx, LiveRef(i))
	if err != nil || live == own {
		return false
	}
	now, err := s.walk(i, LiveRef(i), live, 0)
	if err != nil || now.stands(own) {
		return false
	}
	last, err := s.walk(i, ownRef(i), own, 0)
	if err != nil || !now.whole() || !last.whole() {
		return false
	}
	tip, _, _, err := s.mergeChains(s.newObjectWriter(), now, last)
	return err == nil && tip != now.tip
}
