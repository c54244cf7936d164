package restore

import (
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

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
			return st, fmt.Errorf("safety snapshot: %w", err)
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
