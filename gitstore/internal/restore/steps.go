package restore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/operation"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// Names in an entry: its steps, and the index files before the operation and after it.
const (
	stepsName   = "files"
	indexBefore = "index-before"
	indexAfter  = "index-after"
)

// note sets the steps of an entry, with the blobs that they need and the present index file under a
// name, and stores the entry.
func (s *worktree) note(ctx context.Context, e *operation.Entry, steps []Step, index string) error {
	needs, err := s.putIndex(ctx, e, index, steps)
	if err != nil {
		return err
	}
	stored := slices.Clone(steps)
	for i := range stored {
		stored[i].Path, stored[i].Made = checkpoint.QuotePath(steps[i].Path), checkpoint.QuotePath(steps[i].Made)
	}
	data, err := json.Marshal(stored)
	if err != nil {
		return err
	}
	var blobs []trees.Entry
	if tree := trees.HashOf(e.Content, "blobs"); !tree.IsZero() {
		if blobs, err = trees.Read(s.objects, tree); err != nil {
			return err
		}
	}
	for _, st := range steps {
		needs = append(needs, st.needs()...)
	}
	for _, hash := range needs {
		if !hash.IsZero() && s.objects.Has(hash) {
			blobs = append(blobs, trees.Entry{Mode: trees.ModeFile, Name: hash.String(), Hash: hash})
		}
	}
	slices.SortFunc(blobs, func(a, b trees.Entry) int { return strings.Compare(a.Name, b.Name) })
	blobs = slices.Compact(blobs)
	e.Put(trees.Entry{Mode: trees.ModeFile, Name: stepsName, Hash: s.objects.Add(plumbing.BlobObject, data)})
	if len(blobs) > 0 {
		e.Put(trees.Entry{Mode: trees.ModeTree, Name: "blobs", Hash: s.objects.AddTree(blobs)})
	}
	return s.log.Write(ctx, e, s.objects)
}

// putIndex adds the present index file to an entry, if the steps change the index. It returns the blobs
// of resolved conflicts in the index; other blobs stay in the index. If an undo goes on
// after a kill, the entry keeps the index file from before the kill.
func (s *worktree) putIndex(ctx context.Context, e *operation.Entry, name string, steps []Step) (resolved []plumbing.Hash, err error) {
	if !trees.HashOf(e.Content, name).IsZero() {
		return nil, nil
	}
	file := s.repo.Info.Index
	info, err := os.Stat(file)
	if err != nil || info.Size() > maxInMemory || !slices.ContainsFunc(steps, func(st Step) bool { return st.Index }) {
		return nil, fsutil.IgnoreMissing(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if e.IndexTimes = maps.Clone(e.IndexTimes); e.IndexTimes == nil {
		e.IndexTimes = map[string]time.Time{}
	}
	e.IndexTimes[name] = info.ModTime()
	e.Put(trees.Entry{Mode: trees.ModeFile, Name: name, Hash: s.objects.Add(plumbing.BlobObject, data)})
	if !bytes.Contains(data, []byte("REUC")) {
		return nil, nil
	}
	out, err := s.repo.RootGit().Output(ctx, "ls-files", "--resolve-undo", "-z")
	for _, line := range git.Fields(out) {
		if words := strings.Fields(line); len(words) > 1 {
			resolved = append(resolved, plumbing.NewHash(words[1]))
		}
	}
	return resolved, err
}

// steps returns the steps of an entry, nil if it has none: for Undo the inverted ones. Before an undo or a
// redo, it fails with a *CorruptError if a content that they bring back is missing.
func (s *Restorer) steps(e *operation.Entry, way operation.Way) (steps []Step, err error) {
	hash := trees.HashOf(e.Content, stepsName)
	if hash.IsZero() {
		return nil, nil
	}
	data, err := trees.ReadAs(s.repo.Objects, plumbing.BlobObject, hash)
	if err != nil {
		return nil, operation.Damaged(e.Name(), err)
	}
	err = json.Unmarshal(data, &steps)
	for i := range steps {
		st := &steps[i]
		path, failed := checkpoint.UnquotePath(st.Path)
		made, failed2 := checkpoint.UnquotePath(st.Made)
		st.Path, st.Made = path, made
		err = cmp.Or(err, failed, failed2, trees.CheckPath(path, st.After.Work.Mode))
	}
	if err != nil {
		return nil, operation.Damaged(e.Name(), fmt.Errorf("%s: %w", stepsName, err))
	}
	if way == operation.Do {
		return steps, nil
	}
	if way == operation.Undo {
		steps = inverted(steps)
	}
	for _, st := range steps {
		d := st.After.Disk
		isThere := d.isAside() || d.Hash.IsZero() || s.repo.Objects.Has(d.Hash) || way == operation.Redo && s.repo.Objects.Has(st.After.Work.Hash)
		if st.Work && !isThere {
			return nil, operation.Damaged(e.Name(), fmt.Errorf("path %q: its former content, blob %s, is missing", st.Path, d.Hash))
		}
	}
	return steps, nil
}

// needs returns blobs needed to undo, redo or finish the step.
func (st Step) needs() (hashes []plumbing.Hash) {
	for _, v := range []version{st.Before, st.After} {
		if st.Work {
			hashes = append(hashes, v.Disk.Hash, v.Work.Hash)
		}
		for _, e := range v.Index {
			if e.IsBlob() {
				hashes = append(hashes, e.Hash)
			}
		}
	}
	return hashes
}
