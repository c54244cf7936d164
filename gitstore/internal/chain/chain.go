// Package chain reads and rewrites the chains of checkpoints: the commits of an issue's
// ref. It parses, finds, drops, pins, archives and redacts checkpoints, merges chains that
// went apart, and restores chains whose refs were deleted or set back.
//
// Reading changes nothing. If other tools removed checkpoints from a chain, a reader gets what the
// ref says, and one warning. Retry restores them under the issue lock before it changes the chain.
// In a repository that was opened for changes, the first read does so: see look.
package chain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/join"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/retention"

	"github.com/go-git/go-git/v5/plumbing"
)

// Chains are the chains of checkpoints of a repository.
type Chains struct {
	repo     *repo.Repo
	compared map[checkpoint.Issue][2]plumbing.Hash // values of a chain ref and of own/, by look
}

// New returns the chains of a repository.
func New(r *repo.Repo) *Chains { return &Chains{r, map[checkpoint.Issue][2]plumbing.Hash{}} }

// MaxForeign limits how many commits without checkpoint or ledger a walk follows. Without
// this limit, a ref manually set to a branch would lead through the project's whole
// history.
const MaxForeign = 64

// maxChain limits a chain's total commit size in bytes, because commits stay in memory.
const maxChain = 512 << 20

// A ChainCommit is a commit of a chain.
type ChainCommit struct {
	Raw    repo.RawCommit
	Ledger bool // contains only a ledger
	Gone   bool // the ledger has the checkpoint as archived or deleted
	Other  bool // its id means another content in this clone
	Checkpoint
}

// A Chain contains an issue's commits that were read, newest first.
type Chain struct {
	Issue   checkpoint.Issue
	Ref     string
	Tip     plumbing.Hash
	Commits []ChainCommit
	Rooted  bool // read down to genesis
	Cut     bool // ends at a shallow boundary
	Ledger  *ledger.Ledger
	Unread  error  // set if a partial clone lacks the tip's ledger, so Ledger is empty
	Remote  string // the remote that has the chain, "" for a local chain

	Restored ledger.Position // the position that counts, or zero
}

// ReadChain reads the chain at ref: the newest limit checkpoints, or all if limit is 0.
// The result includes ledger commits and foreign commits between checkpoints. If the ref
// does not exist, the chain is empty and rooted.
func (s *Chains) ReadChain(ctx context.Context, issue checkpoint.Issue, ref string, limit int) (*Chain, error) {
	s.look(ctx, issue)
	tip, err := s.repo.ReadRef(ctx, ref)
	if err != nil {
		return nil, err
	}
	if limit > 0 && !tip.IsZero() && ref == repo.LiveRef(issue) {
		if own, err := s.repo.ReadRef(ctx, repo.OwnRef(issue)); err == nil && own != tip {
			limit = 0 // commits of other clones may contain doubles
		}
	}
	return s.Walk(issue, ref, tip, limit)
}

// Walk reads the chain at a commit: the newest limit checkpoints, or all if limit is 0.
func (s *Chains) Walk(issue checkpoint.Issue, ref string, tip plumbing.Hash, limit int) (*Chain, error) {
	c, err := s.walk(issue, ref, tip, limit, s.markDoubles)
	if err == nil {
		c.Restored = c.position(s.repo.Now())
	}
	return c, err
}

// readAhead is the number of commits of a chain after which more are read at once, which costs another git process.
const readAhead = 24

// walk is Walk with a function that marks checkpoints as Other. If too few others are left, walk reads all.
func (s *Chains) walk(issue checkpoint.Issue, ref string, tip plumbing.Hash, limit int, mark func(*Chain) error) (*Chain, error) {
	c := &Chain{Issue: issue, Ref: ref, Tip: tip, Ledger: ledger.New()}
	if tip.IsZero() {
		c.Rooted = true
		return c, nil
	}
	base := Genesis(issue).Hash
	size, found, foreign, ended := 0, 0, 0, false
	isCut := func() bool { n := len(c.Commits); return n > 0 && s.IsBoundary(c.Commits[n-1].Raw.Hash) }
	ahead := readAhead
	for at := tip; !ended && (limit <= 0 || found < limit); {
		if at == base {
			c.Rooted, ended = true, true
			break
		}
		if len(c.Commits) == ahead {
			s.repo.Objects.ReadChainAhead(at, 15*ahead)
			ahead *= 16
		}
		commit, err := s.repo.ReadCommit(at)
		if err != nil {
			if c.Cut = isCut(); c.Cut {
				break
			}
			return nil, fmt.Errorf("%s: %w", ref, err)
		}
		if size += len(commit.Message) + len(commit.Rest); size > maxChain {
			return nil, repo.Corrupt(ref, "its commits take more than %d bytes", maxChain)
		}
		l := ChainCommit{Raw: commit, Ledger: IsLedger(commit)}
		if !l.Ledger {
			l.Checkpoint = CheckpointOf(commit, issue)
		}
		switch c.Commits = append(c.Commits, l); {
		case l.Ledger:
		case l.ID == "":
			foreign++
		default:
			found++
		}
		if ended = foreign > MaxForeign || len(commit.Parents) == 0; !ended {
			at = commit.Parents[0]
		}
	}
	c.Cut = c.Cut || !c.Rooted && isCut()
	if err := s.readLedger(c); err != nil {
		return c, err
	}
	if err := mark(c); err != nil {
		return c, fmt.Errorf("%s: %w", ref, err)
	}
	found = 0
	for i := range c.Commits {
		if c.isListed(i) && c.Commits[i].ID != "" {
			found++
		}
	}
	if found < limit && !ended && !c.Cut { // some checkpoints were dropped
		return s.walk(issue, ref, tip, 0, mark)
	}
	return c, nil
}

// IsBoundary reports whether a commit is at the shallow boundary.
func (s *Chains) IsBoundary(hash plumbing.Hash) bool { return s.boundary()[hash.String()] }

// boundary returns the commits of the shallow boundary. Git takes them for commits without parents. After a
// git fetch --depth, this clone can have the parents, because git cuts complete chains too.
func (s *Chains) boundary() map[string]bool {
	if !s.repo.Info.Shallow {
		return nil
	}
	data, _ := os.ReadFile(filepath.Join(s.repo.Info.CommonDir, "shallow"))
	commits := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		commits[strings.TrimSpace(line)] = true
	}
	return commits
}

// Checkpoints returns all commits except ledger commits, newest first, and except
// checkpoints that are gone, or whose id means another content here. A foreign commit is a Checkpoint without an id.
func (c *Chain) Checkpoints() []Checkpoint {
	list := make([]Checkpoint, 0, len(c.Commits))
	for i := range c.Commits {
		if c.isListed(i) {
			list = append(list, c.Commits[i].Checkpoint)
		}
	}
	return list
}

func (c *Chain) isListed(i int) bool {
	return !c.Commits[i].Ledger && !c.Commits[i].Gone && !c.Commits[i].Other
}

// Newest returns the newest checkpoint that is not gone, or nil for an empty chain.
func (c *Chain) Newest() *Checkpoint {
	for i := range c.Commits {
		if c.isListed(i) {
			return &c.Commits[i].Checkpoint
		}
	}
	return nil
}

// NewestClock returns the largest clock among the commits that were read and the restoration.
func (c *Chain) NewestClock() checkpoint.Clock {
	newest := c.Restored.Clock
	for i := range c.Commits {
		newest = max(newest, c.Commits[i].Clock)
	}
	return newest
}

// Find returns the checkpoint with this id, or nil.
func (c *Chain) Find(id checkpoint.ID) (found *Checkpoint) {
	for i := range c.Commits {
		if l := &c.Commits[i]; !l.Ledger && l.ID == id && !l.Other {
			return &l.Checkpoint
		} else if !l.Ledger && l.ID == id && found == nil {
			found = &l.Checkpoint
		}
	}
	return found
}

// Index maps ids to the newest commit of each checkpoint, with the content that the id means.
func (c *Chain) Index() map[checkpoint.ID]*ChainCommit {
	byID := make(map[checkpoint.ID]*ChainCommit, len(c.Commits))
	for i := range c.Commits {
		l := &c.Commits[i]
		if had := byID[l.ID]; l.ID != "" && (had == nil || had.Other && !l.Other) {
			byID[l.ID] = l
		}
	}
	return byID
}

// Members returns the checkpoints of the chain.
func (c *Chain) Members() map[join.Member]bool {
	members := make(map[join.Member]bool, len(c.Commits))
	for i := range c.Commits {
		if l := &c.Commits[i]; l.ID != "" {
			members[l.Member()] = true
		}
	}
	return members
}

// Has reports whether the chain contains a checkpoint with an id of ids.
func (c *Chain) Has(ids map[checkpoint.ID]bool) bool {
	return slices.ContainsFunc(c.Commits, func(l ChainCommit) bool { return ids[l.ID] })
}

// A List is the list of an issue's checkpoints.
type List struct {
	Issue       checkpoint.Issue
	Ref         string
	Tip         plumbing.Hash
	Checkpoints []Checkpoint // newest first
	Others      []Checkpoint // contents under the same ids that these do not mean here, as far as they were read
	Complete    bool         // all older checkpoints were read
	Cut         bool         // history ends at a shallow boundary

	chain   *Chain
	descent *Descent // for Parents
}

// List returns the newest limit checkpoints of an issue, newest first, or all if limit is
// 0. If the issue has no checkpoints, the list is empty.
func (s *Chains) List(ctx context.Context, issue checkpoint.Issue, limit int) (*List, error) {
	c, err := s.ReadChain(ctx, issue, repo.LiveRef(issue), limit)
	if err != nil {
		return nil, err
	}
	return c.list(c.Checkpoints(), limit)
}

// Archived lists an issue's archived checkpoints as List does, with reason and time from
// the ledger. They are in the archive, or still in a chain that a shallow clone archived.
func (s *Chains) Archived(ctx context.Context, issue checkpoint.Issue, limit int) (*List, error) {
	archive, err := s.ReadChain(ctx, issue, repo.ArchiveRef(issue), limit)
	if err != nil {
		return nil, err
	}
	live, err := s.ReadChain(ctx, issue, repo.LiveRef(issue), 0)
	if err != nil {
		live = s.NoChain(archive) // the facts stay empty
	}
	isLive := live.Visible() // a killed command stored some here, and did not remove them from the chain
	list := slices.DeleteFunc(archive.Checkpoints(), func(c Checkpoint) bool { return isLive[c.ID] != nil || live.Ledger.Deletes(c.ID, c.Content) })
	if gone := movingTo(archive, live.Ledger, nil, live).Commits; len(gone) > 0 {
		for _, l := range gone {
			list = append(list, l.Checkpoint)
		}
		slices.SortStableFunc(list, func(a, b Checkpoint) int { return cmp.Or(cmp.Compare(b.Clock, a.Clock), cmp.Compare(b.ID, a.ID)) })
	}
	for i := range list {
		c := &list[i]
		c.Archived, c.Pinned, c.Filed = true, live.Ledger.Pinned(c.ID), live.Ledger.Archival(c.ID)
	}
	return archive.list(list, limit)
}

func (c *Chain) list(found []Checkpoint, limit int) (*List, error) {
	l := &List{Issue: c.Issue, Ref: c.Ref, Tip: c.Tip, Checkpoints: found, Complete: c.Rooted || c.Cut, Cut: c.Cut, chain: c}
	for i := range c.Commits {
		if c.Commits[i].Other && !c.Commits[i].Gone {
			other := c.Commits[i].Checkpoint
			other.Unclear = true
			l.Others = append(l.Others, other)
		}
	}
	if limit > 0 && len(l.Checkpoints) > limit {
		l.Checkpoints, l.Complete = l.Checkpoints[:limit], false
	}
	return l, c.CheckBoundary()
}

// Record returns the record of a checkpoint.
func (s *Chains) Record(c *Checkpoint) (*checkpoint.Record, error) {
	data, err := s.RecordBytes(c)
	if err == nil {
		r, decodeErr := checkpoint.Decode(data)
		switch {
		case decodeErr == nil:
			return r, nil
		case errors.As(decodeErr, new(*checkpoint.VersionError)):
			err = fmt.Errorf("%s: %w", c.Name(), decodeErr)
		default:
			err = repo.Corrupt(fmt.Sprintf("%s: checkpoint.yaml", c.Name()), "%w", decodeErr)
		}
	}
	if c.Later() { // a later version may use another format
		return nil, fmt.Errorf("%s: %w", c.Name(), &checkpoint.VersionError{Version: c.Version})
	}
	return nil, err
}

// VerifiedRecord returns the record of a checkpoint that the caller is going to act on.
func (s *Chains) VerifiedRecord(c *Checkpoint) (*checkpoint.Record, error) {
	r, err := s.Record(c)
	switch {
	case err != nil:
		return nil, err
	case !c.Valid():
		return nil, repo.Corrupt(c.Name(), "%s", c.Problem)
	case r.ID() != c.ID:
		return nil, repo.Corrupt(c.Name(), "its record belongs to %q", r.ID())
	}
	return r, nil
}

// RecordBytes returns the stored bytes of a record.
func (s *Chains) RecordBytes(c *Checkpoint) ([]byte, error) {
	data, ok, err := s.fileIn(s.repo.Objects, c.Tree, "checkpoint.yaml", int64(checkpoint.DefaultLimits.Bytes))
	switch {
	case err != nil:
		return nil, repo.Lacked(c.Issue, c.Name(), err)
	case !ok:
		return nil, repo.Corrupt(c.Name(), "it has no checkpoint.yaml")
	}
	return data, nil
}

// Name returns the id, or the commit hash without an id.
func (c *Checkpoint) Name() string {
	if c.ID != "" {
		return string(c.ID)
	}
	return c.Commit.String()
}

// RetentionDepth limits how many newest checkpoints a save applies retention to. Prune
// handles older checkpoints.
const RetentionDepth = 100

// Items returns the checkpoints of a chain as input for retention.
func (c *Chain) Items() []retention.Item {
	var items []retention.Item
	for _, cp := range c.Checkpoints() {
		if cp.ID == "" {
			continue // without an id it is not our checkpoint, so retention must not drop it
		}
		items = append(items, retention.Item{
			ID: cp.ID, Trigger: cp.Trigger, Phase: cp.Phase, Branch: cp.Branch, Created: cp.Saved, Clock: cp.Clock,
			Pinned: cp.Pinned, Resumable: cp.Resumable, Valid: cp.Valid(), Restored: cp.ID == c.Restored.ID,
		})
	}
	return items
}

// CheckRoot fails unless a chain is shallow or starts with its issue's genesis commit.
func (c *Chain) CheckRoot() error {
	if c.Rooted || c.Cut {
		return nil
	}
	return repo.Corrupt(c.Ref, "not a chain of checkpoints")
}
