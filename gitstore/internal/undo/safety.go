package undo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/restore"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// safetyFor is the time that a safety snapshot is kept.
const safetyFor = 14 * 24 * time.Hour

// A safety is a safety snapshot, written before a restore changes files. It describes the
// paths and their changes. A safety snapshot is a commit below refs/git-checkpoint/undo/
// with the tree
//
//	plan        the paths with their old and new states (safetyPlan)
//	blobs/      the contents of replaced files and index entries, by hash
//
// Safety snapshots serve to finish or revert killed restores, and to undo completed
// restores.
type safety struct {
	ref    string
	commit plumbing.Hash
	at     time.Time
	plan   safetyPlan
}

// A safetyPlan is the plan of a restore, as JSON.
type safetyPlan struct {
	Version    int                  `json:"version"`
	Issue      string               `json:"issue"`
	Checkpoint checkpoint.ID        `json:"checkpoint_id"`
	Worktree   string               `json:"worktree,omitempty"` // git directory of a linked worktree, relative to the common one
	Steps      []restore.StoredStep `json:"steps"`
}

// writeSafety durably writes the snapshot before any file changes. It also removes all
// issues' expired snapshots. The journal names the snapshot before the ref exists. So a
// snapshot without a journal belongs to a completed restore.
func (s *Restorer) writeSafety(ctx context.Context, c *chain.Checkpoint, steps []restore.Step, k *repo.ObjectWriter) (*safety, error) {
	there, err := s.Refs.List(ctx, repo.UndoRefs)
	if err != nil {
		return nil, err
	}
	sf := &safety{at: s.Now()}
	sf.ref = safetyName(c.Issue, sf.at, slices.Collect(maps.Keys(there)))
	sf.plan = safetyPlan{Version: 1, Issue: string(c.Issue), Checkpoint: c.ID, Worktree: s.worktreeName()}
	for _, st := range steps {
		sf.plan.Steps = append(sf.plan.Steps, st.Stored())
	}
	data, err := json.Marshal(sf.plan)
	if err != nil {
		return nil, err
	}
	tree := []trees.Entry{{Mode: trees.ModeFile, Name: "plan", Hash: k.Add(plumbing.BlobObject, data)}}
	if blobs := blobsOf(steps, k); len(blobs) > 0 {
		tree = append(tree, trees.Entry{Mode: trees.ModeTree, Name: "blobs", Hash: k.AddTree(blobs)})
	}
	sf.commit = k.AddCommit(s.NewCommit(k.AddTree(tree), sf.at, fmt.Sprintf("before the restore of %s\n", c.ID)))
	moves := append([]refs.Move{{Name: sf.ref, New: sf.commit}}, expired(there, sf.at)...)
	if err := s.writeJournal(sf); err != nil {
		return nil, err
	}
	err = s.WithIssueLock(ctx, c.Issue, func() error {
		return s.Publish(ctx, k, "restore: "+string(c.ID), func() ([]refs.Move, error) { return moves, nil })
	})
	if err == nil {
		err = k.Protect(ctx)
	}
	if repo.IsDone(err) {
		_ = s.forget(ctx, sf, false) // nothing was restored, so there is nothing to undo
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("safety snapshot: %w", err), s.removeJournal())
	}
	return sf, nil
}

// blobsOf returns tree entries for the blobs that steps need, named by their hashes.
func blobsOf(steps []restore.Step, k *repo.ObjectWriter) []trees.Entry {
	var blobs []trees.Entry
	have := map[plumbing.Hash]bool{}
	for _, st := range steps {
		for _, hash := range st.Needs() {
			if !hash.IsZero() && !have[hash] && k.Has(hash) {
				have[hash] = true
				k.Blobs = append(k.Blobs, hash)
				blobs = append(blobs, trees.Entry{Mode: trees.ModeFile, Name: hash.String(), Hash: hash})
			}
		}
	}
	return blobs
}

// safetyName returns the name of a new snapshot, by time. The name sorts after existing
// snapshots of the issue.
func safetyName(issue checkpoint.Issue, at time.Time, refs []string) string {
	prefix := repo.UndoRefs + issue.RefName() + "/"
	name := prefix + at.UTC().Format(repo.SafetyTime)
	for _, ref := range refs {
		if ref = strings.TrimSuffix(ref, repo.TakenBack); ref >= name {
			if last, err := time.Parse(repo.SafetyTime, strings.TrimPrefix(ref, prefix)); err == nil {
				name = prefix + last.Add(time.Microsecond).Format(repo.SafetyTime)
			}
		}
	}
	return name
}

// expired returns the moves that delete expired snapshots.
func expired(there map[string]plumbing.Hash, now time.Time) []refs.Move {
	limit := now.Add(-safetyFor).UTC().Format(repo.SafetyTime)
	var moves []refs.Move
	for ref, commit := range there {
		if ref[strings.LastIndexByte(ref, '/')+1:] < limit {
			moves = append(moves, refs.Move{Name: ref, Old: commit})
		}
	}
	return moves
}

// worktreeName returns a linked worktree's git directory, relative to the common
// directory, or "". Linked worktrees share their refs.
func (s *Restorer) worktreeName() string {
	name, err := filepath.Rel(s.Info.CommonDir, s.Info.Dir)
	if err != nil || name == "." {
		return ""
	}
	return filepath.ToSlash(name)
}

// readSafety reads a safety snapshot.
func (s *Restorer) readSafety(ref string, commit plumbing.Hash) (*safety, error) {
	c, err := s.ReadCommit(commit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref, err)
	}
	entries, err := trees.Read(s.Objects, c.Tree)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref, err)
	}
	e, ok := trees.Find(entries, "plan")
	if !ok {
		return nil, repo.Corrupt(ref, "a safety snapshot without a plan")
	}
	data, err := trees.ReadAs(s.Objects, plumbing.BlobObject, e.Hash)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref, err)
	}
	sf := &safety{ref: ref, commit: commit, at: c.Authored()}
	if err := json.Unmarshal(data, &sf.plan); err != nil {
		return nil, repo.Corrupt(ref, "plan: %w", err)
	}
	return sf, nil
}

// steps returns the plan's steps.
func (sf *safety) steps() ([]restore.Step, error) {
	var steps []restore.Step
	for _, e := range sf.plan.Steps {
		st, err := e.Step()
		if err != nil {
			return nil, repo.Corrupt(sf.ref, "%w", err)
		}
		steps = append(steps, st)
	}
	return steps, nil
}

// lastSafety returns the issue's newest safety snapshot of this worktree that was not
// undone, or nil.
func (s *Restorer) lastSafety(ctx context.Context, issue checkpoint.Issue) (*safety, error) {
	refs, err := s.UndoRefs(ctx, issue)
	if err != nil {
		return nil, err
	}
	return s.newestSafety(refs)
}

// LastRestored returns the issue of the newest restore in this worktree that can be
// undone, or "".
func (s *Restorer) LastRestored(ctx context.Context) checkpoint.Issue {
	refs, err := s.Refs.List(ctx, repo.UndoRefs)
	if err != nil {
		return ""
	}
	sf, err := s.newestSafety(refs)
	if err != nil || sf == nil {
		return ""
	}
	return checkpoint.Issue(sf.plan.Issue)
}

// newestSafety returns the newest of the given safety snapshots that belongs to this
// worktree and was not undone, or nil.
func (s *Restorer) newestSafety(refs map[string]plumbing.Hash) (*safety, error) {
	age := func(a, b string) int { return strings.Compare(path.Base(a), path.Base(b)) }
	for _, ref := range slices.Backward(slices.SortedFunc(maps.Keys(refs), age)) {
		if strings.HasSuffix(ref, repo.TakenBack) {
			continue
		}
		sf, err := s.readSafety(ref, refs[ref])
		if err != nil {
			return nil, err
		}
		if sf.plan.Worktree == s.worktreeName() {
			return sf, nil
		}
	}
	return nil, nil
}

// forget deletes a snapshot after an undo. If some paths could not be undone, it keeps
// the snapshot under another name until it expires.
func (s *Restorer) forget(ctx context.Context, sf *safety, stayed bool) error {
	var moves []refs.Move
	if stayed {
		moves = append(moves, refs.Move{Name: sf.ref + repo.TakenBack, New: sf.commit})
	}
	moves = append(moves, refs.Move{Name: sf.ref, Old: sf.commit})
	return s.WithIssueLock(ctx, checkpoint.Issue(sf.plan.Issue), func() error { return s.MoveRefs(ctx, "undo", moves...) })
}
