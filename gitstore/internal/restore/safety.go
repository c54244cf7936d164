package restore

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
	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"
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
// restores. An undo of a restore writes a snapshot for redo, and a redo writes a snapshot for
// the next undo.
type safety struct {
	ref    string
	commit plumbing.Hash
	at     time.Time
	plan   safetyPlan
}

// A safetyPlan is the plan of a restore, as JSON.
type safetyPlan struct {
	Version    int           `json:"version"`
	Issue      string        `json:"issue"`
	Checkpoint checkpoint.ID `json:"checkpoint_id"`
	Worktree   string        `json:"worktree,omitempty"` // git directory of a linked worktree, relative to the common one
	Steps      []StoredStep  `json:"steps"`

	Head  string          `json:"head,omitempty"`  // commit of HEAD, zero on an unborn branch
	Heads []checkpoint.ID `json:"heads,omitempty"` // checkpoints that the files come after, nil if unknown (chain.Heads)
	Chain logPlace        `json:"chain"`

	// The restore moved the point from which the work goes on (chain.Point), or both are "".
	From checkpoint.ID `json:"from,omitempty"`
	To   checkpoint.ID `json:"to,omitempty"`

	Of     string    `json:"of,omitempty"`     // snapshot that these steps revert, for an undo or a redo
	Origin *logPlace `json:"origin,omitempty"` // of the restore, for an undo or a redo
}

// A logPlace is the end of the reflog of a chain ref at some time.
type logPlace struct {
	Tip     string `json:"tip,omitempty"`     // value of the ref, zero if missing
	Entries int    `json:"entries,omitempty"` // number of entries
}

// isRedo reports whether an undo wrote the snapshot, for redo.
func isRedo(ref string) bool { return strings.HasSuffix(ref, repo.ForRedo) }

// writeSafety durably writes the snapshot before any file changes. It also removes all
// issues' expired snapshots. The journal names the snapshot before the ref exists. So a
// snapshot without a journal belongs to a completed restore.
func (s *Restorer) writeSafety(ctx context.Context, plan safetyPlan, steps []Step, k *repo.ObjectWriter) (*safety, error) {
	there, err := s.repo.Refs.List(ctx, repo.UndoRefs)
	if err != nil {
		return nil, err
	}
	sf, err := s.newSafety(ctx, plan, steps, there)
	if err != nil {
		return nil, err
	}
	if err := s.repo.WriteFile(s.journal(), []byte(sf.ref+"\n")); err != nil {
		return nil, err
	}
	old := append(expired(there, sf.at), s.forRedo(checkpoint.Issue(plan.Issue), there, sf.at)...)
	if err := s.storeSafety(ctx, sf, fmt.Sprintf("before the restore of %s\n", plan.Checkpoint), steps, k, old); err != nil {
		return nil, errors.Join(err, s.removeJournal())
	}
	return sf, nil
}

// newSafety completes the plan of a new snapshot, and names its ref.
func (s *Restorer) newSafety(ctx context.Context, plan safetyPlan, steps []Step, there map[string]plumbing.Hash) (*safety, error) {
	issue := checkpoint.Issue(plan.Issue)
	head, err := s.repo.ReadHead(ctx)
	if err != nil {
		return nil, err
	}
	tip, err := s.repo.ReadRef(ctx, repo.LiveRef(issue))
	if err != nil {
		tip = plumbing.ZeroHash // a checkpoint of a broken chain can be restored by its commit
	}
	if entries, err := s.repo.Reflog(ctx, repo.LiveRef(issue)); err == nil {
		plan.Chain.Entries = len(entries)
	}
	plan.Version, plan.Worktree, plan.Head, plan.Chain.Tip = 1, s.worktreeName(), head.Commit.String(), tip.String()
	plan.Heads = s.chain.Heads(issue)
	for _, st := range steps {
		plan.Steps = append(plan.Steps, st.Stored())
	}
	sf := &safety{at: s.repo.Now(), plan: plan}
	sf.ref = safetyName(issue, sf.at, slices.Collect(maps.Keys(there)))
	return sf, nil
}

// storeSafety writes the objects and the ref of a snapshot, and deletes the refs of old
// snapshots.
func (s *Restorer) storeSafety(ctx context.Context, sf *safety, message string, steps []Step, k *repo.ObjectWriter, old []refs.Move) error {
	data, err := json.Marshal(sf.plan)
	if err != nil {
		return err
	}
	tree := []trees.Entry{{Mode: trees.ModeFile, Name: "plan", Hash: k.Add(plumbing.BlobObject, data)}}
	var blobs []trees.Entry // that the steps need, named by their hashes
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
	if len(blobs) > 0 {
		tree = append(tree, trees.Entry{Mode: trees.ModeTree, Name: "blobs", Hash: k.AddTree(blobs)})
	}
	sf.commit = k.AddCommit(s.repo.NewCommit(k.AddTree(tree), sf.at, message))
	moves := append([]refs.Move{{Name: sf.ref, New: sf.commit}}, old...)
	err = s.repo.WithIssueLock(ctx, checkpoint.Issue(sf.plan.Issue), func() error {
		return s.repo.Move(ctx, k, "restore: "+string(sf.plan.Checkpoint), func() ([]refs.Move, error) { return moves, nil })
	})
	if err == nil {
		err = k.Protect(ctx)
	}
	if repo.IsDone(err) {
		_ = s.forget(ctx, sf, false) // no file was restored, so no undo is necessary
	}
	if err != nil {
		return fmt.Errorf("safety snapshot: %w", err)
	}
	return nil
}

// safetyName returns the name of a new snapshot, by time. The name sorts after existing
// snapshots of the issue.
func safetyName(issue checkpoint.Issue, at time.Time, refs []string) string {
	prefix := repo.UndoRefs + issue.RefName() + "/"
	name := prefix + at.UTC().Format(repo.SafetyTime)
	for _, ref := range refs {
		ref = strings.TrimSuffix(strings.TrimSuffix(ref, repo.TakenBack), repo.ForRedo)
		if ref >= name {
			if last, err := time.Parse(repo.SafetyTime, strings.TrimPrefix(ref, prefix)); err == nil {
				name = prefix + last.Add(time.Microsecond).Format(repo.SafetyTime)
			}
		}
	}
	return name
}

// forRedo returns the moves that delete the snapshots for redo of an issue in this worktree.
// A restore ends the redo of earlier undos. Expired snapshots are left out.
func (s *Restorer) forRedo(issue checkpoint.Issue, there map[string]plumbing.Hash, now time.Time) []refs.Move {
	limit := safetyLimit(now)
	var moves []refs.Move
	for ref, commit := range there {
		if !isRedo(ref) || !strings.HasPrefix(ref, repo.UndoRefs+issue.RefName()+"/") || path.Base(ref) < limit {
			continue
		}
		if sf, err := s.readSafety(ref, commit); err == nil && sf.plan.Worktree == s.worktreeName() {
			moves = append(moves, refs.Move{Name: ref, Old: commit})
		}
	}
	return moves
}

// safetyLimit returns the end of the name of the oldest snapshot that has not expired.
func safetyLimit(now time.Time) string { return now.Add(-safetyFor).UTC().Format(repo.SafetyTime) }

// expired returns the moves that delete expired snapshots.
func expired(there map[string]plumbing.Hash, now time.Time) []refs.Move {
	limit := safetyLimit(now)
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
	name, err := filepath.Rel(s.repo.Info.CommonDir, s.repo.Info.Dir)
	if err != nil || name == "." {
		return ""
	}
	return filepath.ToSlash(name)
}

// readSafety reads a safety snapshot.
func (s *Restorer) readSafety(ref string, commit plumbing.Hash) (*safety, error) {
	c, err := s.repo.ReadCommit(commit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref, err)
	}
	entries, err := trees.Read(s.repo.Objects, c.Tree)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref, err)
	}
	e, ok := trees.Find(entries, "plan")
	if !ok {
		return nil, repo.Corrupt(ref, "a safety snapshot without a plan")
	}
	data, err := trees.ReadAs(s.repo.Objects, plumbing.BlobObject, e.Hash)
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
func (sf *safety) steps() ([]Step, error) {
	var steps []Step
	for _, e := range sf.plan.Steps {
		st, err := e.Step()
		if err != nil {
			return nil, repo.Corrupt(sf.ref, "%w", err)
		}
		steps = append(steps, st)
	}
	return steps, nil
}

// LastRestored returns the issue of the newest restore in this worktree that can be
// undone, or "".
func (s *Restorer) LastRestored(ctx context.Context) checkpoint.Issue {
	refs, err := s.repo.Refs.List(ctx, repo.UndoRefs)
	if err != nil {
		return ""
	}
	sf, err := s.newestSafety(refs, false)
	if err != nil || sf == nil {
		return ""
	}
	return checkpoint.Issue(sf.plan.Issue)
}

// newestSafety returns the newest of the given safety snapshots that belongs to this
// worktree and was not undone, or nil. With redo, it returns the newest snapshot for redo.
func (s *Restorer) newestSafety(refs map[string]plumbing.Hash, redo bool) (*safety, error) {
	age := func(a, b string) int { return strings.Compare(path.Base(a), path.Base(b)) }
	for _, ref := range slices.Backward(slices.SortedFunc(maps.Keys(refs), age)) {
		if strings.HasSuffix(ref, repo.TakenBack) || isRedo(ref) != redo {
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
		moves = append(moves, refs.Move{Name: strings.TrimSuffix(sf.ref, repo.ForRedo) + repo.TakenBack, New: sf.commit})
	}
	moves = append(moves, refs.Move{Name: sf.ref, Old: sf.commit})
	return s.repo.WithIssueLock(ctx, checkpoint.Issue(sf.plan.Issue), func() error { return s.repo.MoveRefs(ctx, "undo", moves...) })
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
