package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/fsutil"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/retention"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxForeign limits how many commits without checkpoint or ledger a walk follows. Without
// this limit, a ref manually set to a branch would lead through the project's whole
// history.
const maxForeign = 64

// maxChain limits a chain's total commit size in bytes, because commits stay in memory.
const maxChain = 512 << 20

// A chainCommit is a commit of a chain.
type chainCommit struct {
	commit rawCommit
	ledger bool // contains only a ledger
	Checkpoint
}

// A chain contains an issue's commits that were read, newest first.
type chain struct {
	issue   checkpoint.Issue
	ref     string
	tip     plumbing.Hash
	commits []chainCommit
	rooted  bool // read down to genesis
	cut     bool // ends at a shallow boundary
	deleted bool // ref does not exist; tip is from own/
	ledger  *ledger.Ledger
	unread  error  // set if a partial clone lacks the tip's ledger, so ledger is older
	remote  string // the remote that has the chain, "" for a local chain
}

// readChain reads the chain at ref: the newest limit checkpoints, or all if limit is 0.
// The result includes ledger commits and foreign commits between checkpoints. If the ref
// does not exist, the chain is empty and rooted.
func (s *Store) readChain(ctx context.Context, issue checkpoint.Issue, ref string, limit int) (*chain, error) {
	tip, err := s.readRef(ctx, ref)
	if err != nil {
		return nil, s.brokenRef(ctx, issue, ref, err)
	}
	c, err := s.walk(issue, ref, tip, limit)
	if err != nil && !s.objects.Has(tip) {
		err = s.brokenRef(ctx, issue, ref, err)
	}
	return c, err
}

// brokenRef converts a CorruptError into a BrokenRefError with the known facts about the
// ref. It returns other errors unchanged.
func (s *Store) brokenRef(ctx context.Context, issue checkpoint.Issue, ref string, err error) error {
	if !errors.As(err, new(*CorruptError)) {
		return err
	}
	broken := &BrokenRefError{Ref: ref, Err: err}
	if file := filepath.Join(s.repo.CommonDir, filepath.FromSlash(ref)); s.repo.RefFormat == "files" && fsutil.Exists(file) {
		broken.File = file
	}
	if own, err := s.readRef(ctx, ownRef(issue)); ref == LiveRef(issue) && err == nil && s.objects.Has(own) {
		broken.Last = own
	}
	return broken
}

func (s *Store) walk(issue checkpoint.Issue, ref string, tip plumbing.Hash, limit int) (*chain, error) {
	c := &chain{issue: issue, ref: ref, tip: tip, ledger: ledger.New()}
	if tip.IsZero() {
		c.rooted = true
		return c, nil
	}
	base := genesis(issue).hash
	d := newChainParser(issue, limit <= 0)
	defer d.finish()
	var last rawCommit
	size := 0
	for at := tip; limit <= 0 || d.found < limit; {
		if at == base {
			c.rooted = true
			break
		}
		commit, err := s.readCommit(at)
		if err != nil {
			if c.cut = d.count > 0 && s.isBoundary(last.hash); c.cut {
				break
			}
			return nil, fmt.Errorf("%s: %w", ref, err)
		}
		if size += len(commit.message) + len(commit.rest); size > maxChain {
			return nil, corrupt(ref, "its commits take more than %d bytes", maxChain)
		}
		last = commit
		d.add(commit)
		if d.foreign > maxForeign || len(commit.parents) == 0 {
			break
		}
		at = commit.parents[0]
	}
	if d.count > 0 && !c.rooted && !c.cut {
		c.cut = s.isBoundary(last.hash)
	}
	c.commits = d.finish()
	if err := s.readLedger(c); err != nil {
		return c, err
	}
	if c.unread != nil && limit > 0 && !c.rooted {
		if whole, err := s.walk(issue, ref, tip, 0); err == nil {
			c.ledger = whole.ledger
		}
	}
	return c, nil
}

// readLedger reads the ledger from the tree of the newest ledger or checkpoint commit,
// and marks pinned checkpoints. It skips foreign commits on top.
func (s *Store) readLedger(c *chain) error {
	at := slices.IndexFunc(c.commits, func(l chainCommit) bool { return l.ledger || l.ID != "" })
	if at < 0 {
		return nil
	}
	data, err := s.ledgerIn(c.commits[at].commit.tree)
	switch {
	case errors.As(err, new(*PromisedError)):
		s.readLedgerBelow(c, err)
	case err != nil:
		return fmt.Errorf("%s: %w", c.ref, err)
	default:
		if c.ledger, err = ledger.Parse(data); err != nil {
			return corrupt(c.ref, "%w", err)
		}
	}
	for i := range c.commits {
		c.commits[i].Pinned = c.ledger.Pinned(c.commits[i].ID)
	}
	return nil
}

// ledgerIn returns a tree's ledger, or nil without ledger.
func (s *Store) ledgerIn(tree plumbing.Hash) ([]byte, error) {
	entries, err := trees.Read(s.objects, tree)
	if err != nil {
		return nil, err
	}
	e, ok := trees.Find(entries, "ledger")
	if !ok {
		return nil, nil
	}
	if size, err := s.objects.Size(e.Hash); err == nil && size > ledger.MaxSize {
		return nil, corrupt("blob "+e.Hash.String(), "%w", &LimitError{"ledger", size, ledger.MaxSize})
	}
	return trees.ReadAs(s.objects, plumbing.BlobObject, e.Hash)
}

// isBoundary reports whether a commit is a shallow boundary.
func (s *Store) isBoundary(hash plumbing.Hash) bool {
	if !s.repo.Shallow {
		return false
	}
	data, err := os.ReadFile(filepath.Join(s.repo.CommonDir, "shallow"))
	return err == nil && strings.Contains(string(data), hash.String())
}

// checkpoints returns all commits except ledger commits, newest first. A foreign commit
// is a Checkpoint without an id.
func (c *chain) checkpoints() []Checkpoint {
	list := make([]Checkpoint, 0, len(c.commits))
	for i := range c.commits {
		if !c.commits[i].ledger {
			list = append(list, c.commits[i].Checkpoint)
		}
	}
	return list
}

// newest returns the newest checkpoint, or nil for an empty chain.
func (c *chain) newest() *Checkpoint {
	for i := range c.commits {
		if !c.commits[i].ledger {
			return &c.commits[i].Checkpoint
		}
	}
	return nil
}

// newestClock returns the largest clock among commits that were read.
func (c *chain) newestClock() checkpoint.Clock {
	var newest checkpoint.Clock
	for i := range c.commits {
		newest = max(newest, c.commits[i].Clock)
	}
	return newest
}

// find returns the checkpoint with this id, or nil.
func (c *chain) find(id checkpoint.ID) *Checkpoint {
	for i := range c.commits {
		if !c.commits[i].ledger && c.commits[i].ID == id {
			return &c.commits[i].Checkpoint
		}
	}
	return nil
}

// index maps ids to the newest commit of each checkpoint.
func (c *chain) index() map[checkpoint.ID]*chainCommit {
	byID := make(map[checkpoint.ID]*chainCommit, len(c.commits))
	for i := range c.commits {
		if id := c.commits[i].ID; id != "" && byID[id] == nil {
			byID[id] = &c.commits[i]
		}
	}
	return byID
}

// has reports whether the chain contains a checkpoint with an id of ids.
func (c *chain) has(ids map[checkpoint.ID]bool) bool {
	return slices.ContainsFunc(c.commits, func(l chainCommit) bool { return ids[l.ID] })
}

// A List is the list of an issue's checkpoints.
type List struct {
	Issue       checkpoint.Issue
	Ref         string
	Tip         plumbing.Hash
	Checkpoints []Checkpoint // newest first
	Complete    bool         // all older checkpoints were read
	Cut         bool         // history ends at a shallow boundary
}

// List returns the newest limit checkpoints of an issue, newest first, or all if limit is
// 0. If the issue has no checkpoints, the list is empty. If plain git removed checkpoints
// from the chain, List restores them first.
func (s *Store) List(ctx context.Context, issue checkpoint.Issue, limit int) (*List, error) {
	s.repairIfRewritten(ctx, issue)
	return s.list(ctx, issue, LiveRef(issue), limit)
}

// Archived lists an issue's archived checkpoints as List does, with reason and time from
// the ledger.
func (s *Store) Archived(ctx context.Context, issue checkpoint.Issue, limit int) (*List, error) {
	s.noticeInterrupted(ctx, issue)
	l, err := s.list(ctx, issue, ArchiveRef(issue), limit)
	if err != nil {
		return nil, err
	}
	s.tellFiled(ctx, issue, l.Checkpoints)
	return l, nil
}

func (s *Store) list(ctx context.Context, issue checkpoint.Issue, ref string, limit int) (*List, error) {
	c, err := s.readChain(ctx, issue, ref, limit)
	if err != nil {
		return nil, err
	}
	l := &List{Issue: issue, Ref: ref, Tip: c.tip, Checkpoints: c.checkpoints(), Complete: c.rooted || c.cut, Cut: c.cut}
	if limit > 0 && len(l.Checkpoints) > limit {
		l.Checkpoints, l.Complete = l.Checkpoints[:limit], false
	}
	return l, c.below()
}

// below fails if a shallow clone has only ledger commits of a chain, since all
// checkpoints are then below the boundary.
func (c *chain) below() error {
	if !c.cut || c.newest() != nil {
		return nil
	}
	return &RefusedError{Reason: c.ref + ": history is cut at a shallow boundary, and all checkpoints lie below", Hint: "git fetch --unshallow"}
}

// Record returns the record of a checkpoint. Parse errors are CorruptErrors that wrap the
// decoder's error with line and column.
func (s *Store) Record(c *Checkpoint) (*checkpoint.Record, error) {
	r, err := s.decoded(c)
	if err != nil && c.Later() { // a later version may use another format
		return nil, fmt.Errorf("%s: %w", c.name(), &checkpoint.VersionError{Version: c.Version})
	}
	return r, err
}

func (s *Store) decoded(c *Checkpoint) (*checkpoint.Record, error) {
	data, err := s.RecordBytes(c)
	if err != nil {
		return nil, err
	}
	r, err := checkpoint.Decode(data)
	var newer *checkpoint.VersionError
	if errors.As(err, &newer) {
		return nil, fmt.Errorf("%s: %w", c.ID, err)
	}
	if err != nil {
		return nil, corrupt(fmt.Sprintf("%s: checkpoint.yaml", c.ID), "%w", err)
	}
	return r, nil
}

// VerifiedRecord returns the record of a checkpoint that the caller is going to act on.
// It fails if the commit violates the stored form, or if the record has another id than
// the commit.
func (s *Store) VerifiedRecord(c *Checkpoint) (*checkpoint.Record, error) {
	r, err := s.Record(c)
	switch {
	case err != nil:
		return nil, err
	case !c.Valid():
		return nil, corrupt(c.name(), "%s", c.Problem)
	case r.ID() != c.ID:
		return nil, corrupt(c.name(), "its record is that of %q", r.ID())
	}
	return r, nil
}

// RecordBytes returns the stored bytes of a record.
func (s *Store) RecordBytes(c *Checkpoint) ([]byte, error) {
	entries, err := trees.Read(s.objects, c.Tree)
	if err != nil {
		return nil, lacked(c.Issue, c.name(), err)
	}
	e, ok := trees.Find(entries, "checkpoint.yaml")
	if !ok {
		return nil, corrupt(c.name(), "it has no checkpoint.yaml")
	}
	if size, err := s.objects.Size(e.Hash); err == nil && size > int64(checkpoint.DefaultLimits.Bytes) {
		return nil, corrupt(c.name(), "%w", &LimitError{"checkpoint.yaml", size, int64(checkpoint.DefaultLimits.Bytes)})
	}
	data, err := trees.ReadAs(s.objects, plumbing.BlobObject, e.Hash)
	if errors.As(err, new(*PromisedError)) {
		err = lacked(c.Issue, c.name(), err)
	}
	return data, err
}

// name returns the id, or the commit hash without an id.
func (c *Checkpoint) name() string {
	if c.ID != "" {
		return string(c.ID)
	}
	return c.Commit.String()
}

// retentionDepth limits how many newest checkpoints a save applies retention to. Prune
// handles older checkpoints.
const retentionDepth = 100

// items returns the checkpoints of a chain as input for retention.
func (c *chain) items() []retention.Item {
	var items []retention.Item
	for _, cp := range c.checkpoints() {
		if cp.ID == "" {
			continue // without an id it is not our checkpoint, so retention must not drop it
		}
		items = append(items, retention.Item{
			ID: cp.ID, Trigger: cp.Trigger, Phase: cp.Phase, Branch: cp.Branch, Created: cp.Created, Clock: cp.Clock,
			Pinned: cp.Pinned, Resumable: cp.Resumable, Valid: cp.Valid(),
		})
	}
	return items
}

// checkRoot fails unless a chain is shallow or starts with its issue's genesis commit.
func (c *chain) checkRoot() error {
	if c.rooted || c.cut {
		return nil
	}
	return corrupt(c.ref, "it is no chain of checkpoints")
}
