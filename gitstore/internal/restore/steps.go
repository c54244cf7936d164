package restore

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/operation"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// Names of the two lists of steps of an entry: of the operation, and of its undo.
const (
	forward  = "files"
	backward = "back"
)

// putSteps sets the steps of an entry, with the blobs that they need.
func putSteps(e *operation.Entry, name string, steps []Step, k *repo.ObjectWriter) error {
	stored := make([]StoredStep, len(steps))
	for i, st := range steps {
		stored[i] = st.Stored()
	}
	data, err := json.Marshal(stored)
	if err != nil {
		return err
	}
	var blobs []trees.Entry
	if tree := trees.HashOf(e.Content, "blobs"); !tree.IsZero() {
		if blobs, err = trees.Read(k, tree); err != nil {
			return err
		}
	}
	for _, st := range steps {
		for _, hash := range st.Needs() {
			if !hash.IsZero() && k.Has(hash) {
				blobs = append(blobs, trees.Entry{Mode: trees.ModeFile, Name: hash.String(), Hash: hash})
			}
		}
	}
	slices.SortFunc(blobs, func(a, b trees.Entry) int { return strings.Compare(a.Name, b.Name) })
	blobs = slices.Compact(blobs)
	e.Put(trees.Entry{Mode: trees.ModeFile, Name: name, Hash: k.Add(plumbing.BlobObject, data)})
	if len(blobs) > 0 {
		e.Put(trees.Entry{Mode: trees.ModeTree, Name: "blobs", Hash: k.AddTree(blobs)})
	}
	return nil
}

// steps returns the steps of an entry, nil if it has none.
func (s *Restorer) steps(e *operation.Entry, name string) (steps []Step, err error) {
	hash := trees.HashOf(e.Content, name)
	if hash.IsZero() {
		return nil, nil
	}
	data, err := trees.ReadAs(s.repo.Objects, plumbing.BlobObject, hash)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name(), err)
	}
	var stored []StoredStep
	if err := json.Unmarshal(data, &stored); err != nil {
		return nil, repo.Corrupt(e.Name(), "%s: %w", name, err)
	}
	for _, one := range stored {
		st, err := one.Step()
		if err != nil {
			return nil, repo.Corrupt(e.Name(), "%w", err)
		}
		steps = append(steps, st)
	}
	return steps, nil
}

// overriddenBy returns the steps of both lists by path. A step of former, which has the state before a
// command that was killed, replaces one of steps.
func overriddenBy(steps, former []Step) []Step {
	all := slices.Concat(former, steps)
	slices.SortStableFunc(all, func(a, b Step) int { return strings.Compare(a.path, b.path) })
	return slices.CompactFunc(all, func(a, b Step) bool { return a.path == b.path })
}

// A StoredStep is the JSON form of a step. Paths that are not UTF-8 are quoted as in git.
// A file is "<octal mode> <hash>", or "" if missing. Disk values have raw content and
// permissions; other values have git's modes and filtered content.
type StoredStep struct {
	Path        string    `json:"path"`
	Index       bool      `json:"index,omitempty"`
	Work        bool      `json:"work,omitempty"`
	IndexBefore [4]string `json:"index_before"`
	IndexAfter  [4]string `json:"index_after"`
	DiskBefore  string    `json:"disk_before,omitempty"`
	DiskAfter   string    `json:"disk_after,omitempty"`
	WorkBefore  string    `json:"work_before,omitempty"`
	WorkAfter   string    `json:"work_after,omitempty"`
	Made        string    `json:"made,omitempty"` // topmost parent directory that was missing
	Sparse      bool      `json:"sparse,omitempty"`
	Assume      bool      `json:"assume_unchanged,omitempty"`
}

// Stored returns the JSON form of the step.
func (st Step) Stored() StoredStep {
	e := StoredStep{
		Path: checkpoint.QuotePath(st.path), Index: st.index, Work: st.work,
		DiskBefore: st.before.disk.String(), DiskAfter: st.diskAfter.String(),
		WorkBefore: st.before.work.String(), WorkAfter: st.workAfter.String(),
		Sparse: st.before.sparse, Assume: st.before.assume,
	}
	if st.before.made != "" {
		e.Made = checkpoint.QuotePath(st.before.made)
	}
	for i := range st.indexAfter {
		e.IndexBefore[i], e.IndexAfter[i] = st.before.index[i].String(), st.indexAfter[i].String()
	}
	return e
}

// Step parses a stored step. It returns an error for invalid values.
func (e StoredStep) Step() (Step, error) {
	st := Step{index: e.Index, work: e.Work}
	st.before.sparse, st.before.assume = e.Sparse, e.Assume
	var diskBefore, diskAfter Side
	texts := map[*Side]string{
		&diskBefore: e.DiskBefore, &diskAfter: e.DiskAfter, &st.before.work: e.WorkBefore, &st.workAfter: e.WorkAfter,
	}
	for i := range st.indexAfter {
		texts[&st.before.index[i]], texts[&st.indexAfter[i]] = e.IndexBefore[i], e.IndexAfter[i]
	}
	for to, text := range texts {
		side, err := contents.ParseSide(text)
		if err != nil {
			return st, fmt.Errorf("stored step: %w", err)
		}
		*to = side
	}
	st.before.disk = fileOnDisk{mode: diskBefore.Mode, hash: diskBefore.Hash}
	st.diskAfter = fileOnDisk{mode: diskAfter.Mode, hash: diskAfter.Hash}
	var err error
	if st.path, err = checkpoint.UnquotePath(e.Path); err != nil {
		return st, err
	}
	if st.before.made, err = checkpoint.UnquotePath(e.Made); err != nil {
		return st, err
	}
	return st, trees.CheckPath(st.path, st.workAfter.Mode)
}

// Needs returns blobs needed to undo or finish the step.
func (st Step) Needs() []plumbing.Hash {
	var hashes []plumbing.Hash
	if st.work {
		hashes = append(hashes, st.before.disk.hash, st.workAfter.Hash)
	}
	for _, stages := range []Stages{st.before.index, st.indexAfter} {
		for _, e := range stages {
			if e.IsBlob() {
				hashes = append(hashes, e.Hash)
			}
		}
	}
	return hashes
}
