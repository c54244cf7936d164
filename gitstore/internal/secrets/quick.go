package secrets

import (
	"bytes"
	"slices"
	"strings"

	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// Limits of a scan without git, for each issue: about the checkpoints of a working day.
const (
	quickCommits = 50
	quickFiles   = 200
	quickBytes   = 1 << 20
)

// A quickScan proves that a push would expose no secret and no large file, without the git
// processes of ScanAll. It compares each checkpoint with the one below, path by path. A file may
// therefore be scanned again although another commit has exposed it already. So only the
// result "no finding" is used. For other results, git determines new files.
type quickScan struct {
	s     *Scanner
	shown map[plumbing.Hash]bool  // commits that the remote has
	files map[plumbing.Hash]int64 // sizes of the files without a finding
	limit int64                   // ScanRequest.MaxFile

	// Of one issue.
	result *Scanned
	read   int   // number of files that were read
	left   int64 // number of bytes that may still be read
}

// Quickly returns the results of scans for one push that are certain to find no secret and no
// large file. A result is nil if a full scan is necessary.
func (s *Scanner) Quickly(reqs []ScanRequest) []*Scanned {
	results := make([]*Scanned, len(reqs))
	if reqs[0].Command != "" || repository.Partial(s.repo.Config) {
		return results
	}
	q := &quickScan{s: s, shown: map[plumbing.Hash]bool{}, files: map[plumbing.Hash]int64{}, limit: reqs[0].MaxFile}
	for _, hex := range reqs[0].Out.Excluded {
		q.shown[plumbing.NewHash(strings.TrimPrefix(hex, "^"))] = true
	}
	for _, req := range reqs {
		for _, seen := range req.Out.Seen {
			q.shown[seen] = true
		}
	}
	for n, req := range reqs {
		q.result, q.read, q.left = &Scanned{}, 0, quickBytes
		clean := func(tip string) bool { return q.chain(plumbing.NewHash(tip)) }
		if len(req.Out.Tips) > 0 && !slices.ContainsFunc(req.Out.Tips, func(tip string) bool { return !clean(tip) }) {
			results[n] = q.result
		}
	}
	return results
}

// chain scans the new commits from a tip downwards, and reports whether they were scanned
// completely. If the remote has a checkpoint, it also has the HEAD of that checkpoint.
func (q *quickScan) chain(tip plumbing.Hash) bool {
	var list []repo.RawCommit
	for at := tip; !q.shown[at]; {
		c, err := q.s.repo.ReadCommit(at)
		if err != nil || len(list) == quickCommits {
			return false
		}
		list = append(list, c)
		if len(c.Parents) == 0 {
			break
		}
		at = c.Parents[0]
	}
	if len(list) > 0 && len(list[len(list)-1].Parents) > 0 {
		head, _ := q.s.chain.HeadOf(&chain.Checkpoint{Commit: list[len(list)-1].Parents[0]})
		q.shown[head] = true
	}
	return !slices.ContainsFunc(list, func(c repo.RawCommit) bool { return !q.commit(c) })
}

// commit scans staged files that differ from HEAD, files of the state that differ from the index and
// from the state before, and other entries that differ between a chain commit and its parent.
func (q *quickScan) commit(c repo.RawCommit) bool {
	if len(c.Parents) == 0 {
		return c.Tree == trees.Empty // genesis
	}
	below, err := q.s.repo.ReadCommit(c.Parents[0])
	if err != nil {
		return false
	}
	head, staged, ok := q.index(c)
	if !ok {
		return false
	}
	now, err := trees.Read(q.s.repo.Objects, c.Tree)
	if err != nil {
		return false
	}
	before, err := trees.Read(q.s.repo.Objects, below.Tree)
	if err != nil {
		return false
	}
	for _, e := range now {
		old, _ := trees.Find(before, e.Name)
		switch e.Name {
		case "state":
			if state, err := q.s.chain.StateCommitOf(c); err != nil || state.Tree != e.Hash || !q.state(c, old) {
				return false
			}
			continue
		case "staged":
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

// state scans the files of a state that are neither in the index nor in the state before.
func (q *quickScan) state(c repo.RawCommit, before trees.Entry) bool {
	files, err := q.s.unstaged(c)
	if err != nil {
		return false
	}
	find := &trees.Finder{Reader: q.s.repo.Objects}
	for _, f := range files {
		mode, hash, err := find.Lookup(before.Hash, f.Path)
		if err != nil {
			return false
		}
		if mode == f.New.Mode && hash == f.New.Hash {
			continue
		}
		if !q.file(f.New, "state/"+f.Path) {
			return false
		}
		if f.untracked {
			q.result.addUntracked(f.Path)
		}
	}
	return true
}

// index returns the tree of a checkpoint's HEAD and its staged tree. It fails if the
// remote may lack HEAD.
func (q *quickScan) index(c repo.RawCommit) (head, staged plumbing.Hash, ok bool) {
	if len(c.Parents) == 1 {
		return head, staged, true
	}
	state, err := q.s.chain.StateCommitOf(c)
	if err != nil || len(c.Parents) > 2 {
		return head, staged, false
	}
	index, err := q.s.repo.ReadCommit(state.Index)
	switch {
	case err != nil || len(index.Parents) != 1:
		return head, staged, false
	case state.Head.IsZero():
		return trees.Empty, index.Tree, true
	case !q.shown[state.Head]:
		return head, staged, false
	}
	head, err = q.s.repo.TreeOfCommit(state.Head)
	return head, index.Tree, err == nil
}

// entry scans the differences between two entries with the same name.
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
	changes, err := trees.Diff(q.s.repo.Objects, old.Hash, now.Hash)
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

// file scans one file, within the limits.
func (q *quickScan) file(e trees.Entry, path string) bool {
	if e.Mode == trees.ModeGitlink {
		return true
	}
	size, known := q.files[e.Hash]
	if !known {
		var err error
		if size, err = q.s.repo.Objects.Size(e.Hash); err != nil {
			return false
		}
		if q.left, q.read = q.left-size, q.read+1; q.left < 0 || q.read > quickFiles {
			return false
		}
		data, err := trees.ReadAs(q.s.repo.Objects, plumbing.BlobObject, e.Hash)
		if err != nil {
			return false
		}
		if r, err := examine(bytes.NewReader(data), size); err != nil || r.matters(0) {
			return false
		}
		q.files[e.Hash] = size
	}
	q.result.add(e.Hash.String(), path, &report{size: size}, q.limit)
	return len(q.result.TooLarge) == 0
}
