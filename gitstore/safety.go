package gitstore

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/go-git/go-git/v5/plumbing"
)

// safetyFor is how long a safety snapshot is kept.
const safetyFor = 14 * 24 * time.Hour

// A safety snapshot is what a restore is about to touch, and what it does to
// it, written before it begins: a commit below refs/git-checkpoint/undo/ whose
// tree is
//
//	plan        the paths, what they were and what they become, as JSON
//	blobs/      the files that are replaced, by hash
//
// It finishes or takes back a restore that was killed, and undoes one that was
// not.
type safety struct {
	ref    string
	commit plumbing.Hash
	at     time.Time
	plan   safetyPlan
}

type safetyPlan struct {
	Version    int           `json:"version"`
	Issue      string        `json:"issue"`
	Checkpoint checkpoint.ID `json:"checkpoint_id"`
	Steps      []safetyStep  `json:"steps"`
}

// safetyStep is one path. Names are quoted as git does where they are not
// UTF-8. A side is "<octal mode> <hash>", "" for no file.
type safetyStep struct {
	Path        string    `json:"path"`
	Index       bool      `json:"index,omitempty"`
	Work        bool      `json:"work,omitempty"`
	IndexBefore [4]string `json:"index_before"`
	IndexAfter  [4]string `json:"index_after"`
	WorkBefore  string    `json:"work_before,omitempty"`
	RawBefore   string    `json:"raw_before,omitempty"` // the file's very bytes
	WorkAfter   string    `json:"work_after,omitempty"`
	Sparse      bool      `json:"sparse,omitempty"`
	IntentOnly  bool      `json:"intent_to_add,omitempty"`
}

// writeSafety makes the snapshot durable before anything is touched.
func (s *Store) writeSafety(ctx context.Context, c *Checkpoint, steps []step, k *sink) (*safety, error) {
	sf := &safety{at: s.now()}
	sf.plan = safetyPlan{Version: 1, Issue: string(c.Issue), Checkpoint: c.ID}
	for _, st := range steps {
		sf.plan.Steps = append(sf.plan.Steps, st.encode())
	}
	data, err := json.Marshal(sf.plan)
	if err != nil {
		return nil, err
	}
	var blobs []treeEntry
	have := map[plumbing.Hash]bool{}
	for _, st := range steps {
		for _, hash := range st.needs() {
			if !hash.IsZero() && !have[hash] && k.Has(hash) {
				have[hash] = true
				blobs = append(blobs, treeEntry{modeFile, hash.String(), hash})
			}
		}
	}
	tree := []treeEntry{{modeFile, "plan", k.Add(plumbing.BlobObject, data)}}
	if len(blobs) > 0 {
		tree = append(tree, treeEntry{modeTree, "blobs", k.addTree(blobs)})
	}
	sf.commit = k.addCommit(s.newCommit(k.addTree(tree), sf.at, fmt.Sprintf("before the restore of %s\n", c.ID)))
	if err := k.flush(ctx); err != nil {
		return nil, fmt.Errorf("safety snapshot: %w", err)
	}
	sf.ref = fmt.Sprintf("%s%s/%s-%04x", undoRefs, c.Issue.RefName(), sf.at.UTC().Format("20060102T150405Z"), rand.IntN(1<<16))
	if err := s.moveRefs(ctx, "restore: "+string(c.ID), refMove{name: sf.ref, new: sf.commit}); err != nil {
		return nil, fmt.Errorf("safety snapshot: %w", err)
	}
	return sf, k.protect(ctx)
}

// needs are the blobs that taking a step back, or finishing it, takes.
func (st step) needs() []plumbing.Hash {
	hashes := []plumbing.Hash{st.before.raw, st.workAfter.hash}
	for _, stages := range []stages{st.before.index, st.indexAfter} {
		for _, e := range stages {
			if e.mode != modeGitlink {
				hashes = append(hashes, e.hash)
			}
		}
	}
	return hashes
}

func (st step) encode() safetyStep {
	e := safetyStep{
		Path: checkpoint.QuotePath(st.path), Index: st.index, Work: st.work, Sparse: st.before.sparse, IntentOnly: st.intentOnly,
		WorkBefore: st.before.work.String(), WorkAfter: st.workAfter.String(),
	}
	if !st.before.raw.IsZero() {
		e.RawBefore = st.before.raw.String()
	}
	for i := range st.indexAfter {
		e.IndexBefore[i], e.IndexAfter[i] = st.before.index[i].String(), st.indexAfter[i].String()
	}
	return e
}

func (e safetyStep) decode() (step, error) {
	st := step{index: e.Index, work: e.Work, intentOnly: e.IntentOnly}
	var err error
	if st.path, err = checkpoint.UnquotePath(e.Path); err != nil {
		return st, err
	}
	st.before.sparse = e.Sparse
	st.before.raw = plumbing.NewHash(e.RawBefore)
	for _, f := range []struct {
		to   *side
		text string
	}{{&st.before.work, e.WorkBefore}, {&st.workAfter, e.WorkAfter}} {
		if *f.to, err = parseSide(f.text); err != nil {
			return st, err
		}
	}
	for i := range st.indexAfter {
		if st.before.index[i], err = parseSide(e.IndexBefore[i]); err != nil {
			return st, err
		}
		if st.indexAfter[i], err = parseSide(e.IndexAfter[i]); err != nil {
			return st, err
		}
	}
	return st, checkPath(st.path, st.workAfter.mode)
}

func (f side) String() string {
	if f == (side{}) {
		return ""
	}
	return fmt.Sprintf("%o %s", f.mode, f.hash)
}

func parseSide(s string) (side, error) {
	if s == "" {
		return side{}, nil
	}
	mode, hex, _ := strings.Cut(s, " ")
	n, err := strconv.ParseUint(mode, 8, 32)
	if err != nil || !plumbing.IsHash(hex) {
		return side{}, fmt.Errorf("safety snapshot: %q is no file", s)
	}
	return side{uint32(n), plumbing.NewHash(hex)}, nil
}

// readSafety opens a safety snapshot.
func (s *Store) readSafety(ref string, commit plumbing.Hash) (*safety, error) {
	c, err := s.readCommit(commit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref, err)
	}
	entries, err := readTree(s.objects, c.tree)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref, err)
	}
	e, ok := entry(entries, "plan")
	if !ok {
		return nil, corrupt(ref, "a safety snapshot without a plan")
	}
	data, err := readAs(s.objects, plumbing.BlobObject, e.hash)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref, err)
	}
	sf := &safety{ref: ref, commit: commit, at: c.authored()}
	if err := json.Unmarshal(data, &sf.plan); err != nil {
		return nil, corrupt(ref, "plan: %w", err)
	}
	return sf, nil
}

// steps are the plan's steps.
func (sf *safety) steps() ([]step, error) {
	var steps []step
	for _, e := range sf.plan.Steps {
		st, err := e.decode()
		if err != nil {
			return nil, corrupt(sf.ref, "%w", err)
		}
		steps = append(steps, st)
	}
	return steps, nil
}

// undoRefs lists an issue's safety snapshots.
func (s *Store) undoRefs(ctx context.Context, issue checkpoint.Issue) (map[string]plumbing.Hash, error) {
	return s.refs(ctx, undoRefs+issue.RefName()+"/")
}

// lastSafety is the newest safety snapshot of an issue, nil when there is
// none. Older ones than safetyFor are removed on the way.
func (s *Store) lastSafety(ctx context.Context, issue checkpoint.Issue) (*safety, error) {
	refs, err := s.undoRefs(ctx, issue)
	if err != nil {
		return nil, err
	}
	var newest *safety
	for ref, commit := range refs {
		sf, err := s.readSafety(ref, commit)
		if err != nil {
			return nil, err
		}
		if newest == nil || sf.ref > newest.ref {
			newest = sf
		}
	}
	return newest, nil
}

// expireSafety removes safety snapshots that are too old.
func (s *Store) expireSafety(ctx context.Context, issue checkpoint.Issue) error {
	refs, err := s.undoRefs(ctx, issue)
	if err != nil {
		return err
	}
	limit := s.now().Add(-safetyFor).UTC().Format("20060102T150405Z")
	var moves []refMove
	for ref, commit := range refs {
		if name := ref[strings.LastIndexByte(ref, '/')+1:]; name < limit {
			moves = append(moves, refMove{name: ref, old: commit})
		}
	}
	if len(moves) == 0 {
		return nil
	}
	return s.moveRefs(ctx, "expire", moves...)
}
