package artifacts

import (
	"os"
	"path"
	"path/filepath"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/trees"
)

// CarryOver are the files that a checkpoint, whose tree has these entries, holds
// because its record refers to them, as far as they are here and not tracked
// since. The next checkpoint takes them along as they are now, so that the
// newest one has them all: git often ignores them, and another machine gets
// them from nowhere else. The record is read where there are artifacts alone.
func (s *Checker) CarryOver(entries []trees.Entry, record func() (*checkpoint.Record, error)) []string {
	artifacts, ok := trees.Find(entries, "artifacts")
	if !ok {
		return nil
	}
	staged, _ := trees.Find(entries, "staged")
	r, err := record()
	if err != nil {
		return nil
	}
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return nil
	}
	defer root.Close()
	var kept []string
	find := &trees.Finder{Reader: s.Objects}
	for _, place := range referred(r) {
		if !has(find, artifacts, place) || has(find, staged, place) {
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
