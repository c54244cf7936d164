package gitstore

import (
	"context"
	"os"
	"path"
	"path/filepath"

	"git-checkpoint/gitstore/checkpoint"
)

// An OutputReport is what became of the files that a record refers to.
type OutputReport struct {
	Missing []string // neither in the worktree nor among the checkpoint's artifacts
	Changed []string // not what their digest says
}

// Outputs looks for the files that a record refers to. Locations outside the
// worktree are not looked at: they are missing.
func (s *Store) Outputs(ctx context.Context, c *Checkpoint, r *checkpoint.Record) (OutputReport, error) {
	var report OutputReport
	var err error
	if report.Missing, err = s.MissingOutputs(c, r); err != nil {
		return report, err
	}
	var places []string
	for _, o := range r.Outputs() {
		if o.Digest != "" {
			places = append(places, o.Location)
		}
	}
	now, err := s.Digests(ctx, places)
	if err != nil {
		return report, err
	}
	for _, o := range r.Outputs() {
		if is := now[o.Location]; is != "" && o.Digest != "" && is != o.Digest {
			report.Changed = append(report.Changed, o.Location)
		}
	}
	return report, nil
}

// MissingOutputs lists the files that a record refers to and that are neither
// in the worktree nor among the checkpoint's artifacts.
func (s *Store) MissingOutputs(c *Checkpoint, r *checkpoint.Record) ([]string, error) {
	outputs := r.Outputs()
	if len(outputs) == 0 {
		return nil, nil
	}
	entries, err := readTree(s.objects, c.Tree)
	if err != nil {
		return nil, err
	}
	artifacts, _ := entry(entries, "artifacts")
	root, err := os.OpenRoot(s.repo.root)
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
		if _, hash, err := lookupPath(s.objects, artifacts.hash, name); err != nil || hash.IsZero() {
			missing = append(missing, o.Location)
		}
	}
	return missing, nil
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
	root, err := os.OpenRoot(s.repo.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var files []file
	var asked []string
	for _, place := range places {
		name := path.Clean(place)
		info, err := root.Stat(filepath.FromSlash(name))
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxDigested {
			continue
		}
		files, asked = append(files, file{path: name, mode: modeFile}), append(asked, place)
	}
	c := capture{s: s, ctx: ctx}
	hashes, err := c.hashAll(files)
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
