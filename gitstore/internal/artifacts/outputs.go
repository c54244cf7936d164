// Package artifacts looks after the files that a record refers to: what agents and
// phases made, and plans. Git often ignores them, so a checkpoint holds them as
// artifacts.
//
// Places are as records have them, relative to the root of the worktree. What is
// outside of it is never looked at: it is missing.
package artifacts

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

// A Checker is where the files are: a worktree, and the objects of its repository.
type Checker struct {
	Root    string // of the worktree
	Objects trees.Reader
	// Hasher tells what git would make of files below the root.
	Hasher func(*os.Root) *convert.Hasher
}

// Mismatches are the files of a record that are missing or changed.
type Mismatches struct {
	Missing []string // neither in the worktree nor among the checkpoint's artifacts
	Changed []string // not what their digest says
}

// Check looks for the files that a record refers to. What a restore of the
// checkpoint, whose tree has these entries, puts back, as in a clone that has
// not seen it, is neither missing nor changed.
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

// Missing lists the files that a record refers to and that are neither in the
// worktree nor among the artifacts of a checkpoint whose tree has these entries.
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

// has reports whether there is something at a path below a tree's entry.
func has(find *trees.Finder, tree trees.Entry, path string) bool {
	_, hash, err := find.Lookup(tree.Hash, path)
	return err == nil && !hash.IsZero()
}

// differ lists the places, in order, that have other files now than their
// digests say. Those without a file or a digest are left out.
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

// RestorePlan is what a restore of a checkpoint wants of the worktree, by path.
type RestorePlan map[string]restore.Target

// NewRestorePlan is what comes back of a restore's targets.
func NewRestorePlan(targets []restore.Target) RestorePlan {
	back := make(RestorePlan, len(targets))
	for _, t := range targets {
		back[t.Path] = t
	}
	return back
}

// Restores reports whether a restore makes of a file that is as HEAD had it, with
// the digest now ("" for no file), one with the digest want ("" for any).
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
