// Package snapshot stores the content of an index and its worktree as trees, and opens the
// snapshots that checkpoints contain.
//
//	ReadArea           the index: tree, changes, conflicts
//	Capturer.begin     starts the snapshot: staged/ and conflicts/, and objects to keep
//	Source.take        adds requested files: worktree/, untracked/ and artifacts/
//	Capturer.Snapshot  all of them, for a save
//
// All objects are written to the sink, except files with filters, which git stores. A
// Checker checks the files that a record refers to: outputs of agents and phases, and
// plans. Git often ignores these files, so checkpoints store them as artifacts. Paths are
// relative to the worktree root. Files outside the worktree are never read and count as
// missing.
package snapshot

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/convert"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/trace"

	"github.com/go-git/go-git/v5/plumbing"
)

// Capturer captures and opens the files of checkpoints.
type Capturer struct {
	repo            *repo.Repo
	chain           *chain.Chains
	prefetchedIndex <-chan *StagedState
}

// New returns the Capturer of a repository. prefetched is the result of PrefetchIndex, or
// nil.
func New(r *repo.Repo, c *chain.Chains, prefetched <-chan *StagedState) *Capturer {
	return &Capturer{repo: r, chain: c, prefetchedIndex: prefetched}
}

// A CapturedSnapshot contains captured repository content and its HEAD.
type CapturedSnapshot struct {
	Head repo.Head
	*Snapshot
}

// Snapshot captures the index for a save of an issue, and the other files of the request.
func (s *Capturer) Snapshot(ctx context.Context, issue checkpoint.Issue, req Request, k *repo.ObjectWriter) (*CapturedSnapshot, error) {
	defer trace.Begin(trace.Step, "snapshot").End()
	for tries := 1; ; tries++ {
		snap, stamp, err := s.snapshotOnce(ctx, issue, req, k)
		if err != nil || tries == maxTries || stamp.equal(stampOf(s.repo.Info.Index)) {
			return snap, err
		}
	}
}

// maxTries limits the repetitions of a snapshot. A file that the user stages after the
// index was read, and before git compares it with the worktree, is in neither list. So a
// snapshot is repeated if the index has changed meanwhile.
const maxTries = 3

// snapshotOnce captures the index and the other files once. stamp identifies the index
// that was read.
func (s *Capturer) snapshotOnce(ctx context.Context, issue checkpoint.Issue, req Request, k *repo.ObjectWriter) (snap *CapturedSnapshot, stamp indexStamp, err error) {
	// Repositories of settings files whose worktree is a home directory hide untracked files.
	if value, ok := git.Last(s.repo.Config, "status.showuntrackedfiles"); ok && slices.Contains([]string{"no", "false", "off", "0"}, strings.ToLower(value)) && req.Automatic {
		req.Untracked = false
	}
	cache, done := s.openStatCache(req)
	defer done()
	site := &Source{
		Git: s.repo.Git, Config: s.repo.Config, CommonDir: s.repo.Info.CommonDir, Root: s.repo.Info.Root, Index: s.repo.Info.Index, Boundary: s.repo.Boundary(ctx),
		Partial: repository.Partial(s.repo.Config), cache: cache,
	}
	req.hadUntracked = s.hadUntracked(ctx, issue)
	list := site.list(ctx, req)
	defer list.cancel(nil)
	req.kept = s.keptOutputs(ctx, issue)
	var a *StagedState
	if s.prefetchedIndex != nil {
		a, s.prefetchedIndex = <-s.prefetchedIndex, nil
	}
	if a == nil {
		if a, err = s.readStagedState(ctx); err != nil {
			return nil, stamp, err
		}
	}
	snap, err = s.begin(ctx, issue, req, a, k)
	if err != nil {
		return nil, stamp, err
	}
	err = site.take(snap.Snapshot, req, list, k)
	cache.save(err == nil && req.Worktree && req.Untracked && !list.late())
	return snap, a.stamp, err
}

// begin starts a snapshot with the staged files.
func (s *Capturer) begin(ctx context.Context, issue checkpoint.Issue, req Request, a *StagedState, k *repo.ObjectWriter) (*CapturedSnapshot, error) {
	if err := s.checkReceived(ctx, a.Changes); err != nil {
		return nil, err
	}
	left, err := a.LeaveOut(req.MaxSize, s.repo.Objects)
	if err != nil {
		return nil, err
	}
	if err := a.keep(k, s.stagedBefore(ctx, issue, a.head.Commit)); err != nil {
		return nil, err
	}
	snap := &Snapshot{Area: a.Area, Entries: []trees.Entry{{Mode: trees.ModeTree, Name: "staged", Hash: a.Staged}}}
	snap.Facts.IntentToAdd = a.IntentToAdd
	snap.addConflicts(k)
	snap.listFiles()
	if !a.head.Commit.IsZero() {
		snap.Facts.Head = a.head.Commit.String()
	}
	snap.Facts.Skipped = left
	if err := snap.noteKept(s.repo.Info.Root); err != nil {
		return nil, err
	}
	snap.Facts.Detached = a.head.Branch == ""
	snap.Facts.MergeHead = s.repo.Info.MergeHeads()
	return &CapturedSnapshot{a.head, snap}, nil
}

// stagedBefore returns the staged tree of the newest commit in an issue's chain, or zero
// if that commit was saved on another HEAD.
func (s *Capturer) stagedBefore(ctx context.Context, issue checkpoint.Issue, head plumbing.Hash) plumbing.Hash {
	tip, err := s.repo.ReadRef(ctx, repo.LiveRef(issue))
	if err != nil || tip.IsZero() {
		return plumbing.ZeroHash
	}
	commit, err := s.repo.ReadCommit(tip)
	if err != nil || len(commit.Parents) != 2 {
		return plumbing.ZeroHash
	}
	index, err := s.repo.ReadCommit(commit.Parents[1])
	if err != nil {
		return plumbing.ZeroHash
	}
	var on plumbing.Hash
	if len(index.Parents) > 0 {
		on = index.Parents[0]
	}
	if on != head {
		return plumbing.ZeroHash
	}
	return index.Tree
}

// A Foreign is a part of a worktree that belongs to a repository.
type Foreign = repository.Foreign

// A Source is the worktree to capture, with data about its repository.
type Source struct {
	Git       git.Git           // runs in the repository
	Config    []git.ConfigEntry // git configuration
	CommonDir string            // common git directory
	Root      string            // top-level directory
	Index     string            // path of the index

	Boundary *repository.Boundary // files of repositories are left out; nil means none
	Partial  bool                 // a partial clone, which may lack blobs

	cache *statCache
}

// A Request selects captured files besides the index.
type Request struct {
	Worktree  bool     // unstaged changes of tracked files
	Untracked bool     // untracked files, except ignored files
	Automatic bool     // no untracked files if status.showUntrackedFiles is no
	Artifacts []string // required files relative to the root, including ignored files
	MaxSize   int64    // limit for new blobs of the snapshot in bytes, 0 means unlimited
	MaxFile   int64    // limit for one untracked file in bytes, 0 for DefaultMaxFile

	Budget time.Duration // time limit for files not named in Artifacts or kept, 0 means unlimited
	DryRun bool          // git may not store objects either
	Reread bool          // read all files, because the store lacks a blob of the stat cache

	Idle bool // a save without a change is skipped, so git need not look for ignored files

	MaxUntracked int // limit for new untracked files of one directory, 0 for DefaultMaxUntracked

	Others *Others // list of the untracked files that other snapshots share, or nil

	hadUntracked func(dir string) bool // whether an earlier checkpoint has untracked files there; may be nil
	kept         []string              // optional files of the previous checkpoint, skipped if unreadable
}

// DefaultMaxFile limits one untracked file, in bytes. Artifacts and tracked files have no
// individual limit.
const DefaultMaxFile = 1 << 20

// A capture adds worktree files to a snapshot.
type capture struct {
	*Source
	*listing
	staged  *trees.Finder
	root    *os.Root // nil before openRoot
	hasher  *convert.Hasher
	known   knownBlobs
	k       Sink
	snap    *Snapshot
	room    int64 // remaining bytes below the size limit
	maxFile int64
	dry     bool           // git may not store objects either
	skipped map[string]int // number of each class, also if the record's list is truncated

	foreign map[string]bool // classes and paths of repositories that are listed as skipped
}

// take adds files outside the index to the snapshot and lists skipped files in
// snap.Facts. It returns an error if a required artifact cannot be stored. Staged files
// may exceed the size limit; callers check that.
func (s *Source) take(snap *Snapshot, req Request, list *listing, k Sink) error {
	c := capture{
		Source: s, listing: list, staged: &trees.Finder{Reader: k}, k: k, snap: snap,
		room: req.MaxSize - snap.Size, maxFile: req.MaxFile, dry: req.DryRun, skipped: map[string]int{},
	}
	defer func() {
		if c.root != nil {
			c.root.Close()
			c.known.dirs.close()
			c.hasher.Close()
		}
	}()
	if req.MaxSize <= 0 {
		c.room = noLimit
	}
	if c.maxFile <= 0 {
		c.maxFile = DefaultMaxFile
	}
	snap.Facts.Worktree, snap.Facts.Untracked = req.Worktree, req.Untracked
	if err := c.artifacts(req.Artifacts, req.kept); err != nil {
		return err
	}
	if req.Budget > 0 { // for files that the request does not name
		list.end = time.Now().Add(req.Budget)
		defer time.AfterFunc(req.Budget, func() { list.cancel(errBudget) }).Stop()
	}
	if req.Worktree {
		if err := c.worktree(); c.failed(checkpoint.InWorktree, err) {
			return fmt.Errorf("read worktree: %w", err)
		}
	}
	if req.Untracked {
		if err := c.untracked(); c.failed(checkpoint.InUntracked, err) {
			return fmt.Errorf("read untracked files: %w", err)
		}
	}
	for _, class := range []string{checkpoint.InIndex, checkpoint.InWorktree, checkpoint.InUntracked} {
		if more := c.skipped[class] - MaxListed; more > 0 {
			snap.Facts.Skipped = append(snap.Facts.Skipped, checkpoint.Skipped{Path: ".", Reason: fmt.Sprintf("%d more", more), Class: class})
		}
	}
	return nil
}

// failed reports whether an error is fatal. If the time limit passed, failed records the
// missing files and returns false, since a partial checkpoint is better than no
// checkpoint.
func (c *capture) failed(class string, err error) bool {
	if err != nil && c.late() {
		c.skip(class, ".", 0, checkpoint.OutOfTime)
		return false
	}
	return err != nil
}

func (c *capture) add(name string, files []trees.FileEntry) {
	if tree := trees.Build(c.k, files); !tree.IsZero() {
		c.snap.Entries = append(c.snap.Entries, trees.Entry{Mode: trees.ModeTree, Name: name, Hash: tree})
	}
}

// skip records a skipped path. Beyond MaxListed, paths are only counted, so that a record
// does not list a whole node_modules directory.
func (c *capture) skip(class, path string, size int64, reason string) {
	if c.skipped[class]++; c.skipped[class] <= MaxListed {
		c.snap.Facts.Skipped = append(c.snap.Facts.Skipped, checkpoint.Skipped{Path: path, Size: size, Reason: reason, Class: class})
	}
}

// skipForeign reports whether a path belongs to a repository, and records the repository as
// skipped, once for each class.
func (c *capture) skipForeign(class, path string) bool {
	f := c.Boundary.Find(path)
	if f.Reason == "" {
		return false
	}
	key := class + " " + f.Path
	if !c.foreign[key] {
		c.skip(class, f.Path, 0, f.Reason)
		if c.foreign == nil {
			c.foreign = map[string]bool{}
		}
		c.foreign[key] = true
	}
	return true
}

// A Snapshot is the captured state of a repository, as objects in a sink.
type Snapshot struct {
	*Area
	Entries []trees.Entry // staged/ and other entries beside checkpoint.yaml
	Facts   checkpoint.Snapshot
	Files   []checkpoint.File
	Count   int // total number of files, also if Files is truncated
}

// A Sink stores a snapshot's objects, and reads stored and added objects.
type Sink interface {
	trees.Reader
	trees.Adder
	Has(plumbing.Hash) bool // reports whether an object was added or is stored
	Keep(plumbing.Hash)     // makes an object written by others durable
}

// keep marks objects written by git as durable: blobs and trees missing from HEAD, or
// from the previous checkpoint. before is the staged tree of the chain's tip, or zero if the
// tip was saved at another HEAD. Objects of the tip are durable already.
func (a *Area) keep(k Sink, before plumbing.Hash) error {
	if a.Staged == a.HeadTree || a.Staged == before {
		return nil
	}
	for _, hash := range a.made {
		k.Add(plumbing.TreeObject, a.drafts[hash])
	}
	changes := a.Changes
	if !before.IsZero() && len(changes)+len(a.others) > fewKept {
		var err error
		if changes, err = trees.DiffBetween(k, &reader{a, k, k.Keep}, before, a.Staged); err != nil {
			return err
		}
	} else {
		for _, hash := range a.others {
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

// noteKept lists the paths that are removed from the index and still lie in the worktree, as
// after `git rm --cached`, so that a restore does not delete them.
func (snap *Snapshot) noteKept(dir string) error {
	gone := slices.DeleteFunc(slices.Clone(snap.Changes), func(c trees.Change) bool { return !c.New.Hash.IsZero() })
	if len(gone) == 0 || dir == "" {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for i, c := range gone {
		if liesThere(root, c.Path) {
			if len(snap.Facts.Kept) == MaxListed {
				snap.Facts.Skipped = append(snap.Facts.Skipped, checkpoint.Skipped{
					Path: ".", Reason: fmt.Sprintf("up to %d more are removed from the index and still lie there", len(gone)-i), Class: checkpoint.InIndex,
				})
				break
			}
			snap.Facts.Kept = append(snap.Facts.Kept, c.Path)
		}
	}
	return nil
}

// liesThere reports whether a file is in the worktree, or may be: it cannot be read. Git does
// not follow symlinks, so a path below one does not exist.
func liesThere(root *os.Root, name string) bool {
	for i := range name {
		if name[i] != '/' {
			continue
		}
		if info, err := root.Lstat(filepath.FromSlash(name[:i])); err == nil && !info.IsDir() || isGone(err) {
			return false
		}
	}
	info, err := root.Lstat(filepath.FromSlash(name))
	return err == nil && !info.IsDir() || err != nil && !isGone(err)
}

// fewKept is the number of objects up to which marking them again is cheaper than a
// comparison with the tip.
const fewKept = 32

// addConflicts adds one tree for each stage of unmerged paths.
func (snap *Snapshot) addConflicts(k Sink) {
	if len(snap.Conflicts) == 0 {
		return
	}
	var stages [4][]trees.FileEntry
	for _, e := range snap.Conflicts {
		stages[e.Stage] = append(stages[e.Stage], trees.FileEntry{Path: e.Path, Mode: uint32(e.Mode), Hash: e.Hash})
		k.Keep(e.Hash)
	}
	var entries []trees.Entry
	for stage := 1; stage <= 3; stage++ {
		if tree := trees.Build(k, stages[stage]); !tree.IsZero() {
			entries = append(entries, trees.Entry{Mode: trees.ModeTree, Name: fmt.Sprint(stage), Hash: tree})
		}
	}
	tree := k.Add(plumbing.TreeObject, trees.Encode(entries))
	snap.Entries = append(snap.Entries, trees.Entry{Mode: trees.ModeTree, Name: "conflicts", Hash: tree})
}

// MaxListed limits the paths in files_modified and in the list of skipped files. Trees
// contain all files.
const MaxListed = 1000

// listFiles adds staged changes to the record's file list. A deleted file and an added
// file with the same blob form a rename.
func (snap *Snapshot) listFiles() {
	renamed := renames(snap.Changes)
	for _, c := range snap.Changes {
		if !c.New.Hash.IsZero() || !renamed[c.Path] {
			snap.addFile(c.Path, status(c, renamed[c.Path]), true)
		}
	}
	for i, e := range snap.Conflicts {
		if i == 0 || snap.Conflicts[i-1].Path != e.Path {
			snap.addFile(e.Path, "conflicted", false)
		}
	}
}

// renames returns old and new paths of renames. Each path belongs to at most one rename.
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

func (snap *Snapshot) addFile(path, status string, staged bool) {
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
