package chain

import (
	"context"
	"fmt"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A restoration is stored as a trailer of a ledger commit, which earlier versions ignore:
//
//	Checkpoint-Restored: <id> <clock> <name>
//
// The name is quoted like other trailers, and missing if it is unknown. The restoration
// counts if no checkpoint is above it in the chain.
const trailerRestored = "Checkpoint-Restored"

// maxRestoredBy limits the name, in bytes.
const maxRestoredBy = 256

// EncodeRestored returns the line of a restoration, or "" without one.
func EncodeRestored(r ledger.Restoration) string {
	if r == (ledger.Restoration{}) {
		return ""
	}
	line := fmt.Sprintf("%s: %s %d", trailerRestored, r.ID, r.Clock)
	if r.By != "" {
		line += " " + quoteTrailer(r.By)
	}
	return line + "\n"
}

// DecodeRestored returns the restoration in the message of a ledger commit. An invalid trailer is
// none.
func DecodeRestored(message string) (r ledger.Restoration) {
	_, trailers := splitMessage(message)
	for line := range strings.Lines(trailers) {
		value, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), trailerRestored+": ")
		if !ok {
			continue
		}
		f := strings.SplitN(value, " ", 3)
		if len(f) < 2 {
			return ledger.Restoration{}
		}
		id, err := checkpoint.ParseID(f[0])
		clock, ok := checkpoint.ParseClock(f[1])
		if err != nil || !ok || clock.IsLast() { // no save could end it
			return ledger.Restoration{}
		}
		r = ledger.Restoration{ID: id, Clock: clock}
		if len(f) == 3 {
			if r.By, err = unquoteTrailer(f[2]); err != nil || len(r.By) > maxRestoredBy {
				r.By = ""
			}
		}
	}
	return r
}

// restoration returns the newest restoration of the ledger commits above the newest
// checkpoint. A ledger commit of an earlier version, such as that of a pin, has no statement.
func (c *Chain) restoration() (newest ledger.Restoration) {
	for i := range c.Commits {
		l := &c.Commits[i]
		switch {
		case l.Ledger:
			if r := DecodeRestored(l.Raw.Message); r.Clock > newest.Clock {
				newest = r
			}
		case l.ID != "" && !l.Gone:
			if newest.Clock <= l.Clock {
				return ledger.Restoration{}
			}
			return newest
		}
	}
	return newest
}

// restorationAt returns the newest restoration of the ledger commits at the end of a chain.
func restorationAt(tip plumbing.Hash, k *repo.ObjectWriter) (newest ledger.Restoration) {
	for !tip.IsZero() {
		data, err := trees.ReadAs(k, plumbing.CommitObject, tip)
		if err != nil {
			return newest
		}
		c, err := repo.ParseCommit(tip, data)
		if err != nil || !IsLedger(c) {
			return newest
		}
		if r := DecodeRestored(c.Message); r.Clock > newest.Clock {
			newest = r
		}
		tip = c.Parents[0]
	}
	return newest
}

// A Point is the checkpoint from which the work on an issue goes on: the newest one, or the
// one to which a person went back.
type Point struct {
	*Checkpoint
	By    string       // name of the person who went back, "" if unknown
	At    time.Time    // time of the restore, zero if the checkpoint is the newest
	Later []Checkpoint // checkpoints after the restored one, newest first
}

// WentBack reports whether a person restored the checkpoint, so that later ones were left.
func (p *Point) WentBack() bool { return p != nil && !p.At.IsZero() }

// Point returns the checkpoint from which the work goes on, or *NoneError. If the restored
// checkpoint is no longer in the chain, it is the newest one.
func (s *Chains) Point(ctx context.Context, issue checkpoint.Issue) (*Point, error) {
	c, err := s.ReadChain(ctx, issue, repo.LiveRef(issue), 1)
	if err == nil && c.Ledger.Restored.ID != "" && c.Newest() != nil && c.Newest().ID != c.Ledger.Restored.ID {
		c, err = s.ReadChain(ctx, issue, repo.LiveRef(issue), 0)
	}
	if err != nil {
		return nil, err
	}
	if err := c.CheckBoundary(); err != nil {
		return nil, err
	}
	if p := c.Point(); p != nil {
		return p, nil
	}
	return nil, &repo.NoneError{Issue: issue}
}

// Point returns the checkpoint from which the work goes on, or nil for an empty chain. Only a
// chain that was read as far as the restored checkpoint finds it.
func (c *Chain) Point() *Point {
	list, r := c.Checkpoints(), c.Ledger.Restored
	for i := range list {
		if i > 0 && r.ID != "" && list[i].ID == r.ID {
			return &Point{Checkpoint: &list[i], By: r.By, At: time.Unix(0, int64(r.Clock)).UTC(), Later: list[:i]}
		}
	}
	if len(list) == 0 {
		return nil
	}
	return &Point{Checkpoint: &list[0]}
}

// SetPoint records that a person went back to a checkpoint of the chain, or to the newest
// one. The next save in this worktree starts from the record of that checkpoint. If from is
// not "", SetPoint does nothing unless from is the point now. It reports whether the point has
// moved. Without a change it writes nothing.
func (s *Chains) SetPoint(ctx context.Context, issue checkpoint.Issue, from, to checkpoint.ID) (moved bool, err error) {
	isNewest := false
	err = s.Alter(ctx, issue, func(c *Chain, _ *repo.ObjectWriter) (*Change, error) {
		p := c.Point()
		moved = p != nil && p.ID != to && (from == "" || p.ID == from) && to != "" && c.Visible()[to] != nil
		if !moved {
			return nil, nil
		}
		isNewest = c.Newest().ID == to
		by := strings.ToValidUTF8(s.repo.Author(), "?")
		if len(s.repo.Author()) > maxRestoredBy {
			by = ""
		}
		return &Change{Verb: "restore", Ids: []checkpoint.ID{to}, Ledger: func(l *ledger.Ledger) {
			l.SetRestored(to, by, c.NewestClock(), s.repo.Now())
		}}, nil
	})
	switch {
	case err != nil || !moved:
		return false, err
	case isNewest:
		return true, s.ForgetResumed(issue)
	}
	return true, s.repo.WriteFile(s.ResumedFile(issue), Resumption{ID: to}.Encode())
}
