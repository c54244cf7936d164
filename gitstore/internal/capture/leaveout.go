package capture

import (
	"cmp"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// LeaveOut removes the largest staged files until the total size is within a limit in
// bytes, and returns them. The staged tree then contains HEAD's version of these files,
// so that a restore does not change them. A limit of 0 or less means no limit.
func (a *Area) LeaveOut(limit int64, stored ObjectReader) ([]checkpoint.Skipped, error) {
	if limit <= 0 || a.Size <= limit {
		return nil, nil
	}
	large, err := a.largestFirst(stored)
	if err != nil {
		return nil, err
	}
	var left []checkpoint.Skipped
	var back []trees.FileEntry
	out := map[string]bool{}
	for _, f := range large {
		if a.Size <= limit {
			break
		}
		a.Size -= f.size
		out[f.Path] = true
		left = append(left, checkpoint.Skipped{Path: f.Path, Size: f.size, Reason: checkpoint.OverSize})
		back = append(back, trees.FileEntry{Path: f.Path, Mode: f.Old.Mode, Hash: f.Old.Hash})
	}
	d := &draft{a, stored}
	a.Staged, err = trees.Replace(&reader{a, stored, func(plumbing.Hash) {}}, d, a.Staged, back)
	if err != nil {
		return nil, fmt.Errorf("leave out staged files: %w", err)
	}
	if a.Staged.IsZero() {
		a.Staged = d.Add(plumbing.TreeObject, nil)
	}
	a.Changes = slices.DeleteFunc(a.Changes, func(c trees.Change) bool { return out[c.Path] })
	return left, nil
}

// A sizedChange is a staged file with its size.
type sizedChange struct {
	trees.Change
	size int64
}

func (a *Area) largestFirst(stored ObjectReader) ([]sizedChange, error) {
	var list []sizedChange
	for _, c := range a.Changes {
		if c.New.Hash.IsZero() || c.New.Mode == trees.ModeGitlink {
			continue
		}
		size, err := stored.Size(c.New.Hash)
		if err != nil {
			return nil, fmt.Errorf("staged file %q: %w", c.Path, err)
		}
		list = append(list, sizedChange{c, size})
	}
	slices.SortStableFunc(list, func(x, y sizedChange) int { return cmp.Compare(y.size, x.size) })
	return list, nil
}
