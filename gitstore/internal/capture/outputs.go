package capture

import (
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git/convert"
	"git-checkpoint/gitstore/internal/restore"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Checker checks files of a worktree with the objects of its repository.
type Checker struct {
	Root    string // top-level directory
	Objects trees.Reader
	// Hasher returns a hasher that applies git's clean filters to files below the root.
	Hasher func(*os.Root) *convert.Hasher
}

// Mismatches lists missing or changed files of a record.
type Mismatches struct {
	Missing []string // missing from both worktree and artifacts
	Changed []string // different from the recorded digest
}

// Check compares the files of a record with the worktree. Files that a restore of the
// checkpoint would write, as in a new clone, count as neither missing nor changed.
func (s *Checker) Check(ctx context.Context, entries []trees.Entry, r *checkpoint.Record, back RestorePlan) (Mismatches, error) {
	var report Mismatches
	missing, err := s.Missing(entries, r)
	if err != nil {
		return report, err
	}
	for _, place := range missing {
		if !back.Restores(place, "", "") {
			report.Missing = append(report.Missing, place)
		}
	}
	digests := map[string]string{}
	for _, o := range r.Outputs() {
		digests[o.Location] = o.Digest
	}
	report.Changed, err = s.differ(ctx, back, digests)
	return report, err
}

// Missing returns files of a record that exist neither in the worktree nor in the
// checkpoint's artifacts.
func (s *Checker) Missing(entries []trees.Entry, r *checkpoint.Record) ([]string, error) {
	outputs := r.Outputs()
	if len(outputs) == 0 {
		return nil, nil
	}
	artifacts, _ := trees.Find(entries, "artifacts")
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var missing []string
	find := &trees.Finder{Reader: s.Objects}
	for _, o := range outputs {
		name := path.Clean(o.Location)
		if _, err := root.Stat(filepath.FromSlash(name)); err == nil {
			continue
		}
		if !has(find, artifacts, name) {
			missing = append(missing, o.Location)
		}
	}
	return missing, nil
}

// has reports whether a tree entry contains a path.
func has(find *trees.Finder, tree trees.Entry, path string) bool {
	_, hash, err := find.Lookup(tree.Hash, path)
	return err == nil && !hash.IsZero()
}

// differ returns sorted paths of files that differ from their digest. It ignores paths
// without file or digest.
func (s *Checker) differ(ctx context.Context, back RestorePlan, digests map[string]string) ([]string, error) {
	places := slices.Sorted(maps.Keys(digests))
	now, err := s.Digests(ctx, slices.DeleteFunc(slices.Clone(places), func(p string) bool { return digests[p] == "" }))
	if err != nil {
		return nil, err
	}
	var changed []string
	for _, place := range places {
		if is := now[place]; is != "" && is != digests[place] && !back.Restores(place, is, digests[place]) {
			changed = append(changed, place)
		}
	}
	return changed, nil
}

// RestorePlan maps paths to restore targets.
type RestorePlan map[string]restore.Target

// NewRestorePlan returns a plan with the given targets.
func NewRestorePlan(targets []restore.Target) RestorePlan {
	back := make(RestorePlan, len(targets))
	for _, t := range targets {
		back[t.Path] = t
	}
	return back
}

// Restores reports whether a restore replaces a file unchanged since HEAD. now is the
// file's digest, "" for a missing file; want is the digest after the restore, "" for any.
func (c RestorePlan) Restores(place, now, want string) bool {
	t, ok := c[path.Clean(place)]
	return ok && t.Work && t.WorkWant != (restore.Side{}) && digestOf(t.WorkBase) == now &&
		(want == "" || digestOf(t.WorkWant) == want)
}

func digestOf(f restore.Side) string {
	if f == (restore.Side{}) {
		return ""
	}
	return digest(f.Hash)
}

func digest(blob plumbing.Hash) string { return "blob:" + blob.String() }
