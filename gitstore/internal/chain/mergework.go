package chain

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/join"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// MergeWork adds a checkpoint on top of a merged chain if another head's record contains
// work that the newest record lacks. For example, two clones each completed a task. The
// new checkpoint equals the newest checkpoint, except that its record contains work of
// both. Every clone makes an identical commit. If a record is unreadable or too large, or
// if nothing is added, the chain stays unchanged. The remarks are messages for the user.
func (s *Chains) MergeWork(ctx context.Context, k *repo.ObjectWriter, tip plumbing.Hash, want join.State, chains ...*Chain) (merged plumbing.Hash, remarks []string) {
	heads := headsOf(want, chains)
	if len(heads) < 2 {
		return tip, nil
	}
	newest := heads[0].newestIn(want)
	r := s.recordToMerge(&newest.Checkpoint)
	switch {
	case r == nil:
		return tip, []string{notMerged(newest, heads[1].newestIn(want).ID, newest.ID)}
	case len(newest.Raw.Parents) != 2:
		return tip, nil
	}
	with, seed := []*ChainCommit{newest}, string(newest.ID)
	secrets := RedactFrom(r, RedactMask, nil) // another clone may have other exceptions
	for _, theirChain := range heads[1:] {
		other, from := theirChain.newestIn(want), s.baseOf(ctx, heads[0], theirChain)
		base, theirs := s.recordToMerge(from), s.recordToMerge(&other.Checkpoint)
		switch {
		case theirs == nil:
			remarks = append(remarks, notMerged(newest, other.ID, other.ID))
			continue
		case from != nil && base == nil:
			remarks = append(remarks, notMerged(newest, other.ID, from.ID))
			continue
		}
		if u := join.MergeRecords(base, theirs, r); u != nil {
			r, with = u, append(with, other)
			seed += " " + string(other.ID)
			if from != nil {
				seed += " from " + string(from.ID)
			}
		}
	}
	if len(with) < 2 {
		return tip, remarks
	}
	secrets.Apply(r)
	return s.mergedCommit(k, tip, want, with, r, seed), remarks
}

// notMerged returns a message that work of two checkpoints was not merged because of an
// unusable record.
func notMerged(newest *ChainCommit, other, of checkpoint.ID) string {
	return fmt.Sprintf("issue %s: the tasks and phases of %s are not joined with those of %s, since the record of %s cannot be read or has more than %d bytes; compare them: git checkpoint diff %s %s --issue %s --state",
		newest.Issue, other, newest.ID, of, maxMergedRecord, other, newest.ID, failure.QuoteStrict(string(newest.Issue)))
}

// headsOf returns the chains with different newest checkpoints, the newest first. It omits chains without
// a checkpoint of the merged state, and those whose newest one is below that of another chain.
func headsOf(want join.State, chains []*Chain) (heads []*Chain) {
	for _, c := range chains {
		h := c.newestIn(want)
		if h == nil || slices.ContainsFunc(heads, func(o *Chain) bool { return o.newestIn(want).ID == h.ID }) {
			continue
		}
		below := func(o *Chain) bool {
			top := o.newestIn(want)
			return top != nil && top.ID != h.ID && o.Find(h.ID) != nil
		}
		if !slices.ContainsFunc(chains, below) {
			heads = append(heads, c)
		}
	}
	order := want.Order()
	place := func(c *Chain) int { return slices.Index(order, c.newestIn(want).Member()) }
	slices.SortFunc(heads, func(a, b *Chain) int { return place(b) - place(a) })
	return heads
}

// newestIn returns a chain's newest checkpoint within a state, or nil.
func (c *Chain) newestIn(want join.State) *ChainCommit {
	for i := range c.Commits {
		if l := &c.Commits[i]; l.isIn(want) && !l.Other {
			return l
		}
	}
	return nil
}

// baseOf returns the newest checkpoint that both chains have or had, or nil. Usually both have lost it,
// because retention drops a checkpoint when the next one of its kind is saved.
func (s *Chains) baseOf(ctx context.Context, ours, theirs *Chain) *Checkpoint {
	var base *Checkpoint
	there := theirs.Index()
	for i := range ours.Commits {
		l := &ours.Commits[i]
		if o := there[l.ID]; l.ID != "" && o != nil && o.Member() == l.Member() {
			base = &l.Checkpoint
			break
		}
	}
	if was := s.wasTip(ctx, ours, theirs); was != nil && (base == nil || was.Clock > base.Clock) {
		return was
	}
	return base
}

const maxPast = 100

// wasTip returns the newest former tip of the local chain that every chain has or has
// dropped, or nil.
func (s *Chains) wasTip(ctx context.Context, chains ...*Chain) *Checkpoint {
	i := chains[0].Issue
	past, err := s.repo.Reflog(ctx, repo.LiveRef(i))
	if err != nil {
		return nil
	}
	for _, e := range past[:min(len(past), maxPast)] {
		c, err := s.Walk(i, repo.LiveRef(i), e.New, 1)
		if err != nil || c.Newest() == nil {
			continue
		}
		was := c.Newest()
		lacks := func(c *Chain) bool { return !c.Ledger.Dead(was.ID, was.Content) && c.Find(was.ID) == nil }
		if !slices.ContainsFunc(chains, lacks) {
			return was
		}
	}
	return nil
}

// maxMergedRecord limits merged records, in bytes, because they may come from untrusted
// clones.
const maxMergedRecord = 1 << 20

// recordToMerge returns the record of a checkpoint. It returns nil if c is nil, or if the
// record is unreadable or too large.
func (s *Chains) recordToMerge(c *Checkpoint) *checkpoint.Record {
	if c == nil {
		return nil
	}
	if data, err := s.RecordBytes(c); err != nil || len(data) > maxMergedRecord {
		return nil
	}
	r, err := s.VerifiedRecord(c)
	if err != nil {
		return nil
	}
	return r
}

// mergedCommit adds the commit of the merged checkpoint. It has the files of with[0], the newest
// checkpoint, and named files of the others that it lacks (addNamedFiles). The id is derived from
// seed, which names all sources of the merge.
func (s *Chains) mergedCommit(k *repo.ObjectWriter, tip plumbing.Hash, want join.State, with []*ChainCommit, r *checkpoint.Record, seed string) plumbing.Hash {
	newest := with[0]
	r.SetTrigger(checkpoint.TaskUpdate)
	note := "joined"
	for _, l := range with {
		note += " " + string(l.ID)
	}
	r.SetNote(note)
	r.SetClock(newest.Clock + 1)
	digest := sha256.Sum256([]byte(seed))
	r.SetID(checkpoint.NewID(r.Phase(), newest.Saved, digest[:]))
	entries, err := trees.Read(s.repo.Objects, newest.Tree)
	state, err2 := s.StateCommitOf(newest.Raw)
	if err != nil || err2 != nil {
		return tip
	}
	for i := range entries {
		for _, other := range with[1:] {
			if entries[i].Name == "state" {
				entries[i].Hash = s.addNamedFiles(k, entries[i].Hash, other)
			}
		}
	}
	commit, err := AddCheckpoint(k, NewCheckpoint{
		Issue: newest.Issue, Record: r, After: []checkpoint.ID{newest.ID}, // its files are those of newest
		Entries: entries, Ledger: want.Ledger, Parent: tip, Headers: newest.Raw.Rest, Head: state.Head,
	})
	if err != nil {
		return tip
	}
	return commit.Hash
}

// addNamedFiles adds files of another checkpoint to a state that lacks them: untracked files that its
// record names, such as outputs of agents, which git often ignores. The joined record names them too.
func (s *Chains) addNamedFiles(k *repo.ObjectWriter, state plumbing.Hash, other *ChainCommit) plumbing.Hash {
	r := s.recordToMerge(&other.Checkpoint)
	theirs, err := trees.Read(s.repo.Objects, other.Tree)
	if err != nil || r == nil {
		return state
	}
	places := r.PhaseArtifacts()
	for _, o := range r.Outputs() {
		places = append(places, o.Location)
	}
	find := &trees.Finder{Reader: k}
	at := func(tree plumbing.Hash, path string) (mode uint32, hash plumbing.Hash) {
		if mode, hash, err = find.Lookup(tree, path); err != nil {
			mode = 0
		}
		return mode, hash
	}
	for _, place := range places {
		place = path.Clean(place)
		mode, hash := at(trees.HashOf(theirs, "state"), place)
		isNew := mode == trees.ModeFile || mode == trees.ModeExec
		if staged, _ := at(trees.HashOf(theirs, "staged"), place); staged != 0 {
			isNew = false
		}
		for i := range len(place) + 1 {
			if i < len(place) && place[i] != '/' {
				continue
			}
			mode, _ := at(state, place[:i])
			isNew = isNew && (mode == 0 || mode == trees.ModeTree && i < len(place))
		}
		if !isNew {
			continue
		}
		if more, err := trees.Replace(k, k, state, []trees.FileEntry{{Path: place, Mode: mode, Hash: hash}}); err == nil {
			state = more
		}
	}
	return state
}
