package capture

import (
	"os"
	"path"
	"path/filepath"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/trees"
)

// CarryOver returns artifacts of a checkpoint's tree entries that its record refers to,
// if the files exist and are still untracked. The next checkpoint stores their current
// content, so that the newest checkpoint contains all of them. Git often ignores these
// files, so other machines receive them only through checkpoints. The record is read only
// if artifacts exist.
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

// referred returns paths of outputs and of phase artifacts.
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
