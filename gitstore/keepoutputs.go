package gitstore

import (
	"context"
	"os"
	"path"
	"path/filepath"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/trees"
)

// keptOutputs are the files that the checkpoint before holds because its record
// refers to them: outputs, and what phases left behind. The next checkpoint
// takes them along as they are now, so that the newest one has them all: git
// often ignores them, and another machine gets them from nowhere else. What is
// gone here, or is tracked since, is left out. Whatever goes wrong, a save does
// without.
func (s *Store) keptOutputs(ctx context.Context, issue checkpoint.Issue) []string {
	before, _ := s.resumed(issue)
	if before == nil {
		c, err := s.readChain(ctx, issue, LiveRef(issue), 1)
		if err != nil || c.newest() == nil {
			return nil
		}
		before = c.newest()
	}
	entries, err := trees.Read(s.objects, before.Tree)
	if err != nil {
		return nil
	}
	artifacts, ok := trees.Find(entries, "artifacts")
	if !ok {
		return nil
	}
	staged, _ := trees.Find(entries, "staged")
	r, err := s.Record(before)
	if err != nil {
		return nil
	}
	root, err := os.OpenRoot(s.repo.Root)
	if err != nil {
		return nil
	}
	defer root.Close()
	var kept []string
	for _, place := range referred(r) {
		if _, hash, err := trees.Lookup(s.objects, artifacts.Hash, place); err != nil || hash.IsZero() {
			continue
		}
		if _, hash, err := trees.Lookup(s.objects, staged.Hash, place); err == nil && !hash.IsZero() {
			continue
		}
		if info, err := root.Lstat(filepath.FromSlash(place)); err == nil && info.Mode().IsRegular() {
			kept = append(kept, place)
		}
	}
	return kept
}

// referred are the places of outputs and of what phases left behind.
func referred(r *checkpoint.Record) []string {
	places := r.PhaseArtifacts()
	for _, o := range r.Outputs() {
		places = append(places, o.Location)
	}
	for i := range places {
		places[i] = path.Clean(places[i])
	}
	return places
}
