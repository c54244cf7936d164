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
	"git-checkpoint/gitstore/ledger"
	"git-checkpoint/gitstore/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxForeign is how many commits without any mark of a checkpoint a walk
// follows before it gives up: a ref that was set to a branch by hand would
// lead through the project's whole history.
const maxForeign = 64

// maxChain bounds the commits of a chain together, in bytes: they stay in
// memory while it is looked at.
const maxChain = 512 << 20

// A chainCommit is a commit of a chain.
type chainCommit struct {
	commit rawCommit
	ledger bool // carries a ledger only
	Checkpoint
}

// A chain is an issue's commits as far as they were read, newest first.
type chain struct {
	issue   checkpoint.Issue
	ref     string
	tip     plumbing.Hash
	commits []chainCommit
	rooted  bool // read down to genesis
	cut     bool // ends at a shallow boundary
	deleted bool // ref is not there, tip is from own/
	ledger  *ledger.Ledger
	unread  error  // why ledger is an older one: a partial clone lacks the tip's, nil if it is the tip's
	remote  string // whose chain it is, "" for one here
}

// readChain reads the chain at ref, all of it or the newest limit
// checkpoints, with what else stands between them. A chain without a ref has
// no commits and is rooted.
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

// brokenRef says what is known of a ref that cannot be read, if that is why.
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

// readLedger reads the ledger in the tip's tree, and marks pins. A commit on
// top that somebody else made says nothing of the ledger.
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

// ledgerIn is the ledger in a tree, nil when there is none.
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

// isBoundary reports whether history is cut below a commit.
func (s *Store) isBoundary(hash plumbing.Hash) bool {
	if !s.repo.Shallow {
		return false
	}
	data, err := os.ReadFile(filepath.Join(s.repo.CommonDir, "shallow"))
	return err == nil && strings.Contains(string(data), hash.String())
}

// checkpoints are the commits that are checkpoints, newest first.
func (c *chain) checkpoints() []Checkpoint {
	list := make([]Checkpoint, 0, len(c.commits))
	for i := range c.commits {
		if !c.commits[i].ledger {
			list = append(list, c.commits[i].Checkpoint)
		}
	}
	return list
}

// newest is the newest checkpoint, nil when there is none.
func (c *chain) newest() *Checkpoint {
	for i := range c.commits {
		if !c.commits[i].ledger {
			return &c.commits[i].Checkpoint
		}
	}
	return nil
}

// newestClock is the largest clock in the chain as far as it was read.
func (c *chain) newestClock() checkpoint.Clock {
	var newest checkpoint.Clock
	for i := range c.commits {
		newest = max(newest, c.commits[i].Clock)
	}
	return newest
}

// find returns the checkpoint with this id, nil when the chain has none.
func (c *chain) find(id checkpoint.ID) *Checkpoint {
	for i := range c.commits {
		if !c.commits[i].ledger && c.commits[i].ID == id {
			return &c.commits[i].Checkpoint
		}
	}
	return nil
}

// index finds checkpoints by id.
func (c *chain) index() map[checkpoint.ID]*chainCommit {
	byID := make(map[checkpoint.ID]*chainCommit, len(c.commits))
	for i := range c.commits {
		if id := c.commits[i].ID; id != "" && byID[id] == nil {
			byID[id] = &c.commits[i]
		}
	}
	return byID
}

// has reports whether the chain holds one of ids.
func (c *chain) has(ids map[checkpoint.ID]bool) bool {
	return slices.ContainsFunc(c.commits, func(l chainCommit) bool { return ids[l.ID] })
}

// A List is what an issue has.
type List struct {
	Issue       checkpoint.Issue
	Ref         string
	Tip         plumbing.Hash
	Checkpoints []Checkpoint // newest first
	Complete    bool         // nothing older was left unread
	Cut         bool         // history ends at a shallow boundary
}

// List reads an issue's chain, newest first, all of it when limit is 0. An
// issue without checkpoints gives an empty list. What plain git took from the
// chain is brought back first.
func (s *Store) List(ctx context.Context, issue checkpoint.Issue, limit int) (*List, error) {
	s.repairIfRewritten(ctx, issue)
	return s.list(ctx, issue, LiveRef(issue), limit)
}

// Archived reads an issue's archive the same way, with what its ledger says of
// it.
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

// below fails if a shallow clone has only the ledger of a chain: its checkpoints
// are below the boundary.
func (c *chain) below() error {
	if !c.cut || c.newest() != nil {
		return nil
	}
	return &RefusedError{Reason: c.ref + ": history is cut at a shallow boundary, and all checkpoints lie below", Hint: "git fetch --unshallow"}
}

// Record reads a checkpoint's record. A record that cannot be read is a
// CorruptError around the decoder's own error, which has line and column.
func (s *Store) Record(c *Checkpoint) (*checkpoint.Record, error) {
	r, err := s.decoded(c)
	if err != nil && c.Later() { // its text need not be of a form that is known here
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

// VerifiedRecord is Record for a checkpoint that is to be acted on: its commit has
// to keep the stored form, and to name the checkpoint that its record names.
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

// RecordBytes returns a record's bytes as they are stored.
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

// name is the id, or the commit where there is no id.
func (c *Checkpoint) name() string {
	if c.ID != "" {
		return string(c.ID)
	}
	return c.Commit.String()
}

// retentionDepth is how many of the newest checkpoints a save looks at; what
// lies deeper waits for Prune.
const retentionDepth = 100
