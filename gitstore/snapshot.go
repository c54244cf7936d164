package gitstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxListed is how many paths files_modified names. The trees hold them all.
const maxListed = 1000

// A snapshot is what a save found in the repository, as objects in its sink.
type snapshot struct {
	*area
	entries []trees.Entry // staged/ and what else stands beside checkpoint.yaml
	facts   checkpoint.Snapshot
	files   []checkpoint.File
	count   int // of all files, also where files is cut
}

// snapshot reads the staging area, and what else the request asks for.
func (s *Store) snapshot(ctx context.Context, req *SaveRequest, k *sink) (*snapshot, error) {
	a, err := s.stagingArea(ctx)
	if err != nil {
		return nil, err
	}
	snap := &snapshot{area: a}
	if !snap.head.commit.IsZero() {
		snap.facts.Head = snap.head.commit.String()
	}
	snap.facts.Detached = snap.head.branch == ""
	snap.facts.MergeHead = s.mergeHeads()
	snap.facts.IntentToAdd = snap.intentToAdd
	if err := s.checkReceived(ctx, snap); err != nil {
		return nil, err
	}
	if err := s.keepStaged(ctx, req.Issue, snap, k); err != nil {
		return nil, err
	}
	snap.entries = []trees.Entry{{Mode: trees.ModeTree, Name: "staged", Hash: snap.staged}}
	if err := addConflicts(snap, k); err != nil {
		return nil, err
	}
	snap.listFiles()
	if err := s.captureMore(ctx, req, snap, k); err != nil {
		return nil, err
	}
	if limit := req.MaxSize; limit > 0 && snap.size > limit {
		return nil, &LimitError{What: "snapshot", Size: snap.size, Limit: limit}
	}
	return snap, nil
}

// mergeHeads are the commits of a merge that is under way.
func (s *Store) mergeHeads() []string {
	data, err := os.ReadFile(filepath.Join(s.repo.dir, "MERGE_HEAD"))
	if err != nil {
		return nil
	}
	return strings.Fields(string(data))
}

// keepStaged takes note of what git wrote and the checkpoint needs: blobs and
// trees that HEAD does not have, or, where the tip was saved on the same HEAD,
// that the tip does not have. What the tip has was made to last with it.
func (s *Store) keepStaged(ctx context.Context, issue checkpoint.Issue, snap *snapshot, k *sink) error {
	before, head, ok := s.tipSnapshot(ctx, issue)
	again := ok && head == snap.head.commit
	if snap.staged == snap.headTree || again && snap.staged == before {
		return nil
	}
	for _, o := range snap.made {
		k.Add(o.kind, o.data)
	}
	changes := snap.changes
	if again && len(changes)+len(snap.trees) > fewKept {
		var err error
		if changes, err = trees.DiffBetween(s.objects, &keeper{k}, before, snap.staged); err != nil {
			return err
		}
	} else {
		for _, hash := range snap.trees {
			k.Keep(hash)
		}
	}
	for _, c := range changes {
		if !c.New.Hash.IsZero() && c.New.Mode != trees.ModeGitlink {
			k.Keep(c.New.Hash)
		}
	}
	return nil
}

// fewKept is how many objects are rather made to last again than compared with
// those of the tip.
const fewKept = 32

// tipSnapshot is what the newest commit of an issue's chain has staged, and
// the HEAD it was saved on.
func (s *Store) tipSnapshot(ctx context.Context, issue checkpoint.Issue) (staged, head plumbing.Hash, ok bool) {
	tip, err := s.readRef(ctx, LiveRef(issue))
	if err != nil || tip.IsZero() {
		return staged, head, false
	}
	commit, err := s.readCommit(tip)
	if err != nil || len(commit.parents) != 2 {
		return staged, head, false
	}
	index, err := s.readCommit(commit.parents[1])
	if err != nil {
		return staged, head, false
	}
	if len(index.parents) > 0 {
		head = index.parents[0]
	}
	return index.tree, head, true
}

// addConflicts keeps the stages of unmerged paths apart, one tree each.
func addConflicts(snap *snapshot, k *sink) error {
	if len(snap.conflicts) == 0 {
		return nil
	}
	var stages [4][]trees.File
	for _, e := range snap.conflicts {
		stages[e.Stage] = append(stages[e.Stage], trees.File{Path: e.Path, Mode: uint32(e.Mode), Hash: e.Hash})
		k.Keep(e.Hash)
	}
	var entries []trees.Entry
	for stage := 1; stage <= 3; stage++ {
		if tree := trees.Build(k, stages[stage]); !tree.IsZero() {
			entries = append(entries, trees.Entry{Mode: trees.ModeTree, Name: fmt.Sprint(stage), Hash: tree})
		}
	}
	snap.entries = append(snap.entries, trees.Entry{Mode: trees.ModeTree, Name: "conflicts", Hash: k.addTree(entries)})
	return nil
}

// listFiles says what is staged in the record's words. A file that went while
// an equal one came was renamed.
func (snap *snapshot) listFiles() {
	renamed := renames(snap.changes)
	for _, c := range snap.changes {
		if !c.New.Hash.IsZero() || !renamed[c.Path] {
			snap.addFile(c.Path, status(c, renamed[c.Path]), true)
		}
	}
	for i, e := range snap.conflicts {
		if i == 0 || snap.conflicts[i-1].Path != e.Path {
			snap.addFile(e.Path, "conflicted", false)
		}
	}
}

// renames are the paths on both sides of a rename, each on one of them.
func renames(changes []trees.Change) map[string]bool {
	gone := map[plumbing.Hash][]string{}
	for _, c := range changes {
		if c.New.Hash.IsZero() {
			gone[c.Old.Hash] = append(gone[c.Old.Hash], c.Path)
		}
	}
	renamed := map[string]bool{}
	for _, c := range changes {
		if from := gone[c.New.Hash]; c.Old.Hash.IsZero() && len(from) > 0 {
			renamed[from[0]], renamed[c.Path] = true, true
			gone[c.New.Hash] = from[1:]
		}
	}
	return renamed
}

func (snap *snapshot) addFile(path, status string, staged bool) {
	snap.count++
	if len(snap.files) < maxListed {
		snap.files = append(snap.files, checkpoint.File{Path: path, Status: status, Staged: staged})
	}
}

func status(c trees.Change, renamed bool) string {
	switch {
	case c.New.Hash.IsZero():
		return "deleted"
	case c.Old.Hash.IsZero() && renamed:
		return "renamed"
	case c.Old.Hash.IsZero():
		return "added"
	case c.Old.Mode&0o170000 != c.New.Mode&0o170000:
		return "typechange"
	}
	return "modified"
}
