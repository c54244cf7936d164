package chain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/join"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Below is the statement of a ledger commit about the checkpoints below a shallow
// boundary. The clone that made the commit could not list them in the ledger. It is a
// trailer of the ledger commit:
//
//	Checkpoint-Below: all|<id> archived <reason> <clock>
//	Checkpoint-Below: all|<id> deleted
//	Checkpoint-Below: all live
//
// "all" concerns the checkpoints below the ledger commit, an id those below this
// checkpoint. "live" is written by an undo and cancels the next statement below it. Pinned
// checkpoints are not deleted.
type Below struct {
	From  checkpoint.ID // "" for all
	As    string        // archived, deleted or live
	Filed ledger.Archival
}

const trailerBelow = "Checkpoint-Below"

func (b *Below) trailer() string {
	from := "all"
	if b.From != "" {
		from = string(b.From)
	}
	text := fmt.Sprintf("%s: %s %s", trailerBelow, from, b.As)
	if b.As == "archived" {
		text += fmt.Sprintf(" %s %d", b.Filed.Reason, b.Filed.Clock)
	}
	return text + "\n"
}

// belowIn returns the statement in the message of a ledger commit, or nil.
func belowIn(message string) *Below {
	_, trailers := splitMessage(message)
	for line := range strings.Lines(trailers) {
		value, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), trailerBelow+": ")
		if !ok {
			continue
		}
		f := strings.Split(value, " ")
		b := &Below{}
		if len(f) < 2 {
			return nil
		}
		if f[0] != "all" {
			id, err := checkpoint.ParseID(f[0])
			if err != nil {
				return nil
			}
			b.From = id
		}
		b.As = f[1]
		switch {
		case b.As == "archived" && len(f) == 4:
			clock, ok := checkpoint.ParseClock(f[3])
			if !ok {
				return nil
			}
			b.Filed = ledger.Archival{Reason: f[2], Clock: clock}
		case b.As != "deleted" && b.As != "live" || len(f) != 2:
			return nil
		}
		return b
	}
	return nil
}

// apply adds a checkpoint to the ledger, unless the ledger knows it already.
func (b *Below) apply(l *ledger.Ledger, c *Checkpoint) {
	switch {
	case l.HasDeleted(c.ID) || l.IsArchived(c.ID):
	case b.As == "archived":
		l.File(c.ID, b.Filed)
	case !l.Pinned(c.ID):
		l.Delete(c.ID, c.After)
	}
}

// markGone marks the commits of checkpoints that the ledger has as archived or deleted. A
// shallow clone removes checkpoints in this way, since it cannot rewrite its chain. The
// next sync of a complete clone removes the commits. markGone adds the checkpoints of
// Below statements to the ledger. The ledgers in an archive are history.
func (c *Chain) markGone() {
	c.Below, c.atBottom = nil, nil
	var waiting, applies []*Below // topmost first
	canceled, archive := 0, c.Ref == repo.ArchiveRef(c.Issue)
	for i := range c.Commits {
		l := &c.Commits[i]
		l.Pinned, l.Gone = c.Ledger.Pinned(l.ID), false
		if l.Ledger {
			b := belowIn(l.Raw.Message)
			if b == nil {
				continue
			}
			switch c.Below = cmp.Or(c.Below, b); {
			case b.As == "live":
				canceled++
			case canceled > 0:
				canceled--
			case b.From == "":
				applies = append(applies, b)
			default:
				waiting = append(waiting, b)
			}
			continue
		}
		if l.ID == "" || archive {
			continue
		}
		if len(applies) > 0 {
			applies[0].apply(c.Ledger, &l.Checkpoint)
		}
		for _, b := range waiting {
			if b.From == l.ID {
				applies = append(applies, b)
			}
		}
		l.Gone = c.Ledger.Deletes(l.ID, l.Content) || c.Ledger.IsArchived(l.ID)
	}
	if len(applies) > 0 {
		c.atBottom = applies[0]
	}
}

// below returns the statement b for the checkpoints below the boundary of c. ids are the
// checkpoints that leave the chain together with them.
func (c *Chain) below(ids map[checkpoint.ID]bool, b Below) *Below {
	for id := range c.Visible() {
		if !ids[id] {
			b.From = c.oldestID()
		}
	}
	return &b
}

// CancelBelow returns the statement that takes back the statement of a former tip. It
// returns nil if this tip is no ledger commit with a statement.
func CancelBelow(former *Chain) *Below {
	if len(former.Commits) == 0 || !former.Commits[0].Ledger || belowIn(former.Commits[0].Raw.Message) == nil {
		return nil
	}
	return &Below{As: "live"}
}

// oldestID returns the id of the oldest checkpoint that was read.
func (c *Chain) oldestID() checkpoint.ID {
	for i := len(c.Commits) - 1; i >= 0; i-- {
		if id := c.Commits[i].ID; id != "" {
			return id
		}
	}
	return ""
}

// Visible maps the ids of checkpoints that are not gone to their commits.
func (c *Chain) Visible() map[checkpoint.ID]*ChainCommit {
	byID := c.Index()
	for id, l := range byID {
		if l.Gone {
			delete(byID, id)
		}
	}
	return byID
}

// Loose returns a shallow chain for a merge with a complete chain: without a tip, because
// the merged chain cannot be built on it. Its statement about the checkpoints below it is
// applied to those of whole.
func (c *Chain) Loose(whole *Chain) *Chain {
	if c.Whole() {
		return c
	}
	loose := *c
	loose.Tip, loose.Ledger = plumbing.ZeroHash, c.ledgerFor(whole.Commits)
	return &loose
}

// ledgerFor returns the ledger of c with the checkpoints among commits that lie below c
// and that a statement of c removes.
func (c *Chain) ledgerFor(commits []ChainCommit) *ledger.Ledger {
	l := c.Ledger.Clone()
	if c.atBottom == nil {
		return l
	}
	oldest := c.Find(c.oldestID())
	known := c.Index()
	for i := range commits {
		o := &commits[i]
		if o.ID != "" && known[o.ID] == nil && o.order(ChainCommit{Checkpoint: *oldest}) < 0 {
			c.atBottom.apply(l, &o.Checkpoint)
		}
	}
	return l
}

// Splice merges two shallow chains with a common commit. It rewrites only commits above
// this commit. An archived checkpoint stays in the result, unless one of the chains has
// archived it in the archive and lacks it. ok is false without a common commit.
func (s *Chains) Splice(k *repo.ObjectWriter, theirs, ours *Chain) (tip plumbing.Hash, want join.State, ok bool) {
	above := slices.IndexFunc(ours.Commits, func(l ChainCommit) bool { return theirs.ContainsCommit(l.Raw.Hash) })
	if above < 0 {
		return tip, want, false
	}
	common := ours.Commits[above].Raw.Hash
	at := slices.IndexFunc(theirs.Commits, func(l ChainCommit) bool { return l.Raw.Hash == common })
	if at < 0 { // the genesis commit of a complete chain
		return tip, want, false
	}
	a, b := *ours, *theirs
	a.Commits, b.Commits = ours.Commits[:above], theirs.Commits[:at]
	if a.UnknownCommit() != nil || b.UnknownCommit() != nil {
		return tip, want, false
	}
	if s.Identify(&a, &b) != nil {
		return tip, want, false
	}
	a.Ledger, b.Ledger = ours.ledgerFor(theirs.Commits), theirs.ledgerFor(ours.Commits)
	want = join.MergeStates(a.state(), b.state())
	stays := join.State{Members: maps.Clone(want.Members), Ledger: want.Ledger}
	for _, side := range [][2]*Chain{{&a, &b}, {&b, &a}} {
		there := side[1].Index()
		for _, l := range side[0].Commits {
			if _, twice := stays.Members[l.Member()]; l.ID == "" || l.Ledger || twice {
				continue
			}
			if want.Ledger.IsArchived(l.ID) && (there[l.ID] != nil || !side[1].Ledger.IsArchived(l.ID)) {
				stays.Members[l.Member()] = l.entry()
			}
		}
	}
	from := map[join.Member]ChainCommit{}
	for _, c := range []*Chain{&a, &b} {
		for i := range c.Commits {
			if l := &c.Commits[i]; l.isIn(stays) {
				from[l.Member()] = *l
			}
		}
	}
	links := []ChainCommit{}
	for _, m := range slices.Backward(stays.Order()) {
		links = append(links, from[m])
	}
	var below *Below
	if statement := cmp.Or(ours.atBottom, theirs.atBottom); statement != nil {
		below = &Below{From: theirs.oldestID(), As: statement.As, Filed: statement.Filed}
	}
	tip = s.Rebuild(theirs, append(links, theirs.Commits[at:]...), k)
	tip = s.withLedger(theirs.Issue, tip, want.Ledger, below, k)
	for _, c := range []*Chain{theirs, ours} { // the common part
		for i := range c.Commits {
			if l := &c.Commits[i]; l.ID != "" && !want.Ledger.Dead(l.ID, l.Content) && theirs.ContainsCommit(l.Raw.Hash) {
				want.Members[l.Member()] = l.entry()
			}
		}
	}
	return tip, want, true
}
