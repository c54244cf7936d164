package gitstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/health"

	"github.com/go-git/go-git/v5/plumbing"
)

// Examine looks at what lies around the chains of the repository and judges it
// (package health). What the chains themselves hold is Inspect's and Verify's
// to say. gitVersion is git's, as {2, 54}.
func (s *Store) Examine(ctx context.Context, gitVersion [2]int) ([]health.Finding, error) {
	f := health.Facts{Now: s.now(), Git: gitVersion, Pending: s.pendingPlaces()}
	for _, e := range s.config {
		f.Config = append(f.Config, health.Setting{Key: e.Key, Value: e.Value})
	}
	var err error
	if f.Refs, err = s.refsFound(ctx); err != nil {
		return nil, err
	}
	if f.Files, err = s.filesFound(); err != nil {
		return nil, err
	}
	f.Ahead = s.aheadFound(ctx, f.Refs)
	f.Objects, err = s.ObjectCounts(ctx)
	return health.Judge(f), err
}

// ObjectCounts are git's counts of its objects.
func (s *Store) ObjectCounts(ctx context.Context) (health.Objects, error) {
	var o health.Objects
	out, err := s.git.Output(ctx, "count-objects", "-v")
	if err != nil {
		return o, fmt.Errorf("count objects: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		var n int
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if _, err := fmt.Sscan(value, &n); err != nil {
			continue
		}
		switch key {
		case "count":
			o.Loose = n
		case "packs":
			o.Packs = n
		case "garbage":
			o.Garbage = n
		}
	}
	return o, nil
}

// aheadFound are the issues with clocks that run ahead.
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
			if c := &l.Checkpoints[i]; c.Clock.Ahead(s.now()) {
				a.Count++
				a.ID = first(a.ID, c.name())
			}
		}
		if a.Count > 0 {
			found = append(found, a)
		}
	}
	return found
}

// Mend does what a finding says can be done about it, and returns that in
// words.
func (s *Store) Mend(ctx context.Context, m health.Mend) (string, error) {
	switch m.Act {
	case health.RemoveFiles:
		return m.Said, s.removeFiles(m.Names, m.Until)
	case health.DeleteRefs:
		seen := map[string]plumbing.Hash{}
		for n, name := range m.Names {
			seen[name] = plumbing.NewHash(m.Values[n])
		}
		return m.Said, s.deleteRefs(ctx, seen)
	case health.BringBack:
		issue := checkpoint.Issue(m.To)
		return m.Said, s.retry(ctx, issue, func() error { return nil })
	}
	return s.replaceBroken(ctx, m)
}

// removeFiles removes files below the repository's folders that were not
// written after until: a lock may be another one by now.
func (s *Store) removeFiles(names []string, until time.Time) error {
	for _, name := range names {
		file := s.insideFile(name)
		if info, err := os.Lstat(file); err == nil && info.ModTime().After(until) {
			return fmt.Errorf("remove: %s: somebody has it meanwhile", name)
		}
		if err := ignoreMissing(os.Remove(file)); err != nil {
			return fmt.Errorf("remove: %w", err)
		}
	}
	return nil
}

// insideFile is where a file that a finding names is: they are named relative
// to the repository's folder, and those elsewhere in full.
func (s *Store) insideFile(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.repo.CommonDir, filepath.FromSlash(name))
}

func (s *Store) namedFile(path string) string {
	if rel, err := filepath.Rel(s.repo.CommonDir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
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
		said += "; " + s.namedFile(kept) + " has what it held"
	}
	old := plumbing.NewHash(m.From)
	if m.From == "" { // a packed value may have been hidden
		var err error
		if old, err = s.readRef(ctx, name); err != nil {
			return "", err
		}
	}
	move := refMove{name: name, old: old}
	if m.Act == health.SetRef {
		move.new = plumbing.NewHash(m.To)
	}
	if move.old == move.new {
		return said, nil
	}
	return said, s.moveRefs(ctx, "doctor: it led nowhere", move)
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
