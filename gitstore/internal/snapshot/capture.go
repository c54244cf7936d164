// Package snapshot stores the content of an index and its worktree as trees, and opens the
// snapshots that checkpoints contain.
//
//	Capturer.Take      the state of the worktree, by git on an index of this program
//	carry              versions of the paths that a save did not capture
//	Capturer.Snapshot  both, with the facts for the record
//
// It also checks the files that a record refers to: outputs of agents and phases, and plans. Git often ignores these files, so saves name them as artifacts. Paths are
// relative to the worktree root. Files outside the worktree are never read and count as
// missing.
package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/trace"

	"github.com/go-git/go-git/v5/plumbing"
)

// Capturer captures and opens the files of checkpoints.
type Capturer struct {
	repo  *repo.Repo
	chain *chain.Chains
}

// New returns the Capturer of a repository.
func New(r *repo.Repo, c *chain.Chains) *Capturer { return &Capturer{repo: r, chain: c} }

// A Request selects the files of a snapshot.
type Request struct {
	Staged    bool     // capture staged changes only, and carry the rest
	Automatic bool     // no untracked files if status.showUntrackedFiles is no
	Artifacts []string // required files relative to the root, including ignored files
	MaxSize   int64    // limit for new blobs of the snapshot in bytes, 0 means unlimited
	MaxFile   int64    // limit for one untracked file in bytes, 0 for DefaultMaxFile

	Budget time.Duration // time limit for files not named in Artifacts or kept, 0 means unlimited
	DryRun bool          // git may not store objects either
	Reread bool          // begin a new index, because the store lacks a blob that the own index knows
	Idle   bool          // a save without a change is skipped, so git need not look for ignored files

	MaxUntracked int // limit for new untracked files of one directory, 0 for DefaultMaxUntracked

	hadUntracked func(dir string) bool // whether the checkpoint before has untracked files there; may be nil
	kept         []string              // optional files of the previous checkpoint, skipped if unreadable
}

// DefaultMaxFile limits one untracked file, in bytes. Artifacts and tracked files have no
// individual limit.
const DefaultMaxFile = 1 << 20

// MaxListed limits the paths in files_modified and in the list of skipped files. Trees
// contain all files.
const MaxListed = 1000

// A CapturedSnapshot holds index and worktree of a checkpoint, as objects in a writer.
type CapturedSnapshot struct {
	Head     repo.Head
	HeadTree plumbing.Hash            // zero on an unborn branch
	Staged   plumbing.Hash            // tree of the index, with HEAD's version of unmerged paths
	State    plumbing.Hash            // tree of the files of the work
	Unmerged plumbing.Hash            // the tree conflicts/, zero without unmerged paths
	Agreed   plumbing.Hash            // State, with the former versions of the paths of Open
	Open     map[string]checkpoint.ID // paths that were not captured, with the checkpoints that have their versions (chain.Here)
	Facts    checkpoint.Snapshot
	Files    []checkpoint.File
	Count    int   // total number of files, also if Files is truncated
	Size     int64 // bytes of staged files that differ from HEAD, and of files that were read
}

// Entries returns the entries of a checkpoint's tree beside the record and the ledger.
func (snap *CapturedSnapshot) Entries() []trees.Entry {
	entries := []trees.Entry{
		{Mode: trees.ModeTree, Name: "staged", Hash: snap.Staged},
		{Mode: trees.ModeTree, Name: "state", Hash: snap.State},
	}
	if !snap.Unmerged.IsZero() {
		entries = append(entries, trees.Entry{Mode: trees.ModeTree, Name: "conflicts", Hash: snap.Unmerged})
	}
	return entries
}

// Snapshot takes the state for a save of an issue, carries the paths that it did not capture, and collects
// the facts for the record. It fails with *repo.RefusedError if a staged file would make servers
// reject the checkpoint.
func (s *Capturer) Snapshot(ctx context.Context, issue checkpoint.Issue, req Request, k *repo.ObjectWriter) (*CapturedSnapshot, error) {
	defer trace.Begin(trace.Step, "snapshot").End()
	req.hadUntracked, req.kept = s.untrackedBefore(ctx, issue)
	st, err := s.Take(ctx, req, k)
	if err != nil {
		return nil, err
	}
	a := &assembly{Capturer: s, State: st, ctx: ctx, k: k, snap: &CapturedSnapshot{Head: st.Head, HeadTree: st.HeadTree, Staged: st.Staged}}
	for _, step := range []func() error{func() error { return a.stage(req) }, func() error { return a.carry(issue, req) }, a.list, func() error { return a.keep(issue) }} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return a.snap, nil
}

// An assembly makes a snapshot of a state.
type assembly struct {
	*Capturer
	*State
	ctx  context.Context
	k    *repo.ObjectWriter
	snap *CapturedSnapshot
}

// stage collects the staged changes. Staged files beyond the size limit are left out, the largest
// first.
func (a *assembly) stage(req Request) error {
	st, f := a.State, &a.snap.Facts
	refused, err := a.refused(a.ctx, a.k, st.Changes)
	if err != nil {
		return err
	}
	if len(refused) > 0 {
		name := failure.QuoteStrict(refused[0].Path)
		return &repo.RefusedError{
			Reason: fmt.Sprintf("%s is staged, and git rejects it: %s: a server that checks received objects would reject every later checkpoint of this issue", name, refused[0].Reason),
			Paths:  []string{refused[0].Path},
			Hint:   "git restore --staged -- " + name,
		}
	}
	f.Skipped = st.Skipped
	for _, size := range st.Sizes {
		a.snap.Size += size
	}
	if req.MaxSize > 0 && a.snap.Size > req.MaxSize {
		if err := a.leaveOut(req.MaxSize, st.Sizes); err != nil {
			return err
		}
	}
	a.snap.Size += st.Read
	f.Flagged = st.Flagged
	f.IntentToAdd, f.Ignores, f.Detached = st.User.Intent, st.Ignores, st.Head.Branch == ""
	if !st.Head.Commit.IsZero() {
		f.Head = checkpoint.HashText(st.Head.Commit.String())
	}
	for _, commit := range a.repo.Info.MergeHeads() {
		f.MergeHead = append(f.MergeHead, checkpoint.HashText(commit))
	}
	return a.conflicts()
}

// leaveOut replaces the largest staged files by HEAD's version until the snapshot is within a limit
// in bytes, so that a restore does not change them.
func (a *assembly) leaveOut(limit int64, sizes map[string]int64) (err error) {
	large := slices.SortedFunc(maps.Keys(sizes), func(x, y string) int {
		return cmp.Or(cmp.Compare(sizes[y], sizes[x]), strings.Compare(x, y))
	})
	var back []trees.FileEntry
	out := map[string]bool{}
	for _, path := range large {
		if a.snap.Size <= limit {
			break
		}
		if a.Required[path] {
			return fmt.Errorf("artifact %q: %s", path, checkpoint.OverSize)
		}
		a.snap.Size -= sizes[path]
		out[path] = true
		a.snap.Facts.Skipped = append(a.snap.Facts.Skipped, checkpoint.Skipped{Path: path, Size: sizes[path], Reason: checkpoint.OverSize})
		a.Left = append(a.Left, path)
	}
	for _, c := range a.Changes {
		if out[c.Path] {
			back = append(back, trees.FileEntry{Path: c.Path, Mode: c.Old.Mode, Hash: c.Old.Hash})
		}
	}
	if a.snap.Staged, err = replace(a.k, a.k, a.snap.Staged, back); err != nil {
		return fmt.Errorf("leave out staged files: %w", err)
	}
	a.Changes = slices.DeleteFunc(slices.Clone(a.Changes), func(c trees.Change) bool { return out[c.Path] })
	return nil
}

// conflicts adds one tree for each stage of unmerged paths.
func (a *assembly) conflicts() (err error) {
	var files []trees.FileEntry
	for _, e := range a.User.Conflicts {
		hash := plumbing.NewHash(e.Hash)
		files = append(files, trees.FileEntry{Path: fmt.Sprintf("%d/%s", e.Stage, e.Path), Mode: e.Mode, Hash: hash})
		if e.Mode != trees.ModeGitlink {
			a.k.Keep(hash)
		}
	}
	a.snap.Unmerged, err = trees.Replace(a.k, a.k, plumbing.ZeroHash, files)
	return err
}

// carry sets the state: the captured paths, with the versions of the other paths (see carry).
func (a *assembly) carry(issue checkpoint.Issue, req Request) error {
	st, f := a.State, &a.snap.Facts
	refused, err := a.refused(a.ctx, a.k, st.Unstaged)
	if err != nil {
		return err
	}
	for _, r := range refused {
		f.Skipped, a.Left = append(f.Skipped, checkpoint.Skipped{Path: r.Path, Reason: "servers that check objects reject it: " + r.Reason}), append(a.Left, r.Path)
	}
	c := Carrying{Captured: st.Tree, Head: st.HeadTree, Index: a.snap.Staged, Paths: a.Left}
	f.Scope = checkpoint.ScopeWhole
	switch {
	case req.Staged:
		f.Scope = checkpoint.ScopeStaged
		c.Other = func(path string) bool { return !st.Named[path] }
	case st.Unlisted:
		f.Scope = checkpoint.ScopeCut
		f.Skipped = append(f.Skipped, checkpoint.Skipped{Path: ".", Reason: checkpoint.OutOfTime})
		c.Other = func(path string) bool { return !st.Named[path] }
	case st.Cut && len(st.Left) > MaxListed: // the record does not name all files
		f.Scope = checkpoint.ScopeCut
	}
	a.snap.State, a.snap.Agreed = c.Captured, c.Captured
	if len(c.Paths) == 0 && c.Other == nil {
		return nil
	}
	here := a.agreed(a.ctx, issue, &c)
	var from map[string]checkpoint.ID
	if a.snap.State, from, err = carry(a.k, a.k, c); err == nil {
		a.snap.Agreed, err = a.stillAgreed(here, &c, from)
	}
	if err != nil {
		return fmt.Errorf("carry the files that were not captured: %w", err)
	}
	carried := slices.Sorted(maps.Keys(from))
	for i := range f.Skipped {
		s := &f.Skipped[i]
		next, _ := slices.BinarySearch(carried, s.Path)
		switch {
		case next < len(carried) && checkpoint.IsWithin(carried[next], s.Path):
			s.CarriedFrom = from[carried[next]]
		case s.Path == "." && len(carried) > 0:
			s.CarriedFrom = from[carried[0]]
		case s.Path == "." && s.Reason == checkpoint.OutOfTime:
			s.CarriedFrom = c.ID
		}
	}
	return nil
}

// agreed sets the agreements of this worktree with checkpoints that still exist, and returns the ref's
// content.
func (s *Capturer) agreed(ctx context.Context, issue checkpoint.Issue, c *Carrying) *chain.Here {
	here := s.chain.Here(ctx, issue)
	known := map[checkpoint.ID]Agreement{"": {}}
	find := func(id checkpoint.ID) Agreement {
		a, asked := known[id]
		if asked {
			return a
		}
		if found := s.findIn(ctx, issue, id); found != nil {
			if st, err := s.TreesOf(found); err == nil {
				a = Agreement{ID: id, Base: st.Base, Here: here.Tree, Staged: st.Staged}
			}
		}
		known[id] = a
		return a
	}
	c.Agreement, c.Open = find(here.ID), map[string]Agreement{}
	for path, id := range here.Open {
		if open := find(id); open.ID != "" { // otherwise it was dropped, and later ones have its files
			c.Open[path] = open
		}
	}
	return here
}

// lookedBack limits the checkpoints in which findIn looks.
const lookedBack = 100

// findIn returns a checkpoint of the chain or the archive, or nil.
func (s *Capturer) findIn(ctx context.Context, issue checkpoint.Issue, id checkpoint.ID) *chain.Checkpoint {
	for _, ref := range []string{repo.LiveRef(issue), repo.ArchiveRef(issue)} {
		tip, err := s.repo.ReadRef(ctx, ref)
		if err != nil || tip.IsZero() {
			continue
		}
		c, err := s.chain.Walk(issue, ref, tip, lookedBack)
		if err != nil {
			continue
		}
		if found := c.Find(id); found != nil {
			return found
		}
	}
	return nil
}

// stillAgreed sets Open to the paths that this save did not capture: the worktree agrees on them with
// the former checkpoints. It returns the state with the versions of these.
func (a *assembly) stillAgreed(here *chain.Here, c *Carrying, from map[string]checkpoint.ID) (plumbing.Hash, error) {
	state, staged := a.snap.State, map[string]bool{}
	if a.snap.Facts.Scope == checkpoint.ScopeStaged {
		for _, s := range a.Changes {
			staged[s.Path] = true
		}
	}
	isLeft := c.uncaptured()
	lacks := func(path string) bool { return isLeft(path) && (!staged[path] || from[path] != "") }
	if c.ID == "" && len(here.Open) == 0 { // also if the checkpoint was dropped
		return state, nil
	}
	a.snap.Open = from
	changes, err := trees.Diff(a.k, state, here.Tree)
	if err != nil {
		return state, err
	}
	var former []trees.FileEntry
	for _, c := range changes {
		if lacks(c.Path) {
			a.snap.Open[c.Path] = here.OriginOf(c.Path)
			former = append(former, trees.FileEntry{Path: c.Path, Mode: c.New.Mode, Hash: c.New.Hash})
		}
	}
	for path, id := range here.Open {
		if lacks(path) {
			a.snap.Open[path] = id
		}
	}
	if len(former) == 0 {
		return state, nil
	}
	return replace(a.k, a.k, state, former)
}

// list lists the changed files: staged changes, unmerged paths, then changes of the worktree, and
// what index and worktree do not say by themselves.
func (a *assembly) list() error {
	st, snap := a.State, a.snap
	renamed := renames(a.Changes)
	kept := []string{}
	for _, c := range a.Changes {
		if !c.New.Hash.IsZero() || !renamed[c.Path] {
			snap.addFile(c.Path, status(c, renamed[c.Path]), true)
		}
		if c.New.Hash.IsZero() {
			kept = append(kept, c.Path)
		}
	}
	unmerged := map[string]bool{}
	for _, e := range st.User.Conflicts {
		if !unmerged[e.Path] {
			snap.addFile(e.Path, "conflicted", false)
		}
		unmerged[e.Path] = true
	}
	intended := setOf(st.User.Intent)
	unstaged, err := trees.Diff(a.k, snap.Staged, snap.State)
	if err != nil {
		return err
	}
	for _, c := range unstaged {
		switch {
		case c.New.Hash.IsZero():
			snap.Facts.Deleted = append(snap.Facts.Deleted, c.Path)
			snap.addFile(c.Path, "deleted", false)
		case unmerged[c.Path], st.Hidden[c.Path]:
		case c.Old.Hash.IsZero() && intended[c.Path]:
			snap.addFile(c.Path, "added", false)
		case c.Old.Hash.IsZero():
			snap.addFile(c.Path, "untracked", false)
		default:
			snap.addFile(c.Path, status(c, false), false)
		}
	}
	a.noteModes(slices.Concat(a.Changes, unstaged))
	return a.noteKept(kept)
}

// noteModes lists changed files whose permissions are tighter than the umask. The umask is known
// from the own index, a new file of git. With core.sharedRepository, git sets its permissions.
func (a *assembly) noteModes(changes []trees.Change) {
	own, err := os.Stat(filepath.Join(a.repo.StateDir(), "index"))
	if _, shared := git.Last(a.repo.Config, "core.sharedrepository"); err != nil || shared || runtime.GOOS == "windows" {
		return
	}
	const others = 0o066 // read and write for group and others
	seen := map[string]bool{}
	for _, c := range changes {
		if len(a.snap.Facts.Modes) == MaxListed {
			return
		}
		if seen[c.Path] || c.New.Mode != trees.ModeFile && c.New.Mode != trees.ModeExec {
			continue
		}
		seen[c.Path] = true
		info, err := os.Lstat(filepath.Join(a.repo.Info.Root, filepath.FromSlash(c.Path)))
		if err == nil && info.Mode().IsRegular() && own.Mode().Perm()&^info.Mode().Perm()&others != 0 {
			mode := checkpoint.FileMode{Path: c.Path, Mode: fmt.Sprintf("%04o", info.Mode().Perm())}
			a.snap.Facts.Modes = append(a.snap.Facts.Modes, mode)
		}
	}
}

// noteKept lists the paths that are removed from the index, ignored, and still in the worktree, so
// that a restore does not delete them.
func (a *assembly) noteKept(gone []string) error {
	find, f := &trees.Finder{Reader: a.k}, &a.snap.Facts
	t := &taker{Capturer: a.Capturer, dirs: map[string]error{}}
	for i, path := range gone {
		mode, _, err := find.Lookup(a.snap.State, path)
		if err != nil {
			return err
		}
		if info, err := t.lstat(path); mode != 0 || err == nil && info.IsDir() || isGone(err) {
			continue
		}
		if len(f.Kept) == MaxListed {
			f.Skipped = append(f.Skipped, checkpoint.Skipped{
				Path: ".", Reason: fmt.Sprintf("up to %d more are removed from the index and still lie there", len(gone)-i),
			})
			break
		}
		f.Kept = append(f.Kept, path)
	}
	return nil
}

// keep registers the objects that git wrote: blobs and trees of the index and of the state, but for
// those of the chain's newest checkpoint, which are durable already.
func (a *assembly) keep(issue checkpoint.Issue) error {
	before := Stored{}
	before.Staged, before.State = a.HeadTree, a.HeadTree
	if c, err := a.chain.ReadChain(a.ctx, issue, repo.LiveRef(issue), 1); err == nil && c.Newest() != nil {
		if st, err := a.TreesOf(c.Newest()); err == nil && !st.State.IsZero() {
			before = *st
		}
	}
	for _, side := range [][2]plumbing.Hash{{before.Staged, a.snap.Staged}, {before.State, a.snap.State}} {
		added, err := trees.Added(a.k, side[0], side[1])
		if err != nil {
			return err
		}
		for _, h := range added {
			if !a.k.Added(h) {
				a.k.Keep(h)
			}
		}
	}
	return nil
}

// renames returns old and new paths of renames: a deleted file and an added file with the same
// blob. Each path belongs to at most one rename.
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

func (snap *CapturedSnapshot) addFile(path, status string, staged bool) {
	snap.Count++
	if len(snap.Files) < MaxListed {
		snap.Files = append(snap.Files, checkpoint.File{Path: path, Status: status, Staged: staged})
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
