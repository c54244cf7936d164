// Package snapshot stores the content of an index and its worktree as trees, and opens the
// snapshots that checkpoints contain.
//
//	take               the state of the worktree, by git on an index of this program
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
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/repository"
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
	t, err := s.take(ctx, req, k)
	if err != nil {
		return nil, err
	}
	for _, step := range []func() error{t.stage, func() error { return t.carry(issue) }, t.listChanges, func() error { return t.keep(issue) }} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return t.CapturedSnapshot, nil
}

// stage collects the staged changes. Staged files beyond the size limit are left out, the largest
// first.
func (t *taker) stage() error {
	refused, err := t.refused(t.ctx, t.k, t.changes)
	if err != nil {
		return err
	}
	if len(refused) > 0 {
		name := failure.QuoteStrict(refused[0].Path)
		return &repo.RefusedError{
			Reason: fmt.Sprintf("%s is staged, and git rejects it: %s: a server that checks received objects would reject every later checkpoint of this issue", name, refused[0].Reason),
			Hint:   "git restore --staged -- " + failure.PathArgs(t.repo.Info.Prefix, refused[0].Path),
		}
	}
	for _, size := range t.sizes {
		t.Size += size
	}
	if limit := t.req.MaxSize; limit > 0 && t.Size > limit {
		if err := t.leaveOut(limit); err != nil {
			return err
		}
	}
	t.Size += t.read
	f := &t.Facts
	f.IntentToAdd, f.Detached = t.user.Intent, t.Head.Branch == ""
	if !t.Head.Commit.IsZero() {
		f.Head = checkpoint.HashText(t.Head.Commit.String())
	}
	for _, commit := range t.repo.Info.MergeHeads() {
		f.MergeHead = append(f.MergeHead, checkpoint.HashText(commit))
	}
	return t.conflicts()
}

// leaveOut replaces the largest staged files by HEAD's version until the snapshot is within a limit
// in bytes, so that a restore does not change them.
func (t *taker) leaveOut(limit int64) (err error) {
	large := slices.SortedStableFunc(slices.Values(t.changes), func(x, y trees.Change) int {
		return cmp.Compare(t.sizes[y.Path], t.sizes[x.Path])
	})
	var back []trees.FileEntry
	out := map[string]bool{}
	for _, c := range large {
		size := t.sizes[c.Path]
		if t.Size <= limit || size == 0 {
			break
		}
		if t.required[c.Path] {
			return fmt.Errorf("artifact %q: %s", c.Path, checkpoint.OverSize)
		}
		t.Size -= size
		out[c.Path] = true
		t.Facts.Skipped = append(t.Facts.Skipped, checkpoint.Skipped{Path: c.Path, Size: size, Reason: checkpoint.OverSize})
		t.left = append(t.left, c.Path)
		back = append(back, trees.FileEntry{Path: c.Path, Mode: c.Old.Mode, Hash: c.Old.Hash})
	}
	if t.Staged, err = replace(t.k, t.k, t.Staged, back); err != nil {
		return fmt.Errorf("leave out staged files: %w", err)
	}
	t.changes = slices.DeleteFunc(slices.Clone(t.changes), func(c trees.Change) bool { return out[c.Path] })
	return nil
}

// conflicts adds one tree for each stage of unmerged paths.
func (t *taker) conflicts() (err error) {
	var files []trees.FileEntry
	for _, e := range t.user.Conflicts {
		hash := plumbing.NewHash(e.Hash)
		files = append(files, trees.FileEntry{Path: fmt.Sprintf("%d/%s", e.Stage, e.Path), Mode: e.Mode, Hash: hash})
		if e.Mode != trees.ModeGitlink {
			t.k.Keep(hash)
		}
	}
	t.Unmerged, err = trees.Replace(t.k, t.k, plumbing.ZeroHash, files)
	return err
}

// carry sets the state: the captured paths, with the versions of the other paths (see carry).
func (t *taker) carry(issue checkpoint.Issue) error {
	f := &t.Facts
	refused, err := t.refused(t.ctx, t.k, t.unstaged)
	if err != nil {
		return err
	}
	for _, r := range refused {
		f.Skipped, t.left = append(f.Skipped, checkpoint.Skipped{Path: r.Path, Reason: "servers that check objects reject it: " + r.Reason}), append(t.left, r.Path)
	}
	c := Carrying{Captured: t.tree, Head: t.HeadTree, Index: t.Staged, Paths: t.left}
	f.Scope = checkpoint.ScopeWhole
	switch {
	case t.req.Staged:
		f.Scope = checkpoint.ScopeStaged
	case t.unlisted:
		f.Scope = checkpoint.ScopeCut
		f.Skipped = append(f.Skipped, checkpoint.Skipped{Path: ".", Reason: checkpoint.OutOfTime})
	case t.cut && len(t.left) > MaxListed: // the record does not name all files
		f.Scope = checkpoint.ScopeCut
	}
	if t.unlisted {
		c.Other = func(path string) bool { return !t.named[path] }
	}
	t.State, t.Agreed = c.Captured, c.Captured
	if len(c.Paths) == 0 && c.Other == nil {
		return nil
	}
	here := t.agreed(t.ctx, issue, &c)
	var from map[string]checkpoint.ID
	if t.State, from, err = carry(t.k, t.k, c); err == nil {
		t.Agreed, err = t.stillAgreed(here, &c, from)
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
		if _, found := s.FindIn(ctx, issue, id, chain.RetentionDepth); found != nil {
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

// FindIn returns a checkpoint with its chain or archive, or nil. It reads the newest checkpoints up to
// depth, and all if depth is 0.
func (s *Capturer) FindIn(ctx context.Context, issue checkpoint.Issue, id checkpoint.ID, depth int) (*chain.Chain, *chain.Checkpoint) {
	for _, ref := range []string{repo.LiveRef(issue), repo.ArchiveRef(issue)} {
		if c, err := s.chain.ReadChain(ctx, issue, ref, depth); err == nil && c.Find(id) != nil {
			return c, c.Find(id)
		}
	}
	return nil, nil
}

// stillAgreed sets Open to the paths that this save did not capture: the worktree agrees on them with
// the former checkpoints. It returns the state with the versions of these.
func (t *taker) stillAgreed(here *chain.Here, c *Carrying, from map[string]checkpoint.ID) (plumbing.Hash, error) {
	state, staged := t.State, map[string]bool{}
	if t.Facts.Scope == checkpoint.ScopeStaged {
		for _, s := range t.changes {
			staged[s.Path] = true
		}
	}
	isLeft := c.uncaptured()
	lacks := func(path string) bool { return isLeft(path) && (!staged[path] || from[path] != "") }
	if c.ID == "" && len(here.Open) == 0 { // also if the checkpoint was dropped
		return state, nil
	}
	t.Open = from
	changes, err := trees.Diff(t.k, state, here.Tree)
	if err != nil {
		return state, err
	}
	var former []trees.FileEntry
	for _, c := range changes {
		if lacks(c.Path) {
			t.Open[c.Path] = here.OriginOf(c.Path)
			former = append(former, trees.FileEntry{Path: c.Path, Mode: c.New.Mode, Hash: c.New.Hash})
		}
	}
	for path, id := range here.Open {
		if lacks(path) {
			t.Open[path] = id
		}
	}
	if len(former) == 0 {
		return state, nil
	}
	return replace(t.k, t.k, state, former)
}

// listChanges lists the changed files: staged changes, unmerged paths, then changes of the worktree.
// It also notes the facts that index and worktree do not have.
func (t *taker) listChanges() error {
	renamed := renames(t.changes)
	kept := []string{}
	for _, c := range t.changes {
		if !c.New.Hash.IsZero() || !renamed[c.Path] {
			t.addFile(c.Path, status(c, renamed[c.Path]), true)
		}
		if c.New.Hash.IsZero() {
			kept = append(kept, c.Path)
		}
	}
	unmerged := map[string]bool{}
	for _, e := range t.user.Conflicts {
		if !unmerged[e.Path] {
			t.addFile(e.Path, "conflicted", false)
		}
		unmerged[e.Path] = true
	}
	intended := chain.SetOf(t.user.Intent)
	unstaged, err := trees.Diff(t.k, t.Staged, t.State)
	if err != nil {
		return err
	}
	for _, c := range unstaged {
		switch {
		case c.New.Hash.IsZero():
			t.Facts.Deleted = append(t.Facts.Deleted, c.Path)
			t.addFile(c.Path, "deleted", false)
		case unmerged[c.Path], t.hidden[c.Path]:
		case c.Old.Hash.IsZero() && intended[c.Path]:
			t.addFile(c.Path, "added", false)
		case c.Old.Hash.IsZero():
			t.addFile(c.Path, "untracked", false)
		default:
			t.addFile(c.Path, status(c, false), false)
		}
	}
	t.noteModes(slices.Concat(t.changes, unstaged))
	return t.noteKept(kept)
}

// noteModes lists changed files whose permissions are tighter than the umask. The umask is known
// from the own index, a new file of git. With core.sharedRepository, git sets its permissions.
func (t *taker) noteModes(changes []trees.Change) {
	own, err := os.Stat(filepath.Join(t.repo.StateDir(), "index"))
	if _, shared := git.Last(t.repo.Config, "core.sharedrepository"); err != nil || shared || runtime.GOOS == "windows" {
		return
	}
	const others = 0o066 // read and write for group and others
	seen := map[string]bool{}
	for _, c := range changes {
		if len(t.Facts.Modes) == MaxListed {
			return
		}
		if seen[c.Path] || c.New.Mode != trees.ModeFile && c.New.Mode != trees.ModeExec {
			continue
		}
		seen[c.Path] = true
		info, err := os.Lstat(filepath.Join(t.repo.Info.Root, filepath.FromSlash(c.Path)))
		if err == nil && info.Mode().IsRegular() && own.Mode().Perm()&^info.Mode().Perm()&others != 0 {
			mode := checkpoint.FileMode{Path: c.Path, Mode: fmt.Sprintf("%04o", info.Mode().Perm())}
			t.Facts.Modes = append(t.Facts.Modes, mode)
		}
	}
}

// noteKept lists the paths that are removed from the index, ignored, and still in the worktree, so
// that a restore does not delete them.
func (t *taker) noteKept(gone []string) error {
	find, f := &trees.Finder{Reader: t.k}, &t.Facts
	for i, path := range gone {
		mode, _, err := find.Lookup(t.State, path)
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
func (t *taker) keep(issue checkpoint.Issue) error {
	before := Stored{}
	before.Staged, before.State = t.HeadTree, t.HeadTree
	if c, err := t.chain.ReadChain(t.ctx, issue, repo.LiveRef(issue), 1); err == nil && c.Newest() != nil {
		if st, err := t.TreesOf(c.Newest()); err == nil && !st.State.IsZero() {
			before = *st
		}
	}
	for _, side := range [][2]plumbing.Hash{{before.Staged, t.Staged}, {before.State, t.State}} {
		added, err := trees.Added(t.k, side[0], side[1])
		if err != nil {
			return err
		}
		for _, h := range added {
			if !t.k.Added(h) {
				t.k.Keep(h)
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

// A LocalCommit is a commit of a submodule that other clones cannot check out.
type LocalCommit struct {
	Path    string // of the submodule
	Commit  plumbing.Hash
	Missing bool // the submodule of this clone lacks the commit
}

// LocalCommits returns the commits of submodules that a checkpoint names and that no remote
// of the submodule has, by its remote-tracking branches. It looks only at submodules that
// differ from the checkpoint's HEAD and that are checked out here.
func (s *Capturer) LocalCommits(ctx context.Context, c *chain.Checkpoint) ([]LocalCommit, error) {
	st, err := s.TreesOf(c)
	if err != nil || s.repo.Info.Root == "" {
		return nil, err
	}
	changes, err := trees.Diff(s.repo.Objects, st.Base, st.Staged)
	var found []LocalCommit
	for _, c := range changes {
		if c.New.Mode != trees.ModeGitlink {
			continue
		}
		l := LocalCommit{Path: c.Path, Commit: c.New.Hash}
		dir := filepath.Join(s.repo.Info.Root, filepath.FromSlash(c.Path))
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
			continue // not checked out
		}
		g := git.Git{Dir: dir, Unset: repository.Variables(), Apart: s.repo.Git.Apart, Env: []string{"GIT_NO_LAZY_FETCH=1"}}
		// The question of git push --recurse-submodules=check.
		out, err := g.Output(ctx, "rev-list", "-n", "1", l.Commit.String(), "--not", "--remotes")
		if l.Missing = err != nil; l.Missing || len(out) > 0 {
			found = append(found, l)
		}
	}
	return found, err
}
