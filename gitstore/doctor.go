package gitstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/health"
	"git-checkpoint/gitstore/refs"

	"github.com/go-git/go-git/v5/plumbing"
)

// Examine looks at what lies around the chains of the repository and judges it
// (package health). What the chains themselves hold is Inspect's and Verify's
// to say. gitVersion is git's, as {2, 54}.
func (s *Store) Examine(ctx context.Context, gitVersion [2]int) ([]health.Finding, error) {
	f := health.Facts{Now: s.now(), Git: gitVersion, Pending: s.folders().Pending()}
	for _, e := range s.config {
		f.Config = append(f.Config, health.GitSetting{Key: e.Key, Value: e.Value})
	}
	var err error
	if f.Refs, err = s.refsFound(ctx); err != nil {
		return nil, err
	}
	if f.Files, err = s.folders().Files(); err != nil {
		return nil, err
	}
	f.Ahead = s.aheadFound(ctx, f.Refs)
	f.Both = s.bothFound(ctx, f.Refs)
	f.Objects, err = s.ObjectCounts(ctx)
	return health.Judge(f), err
}

// folders are where a process may have left files behind.
func (s *Store) folders() health.Folders {
	return health.Folders{
		Common: s.repo.CommonDir, Objects: s.repo.ObjectDir, Cache: s.CacheDir(),
		Refs: []string{liveRefs, archiveRefs, bookRefs}, State: "git-checkpoint",
	}
}

// ObjectCounts are git's counts of its objects.
func (s *Store) ObjectCounts(ctx context.Context) (health.ObjectCounts, error) {
	out, err := s.git.Output(ctx, "count-objects", "-v")
	if err != nil {
		return health.ObjectCounts{}, fmt.Errorf("count objects: %w", err)
	}
	return health.ParseObjects(string(out)), nil
}

// aheadFound returns the issues that have checkpoints with a date more than a
// day ahead, or a clock that no later checkpoint can follow. A checkpoint that
// was saved on top of one from the future has a clock ahead and its own date.
func (s *Store) aheadFound(ctx context.Context, refs []health.Ref) []health.Ahead {
	var found []health.Ahead
	for _, r := range refs {
		if r.Role != health.Chain || r.Problem != "" || !strings.HasPrefix(r.Name, liveRefs) {
			continue
		}
		l, err := s.List(ctx, checkpoint.Issue(r.Issue), 0)
		if err != nil {
			continue // Inspect says so
		}
		a := health.Ahead{Issue: r.Issue}
		for i := range l.Checkpoints {
			c := &l.Checkpoints[i]
			if checkpoint.ClockAt(c.Created).Ahead(s.now()) {
				a.Count++
				a.ID = first(a.ID, c.name())
			}
			if c.Clock.IsLast() {
				a.Last = first(a.Last, c.name())
			}
		}
		if a.Count > 0 || a.Last != "" {
			found = append(found, a)
		}
	}
	return found
}

// bothFound returns the issues with checkpoints that are live and archived.
func (s *Store) bothFound(ctx context.Context, refs []health.Ref) []health.Both {
	var found []health.Both
	for _, r := range refs {
		if r.Role != health.Chain || r.Problem != "" || !strings.HasPrefix(r.Name, archiveRefs) {
			continue
		}
		both, err := s.inBoth(ctx, checkpoint.Issue(r.Issue))
		if err == nil && len(both) > 0 {
			found = append(found, health.Both{Issue: r.Issue, Count: len(both), ID: string(both[0])})
		}
	}
	return found
}

// Mend does what a finding says can be done about it, and returns that in
// words.
func (s *Store) Mend(ctx context.Context, m health.Mend) (string, error) {
	switch m.Act {
	case health.RemoveFiles:
		return m.Said, s.folders().Remove(m.Names, m.Until)
	case health.DeleteRefs:
		seen := map[string]plumbing.Hash{}
		for n, name := range m.Names {
			seen[name] = plumbing.NewHash(m.Values[n])
		}
		return m.Said, s.deleteRefs(ctx, seen)
	case health.BringBack:
		issue := checkpoint.Issue(m.To)
		return m.Said, s.retry(ctx, issue, func() error { return nil })
	case health.ClearArchive:
		return m.Said, s.clearArchive(ctx, checkpoint.Issue(m.To))
	}
	return s.replaceBroken(ctx, m)
}

// replaceBroken gives a ref that leads nowhere another value, or none. A file
// that holds no object's name is in git's way: it goes to where it can be
// looked at, and what is set aside goes there too.
func (s *Store) replaceBroken(ctx context.Context, m health.Mend) (string, error) {
	name, said := m.Names[0], m.Said
	if now, err := s.readRef(ctx, name); m.From == "" && err == nil && !now.IsZero() {
		return "", fmt.Errorf("%s: somebody has mended it meanwhile", name)
	}
	if m.From == "" || m.Act == health.SetAside {
		kept, err := s.keepBroken(name, m.From)
		if err != nil {
			return "", fmt.Errorf("set %s aside: %w", name, err)
		}
		said += "; " + s.folders().Name(kept) + " has what it held"
	}
	old := plumbing.NewHash(m.From)
	if m.From == "" { // a packed value may have been hidden
		var err error
		if old, err = s.readRef(ctx, name); err != nil {
			return "", err
		}
	}
	move := refs.Move{Name: name, Old: old}
	if m.Act == health.SetRef {
		move.New = plumbing.NewHash(m.To)
	}
	if move.Old == move.New {
		return said, nil
	}
	locked := refs.Bookkeeping
	if issue := roleOf(&health.Ref{Name: name}); issue != "" {
		locked = issue.RefName()
	}
	return said, s.withNamedLocks(ctx, []string{locked}, func() error { return s.moveRefs(ctx, "doctor: it led nowhere", move) })
}

// keepBroken keeps what a ref holds in a file of ours, and takes a file that
// is no ref out of git's way.
func (s *Store) keepBroken(name, value string) (string, error) {
	dir := filepath.Join(s.repo.CommonDir, "git-checkpoint", "broken")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	base := strings.ReplaceAll(strings.TrimPrefix(name, "refs/"), "/", "~") + "-" + s.now().UTC().Format(safetyTime)
	kept := filepath.Join(dir, base)
	if value == "" {
		return kept, os.Rename(filepath.Join(s.repo.CommonDir, filepath.FromSlash(name)), kept)
	}
	return kept, s.writeFile(kept, []byte(value+"\n"))
}
