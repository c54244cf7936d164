package gitstore

import (
	"bytes"
	"slices"
	"strings"

	"git-checkpoint/gitstore/repository"
	"git-checkpoint/gitstore/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// What is looked at without git is little: the checkpoints of a working day.
const (
	quickCommits = 50
	quickFiles   = 200
	quickBytes   = 1 << 20
)

// A quickScan finds out that there is nothing to find in what a push would show,
// without a git process, of which Scan takes three. It compares the checkpoints
// with what stood below them, path by path, and so it looks at a file again
// that was shown elsewhere: only that there is nothing is an answer, and for
// anything else git is asked what is new.
type quickScan struct {
	s      *Store
	shown  map[plumbing.Hash]bool // commits that others have
	files  map[plumbing.Hash]bool
	result Scanned
	left   int64 // bytes
}

// nothingIn reports that a scan would find nothing, false where that takes more
// to know.
func (s *Store) nothingIn(req ScanRequest) bool {
	if req.Command != "" || len(req.Out.Tips) == 0 || repository.Partial(s.config) {
		return false
	}
	q := &quickScan{s: s, shown: map[plumbing.Hash]bool{}, files: map[plumbing.Hash]bool{}, left: quickBytes}
	for _, hex := range req.Out.Without {
		q.shown[plumbing.NewHash(strings.TrimPrefix(hex, "^"))] = true
	}
	for _, hex := range req.Out.Tips {
		if !q.chain(plumbing.NewHash(hex)) {
			return false
		}
	}
	return len(q.result.Found) == 0 && len(q.result.Skipped) == 0 && q.result.Pointers == 0
}

// chain looks at what is new from a tip down, and reports whether that is all of
// what is new there. What a checkpoint carries that others have, they have too.
func (q *quickScan) chain(tip plumbing.Hash) bool {
	var list []rawCommit
	for at := tip; !q.shown[at]; {
		c, err := q.s.readCommit(at)
		if err != nil || len(list) == quickCommits {
			return false
		}
		list = append(list, c)
		if len(c.parents) == 0 {
			break
		}
		at = c.parents[0]
	}
	if len(list) > 0 && len(list[len(list)-1].parents) > 0 {
		q.shown[q.headBelow(list[len(list)-1].parents[0])] = true
	}
	return !slices.ContainsFunc(list, func(c rawCommit) bool { return !q.commit(c) })
}

// headBelow is the HEAD that a checkpoint carries, zero for none.
func (q *quickScan) headBelow(checkpoint plumbing.Hash) plumbing.Hash {
	c, err := q.s.readCommit(checkpoint)
	if err != nil || len(c.parents) < 2 {
		return plumbing.ZeroHash
	}
	index, err := q.s.readCommit(c.parents[1])
	if err != nil || len(index.parents) == 0 {
		return plumbing.ZeroHash
	}
	return index.parents[0]
}

// commit looks at what a commit of a chain has that the one below it has not,
// and what is staged in it that its HEAD has not.
func (q *quickScan) commit(c rawCommit) bool {
	if len(c.parents) == 0 {
		return c.tree == trees.Empty // genesis
	}
	below, err := q.s.readCommit(c.parents[0])
	if err != nil {
		return false
	}
	head, staged, ok := q.index(c)
	if !ok {
		return false
	}
	now, err := trees.Read(q.s.objects, c.tree)
	if err != nil {
		return false
	}
	before, err := trees.Read(q.s.objects, below.tree)
	if err != nil {
		return false
	}
	for _, e := range now {
		old, _ := trees.Find(before, e.Name)
		if e.Name == "staged" {
			if e.Hash != staged {
				return false
			}
			old = trees.Entry{Mode: trees.ModeTree, Name: e.Name, Hash: head}
		}
		if !q.entry(old, e) {
			return false
		}
	}
	return true
}

// index are the tree of the HEAD that a checkpoint carries, which others have to
// have, and the tree that was staged.
func (q *quickScan) index(c rawCommit) (head, staged plumbing.Hash, ok bool) {
	if len(c.parents) == 1 {
		return head, staged, true
	}
	index, err := q.s.readCommit(c.parents[1])
	switch {
	case err != nil || len(c.parents) > 2 || len(index.parents) > 1:
		return head, staged, false
	case len(index.parents) == 0:
		return trees.Empty, index.tree, true
	case !q.shown[index.parents[0]]:
		return head, staged, false
	}
	commit, err := q.s.readCommit(index.parents[0])
	return commit.tree, index.tree, err == nil
}

// entry looks at what differs between two entries of one name.
func (q *quickScan) entry(old, now trees.Entry) bool {
	if old.Same(now) {
		return true
	}
	if !now.IsTree() {
		return q.file(now, now.Name)
	}
	if !old.IsTree() {
		old.Hash = plumbing.ZeroHash
	}
	changes, err := trees.Diff(q.s.objects, old.Hash, now.Hash)
	if err != nil {
		return false
	}
	for _, c := range changes {
		if !c.New.Hash.IsZero() && !q.file(c.New, now.Name+"/"+c.Path) {
			return false
		}
	}
	return true
}

// file looks at one file, as long as there are few.
func (q *quickScan) file(e trees.Entry, path string) bool {
	if e.Mode == trees.ModeGitlink || q.files[e.Hash] {
		return true
	}
	size, err := q.s.objects.Size(e.Hash)
	if q.left -= size; err != nil || q.left < 0 || len(q.files) == quickFiles {
		return false
	}
	q.files[e.Hash] = true
	data, err := trees.ReadAs(q.s.objects, plumbing.BlobObject, e.Hash)
	return err == nil && q.result.look(e.Hash.String(), path, bytes.NewReader(data)) == nil
}
