package gitstore

import (
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/restore"
	"git-checkpoint/gitstore/trees"
)

// An OutputReport is what became of the files that a record refers to.
type OutputReport struct {
	Missing []string // neither in the worktree nor among the checkpoint's artifacts
	Changed []string // not what their digest says
}

// Outputs looks for the files that a record refers to. Locations outside the
// worktree are not looked at: they are missing. What a restore of the checkpoint
// puts back, as in a clone that has not seen it, is neither missing nor changed.
func (s *Store) Outputs(ctx context.Context, c *Checkpoint, r *checkpoint.Record) (OutputReport, error) {
	var report OutputReport
	missing, err := s.MissingOutputs(c, r)
	if err != nil {
		return report, err
	}
	back := s.comingBack(c)
	for _, place := range missing {
		if !back.brings(place, "", "") {
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

// PlanChanged reports whether the plan's file is neither what its digest says
// nor what a restore of the checkpoint makes that.
func (s *Store) PlanChanged(ctx context.Context, c *Checkpoint, place, digest string) (bool, error) {
	back := s.comingBack(c)
	now, err := s.Digests(ctx, []string{place})
	return err == nil && now[place] != digest && !back.brings(place, now[place], digest), err
}

// differ lists the places, in order, that have other files now than their
// digests say. Those without a file or a digest are left out.
func (s *Store) differ(ctx context.Context, back comingBack, digests map[string]string) ([]string, error) {
	places := slices.Sorted(maps.Keys(digests))
	now, err := s.Digests(ctx, slices.DeleteFunc(slices.Clone(places), func(p string) bool { return digests[p] == "" }))
	if err != nil {
		return nil, err
	}
	var changed []string
	for _, place := range places {
		if is := now[place]; is != "" && is != digests[place] && !back.brings(place, is, digests[place]) {
			changed = append(changed, place)
		}
	}
	return changed, nil
}

// comingBack is what a restore of a checkpoint wants of the worktree, by path.
type comingBack map[string]restore.Target

// comingBack is empty where the snapshot is not all there: then a file that is
// missing is missing.
func (s *Store) comingBack(c *Checkpoint) comingBack {
	st, err := s.openSnapshot(c)
	if err != nil {
		return nil
	}
	targets, err := s.targets(st)
	if err != nil {
		return nil
	}
	back := make(comingBack, len(targets))
	for _, t := range targets {
		back[t.Path] = t
	}
	return back
}

// brings reports whether a restore makes of a file that is as HEAD had it, with
// the digest now ("" for no file), one with the digest want ("" for any).
func (b comingBack) brings(place, now, want string) bool {
	t, ok := b[path.Clean(place)]
	return ok && t.Work && t.WorkWant != (restore.Side{}) && digestOf(t.WorkBase) == now &&
		(want == "" || digestOf(t.WorkWant) == want)
}

func digestOf(f restore.Side) string {
	if f == (restore.Side{}) {
		return ""
	}
	return "blob:" + f.Hash.String()
}

// MissingOutputs lists the files that a record refers to and that are neither
// in the worktree nor among the checkpoint's artifacts.
func (s *Store) MissingOutputs(c *Checkpoint, r *checkpoint.Record) ([]string, error) {
	outputs := r.Outputs()
	if len(outputs) == 0 {
		return nil, nil
	}
	entries, err := trees.Read(s.objects, c.Tree)
	if err != nil {
		return nil, err
	}
	artifacts, _ := trees.Find(entries, "artifacts")
	root, err := os.OpenRoot(s.repo.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var missing []string
	for _, o := range outputs {
		name := path.Clean(o.Location)
		if _, err := root.Stat(filepath.FromSlash(name)); err == nil {
			continue
		}
		if _, hash, err := trees.Lookup(s.objects, artifacts.Hash, name); err != nil || hash.IsZero() {
			missing = append(missing, o.Location)
		}
	}
	return missing, nil
}

// CheckPlace refuses a place below the root of the worktree that no checkpoint
// holds a file at, such as one that is git's own.
func CheckPlace(place string) error { return trees.CheckPath(place, trees.ModeFile) }

// IsTracked reports whether git tracks a file of the worktree, or one below it.
func (s *Store) IsTracked(ctx context.Context, place string) (bool, error) {
	out, err := s.git.Output(ctx, "--literal-pathspecs", "ls-files", "-z", "--", place)
	return len(out) > 0, err
}

// maxDigested caps a file whose digest is taken, in bytes.
const maxDigested = 64 << 20

// Digests returns what files of the worktree are now: "blob:" and the name of
// the blob that git would make of each, so that line endings and filters of
// another machine make no difference. Those that are no regular files within
// the worktree, or too large, have none.
func (s *Store) Digests(ctx context.Context, places []string) (map[string]string, error) {
	if len(places) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(s.repo.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var names, asked []string
	for _, place := range places {
		name := path.Clean(place)
		info, err := root.Stat(filepath.FromSlash(name))
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxDigested {
			continue
		}
		names, asked = append(names, name), append(asked, place)
	}
	hashes, err := s.hasher(root).Hash(ctx, names)
	if err != nil {
		return nil, err
	}
	digests := make(map[string]string, len(asked))
	for n, place := range asked {
		if !hashes[n].IsZero() {
			digests[place] = "blob:" + hashes[n].String()
		}
	}
	return digests, nil
}
