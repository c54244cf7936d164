package restore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/git"
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

// other returns the name of the list of steps that inverts another one.
func other(name string) string {
	if name == forward {
		return backward
	}
	return forward
}

// indexName returns the name of the index file before the steps with a name.
func indexName(steps string) string { return "index-" + steps }

// putSteps sets the steps of an entry, with the blobs that they need, and more blobs.
func putSteps(e *operation.Entry, name string, steps []Step, k *repo.ObjectWriter, needs ...plumbing.Hash) error {
	data, err := json.Marshal(steps)
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
		needs = append(needs, st.needs()...)
	}
	for _, hash := range needs {
		if !hash.IsZero() && k.Has(hash) {
			blobs = append(blobs, trees.Entry{Mode: trees.ModeFile, Name: hash.String(), Hash: hash})
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

// note adds steps to an entry under a name, with the index file from before them and the steps of a
// command that was killed, and stores the entry.
func (s *worktree) note(ctx context.Context, e *operation.Entry, name string, steps, killed []Step) error {
	var resolved []plumbing.Hash
	if killed == nil { // otherwise the entry has the index from before the kill
		var err error
		if resolved, err = s.putIndex(ctx, e, name, steps); err != nil {
			return err
		}
	}
	// A step of the killed process has the state before it.
	steps = slices.Concat(killed, steps)
	slices.SortStableFunc(steps, func(a, b Step) int { return strings.Compare(a.path, b.path) })
	steps = slices.CompactFunc(steps, func(a, b Step) bool { return a.path == b.path })
	if err := putSteps(e, name, steps, s.objects, resolved...); err != nil {
		return err
	}
	return s.log.Write(ctx, e, s.objects)
}

// putIndex adds the index file from before some steps to an entry, if the steps change the index. It
// returns the blobs of resolved conflicts in the index; other blobs stay in the index. A split index is
// not added, because git can delete its shared part.
func (s *worktree) putIndex(ctx context.Context, e *operation.Entry, name string, steps []Step) (resolved []plumbing.Hash, err error) {
	e.Remove(indexName(name))
	file := s.repo.Info.Index
	info, err := os.Stat(file)
	if err != nil || info.Size() > maxInMemory || !slices.ContainsFunc(steps, func(st Step) bool { return st.index }) {
		return nil, fsutil.IgnoreMissing(err)
	}
	if shared, err := fs.Glob(os.DirFS(filepath.Dir(file)), "sharedindex.*"); err != nil || len(shared) > 0 {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	times := map[string]time.Time{name: info.ModTime()}
	if time, ok := e.IndexTimes[other(name)]; ok {
		times[other(name)] = time
	}
	e.IndexTimes = times
	e.Put(trees.Entry{Mode: trees.ModeFile, Name: indexName(name), Hash: s.objects.Add(plumbing.BlobObject, data)})
	if !bytes.Contains(data, []byte("REUC")) {
		return nil, nil
	}
	out, err := s.inRoot().Output(ctx, "ls-files", "--resolve-undo", "-z")
	for _, line := range git.Fields(out) {
		if words := strings.Fields(line); len(words) > 1 {
			resolved = append(resolved, plumbing.NewHash(words[1]))
		}
	}
	return resolved, err
}

// steps returns the steps of an entry, nil if it has none.
func (s *Restorer) steps(e *operation.Entry, name string) (steps []Step, err error) {
	hash := trees.HashOf(e.Content, name)
	if hash.IsZero() {
		return nil, nil
	}
	data, err := trees.ReadAs(s.repo.Objects, plumbing.BlobObject, hash)
	if err != nil {
		return nil, operation.Damaged(e.Name(), err)
	}
	if err := json.Unmarshal(data, &steps); err != nil {
		return nil, operation.Damaged(e.Name(), fmt.Errorf("%s: %w", name, err))
	}
	return steps, nil
}

// A storedStep is the JSON form of a step. Paths that are not UTF-8 are quoted as in git.
// A file is "<octal mode> <hash>", or "" if missing. Disk values have raw content and
// permissions; other values have git's modes and filtered content.
type storedStep struct {
	Path        string `json:"path"`
	Index       bool   `json:"index,omitempty"`
	Work        bool   `json:"work,omitempty"`
	IndexBefore Stages `json:"index_before"`
	IndexAfter  Stages `json:"index_after"`
	DiskBefore  Side   `json:"disk_before,omitzero"`
	DiskAfter   Side   `json:"disk_after,omitzero"`
	KeptBefore  bool   `json:"kept_before,omitempty"` // the files are set aside, and their hashes are those of unread
	KeptAfter   bool   `json:"kept_after,omitempty"`
	WorkBefore  Side   `json:"work_before,omitzero"`
	WorkAfter   Side   `json:"work_after,omitzero"`
	Made        string `json:"made,omitempty"` // topmost parent directory that was missing
	Sparse      bool   `json:"sparse,omitempty"`
	Assume      bool   `json:"assume_unchanged,omitempty"`
}

// MarshalJSON returns the JSON form of the step.
func (st Step) MarshalJSON() ([]byte, error) {
	e := storedStep{
		Path: checkpoint.QuotePath(st.path), Index: st.index, Work: st.work,
		IndexBefore: st.before.index, IndexAfter: st.indexAfter,
		DiskBefore: st.before.disk.side(), DiskAfter: st.diskAfter.side(),
		KeptBefore: st.before.disk.kept, KeptAfter: st.diskAfter.kept,
		WorkBefore: st.before.work, WorkAfter: st.workAfter,
		Sparse: st.before.sparse, Assume: st.before.assume,
	}
	if st.before.made != "" {
		e.Made = checkpoint.QuotePath(st.before.made)
	}
	return json.Marshal(e)
}

// UnmarshalJSON parses a stored step. It returns an error for invalid values.
func (st *Step) UnmarshalJSON(data []byte) (err error) {
	var e storedStep
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("stored step: %w", err)
	}
	*st = Step{index: e.Index, work: e.Work, indexAfter: e.IndexAfter, workAfter: e.WorkAfter}
	st.before.index, st.before.work, st.before.sparse, st.before.assume = e.IndexBefore, e.WorkBefore, e.Sparse, e.Assume
	st.before.disk = fileOnDisk{mode: e.DiskBefore.Mode, hash: e.DiskBefore.Hash, kept: e.KeptBefore}
	st.diskAfter = fileOnDisk{mode: e.DiskAfter.Mode, hash: e.DiskAfter.Hash, kept: e.KeptAfter}
	if st.path, err = checkpoint.UnquotePath(e.Path); err != nil {
		return err
	}
	if st.before.made, err = checkpoint.UnquotePath(e.Made); err != nil {
		return err
	}
	return trees.CheckPath(st.path, st.workAfter.Mode)
}

// needs returns blobs needed to undo or finish the step.
func (st Step) needs() []plumbing.Hash {
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
