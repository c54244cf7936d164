package chain

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/repo"
)

// position returns the position that counts: the newest one, unless the newest checkpoint has the
// same or a later clock. A clock more than a day ahead does not count, because no save would end it.
func (c *Chain) position(now time.Time) ledger.Position {
	newest := c.Newest()
	if newest == nil {
		return ledger.Position{}
	}
	p := c.Ledger.Position(max(checkpoint.ClockAt(now), newest.Clock) + checkpoint.Clock(checkpoint.MaxAhead))
	if p.Clock <= newest.Clock {
		return ledger.Position{}
	}
	return p
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
	if err == nil && c.Restored.ID != "" && c.Newest() != nil && c.Newest().ID != c.Restored.ID {
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
	list, r := c.Checkpoints(), c.Restored
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
		return &Change{Verb: "restore", Ids: []checkpoint.ID{to}, Ledger: func(l *ledger.Ledger) {
			l.SetPosition(to, by, c.NewestClock(), s.repo.Now())
		}}, nil
	})
	switch {
	case err != nil || !moved:
		return false, err
	case isNewest:
		return true, s.ForgetResumed(issue)
	}
	return true, s.writeResumed(issue, Resumption{ID: to})
}

// A Resumption is the state of a resume in this worktree until the next save.
type Resumption struct {
	ID       checkpoint.ID `json:"checkpoint_id"`
	Times    int           `json:"times"`   // number of consecutive resumes of this checkpoint
	Retries  int           `json:"retries"` // number of resumes that restarted the phase
	Stale    bool          `json:"stale"`   // the checkpoint was stale, but was resumed anyway
	Approved []Approval    `json:"approved"`
}

// An Approval is a person's approval of a phase.
type Approval struct {
	Phase string    `json:"phase"`
	At    time.Time `json:"at"`
}

// ResumedFile returns the file that stores a resumption, as JSON.
func (s *Chains) ResumedFile(i checkpoint.Issue) string {
	return filepath.Join(s.repo.StateDir(), "resumed", i.RefName())
}

// SetResumed adds a resume of a checkpoint in this worktree to those since the last save. If a person went
// back to another checkpoint, the work now goes on from c.
func (s *Chains) SetResumed(c *Checkpoint, now Resumption) error {
	if c.ID == "" {
		return s.ForgetResumed(c.Issue)
	}
	if p, err := s.Point(context.Background(), c.Issue); err == nil && p.WentBack() {
		if _, err := s.SetPoint(context.Background(), c.Issue, p.ID, c.ID); err != nil {
			return err
		}
	}
	r := s.Resumed(c)
	r.Times++
	r.Retries += now.Retries
	r.Stale = r.Stale || now.Stale
	for _, a := range now.Approved {
		if !slices.ContainsFunc(r.Approved, func(b Approval) bool { return b.Phase == a.Phase }) {
			r.Approved = append(r.Approved, a)
		}
	}
	return s.writeResumed(c.Issue, r)
}

// Resumed returns the state of the checkpoint's resumes in this worktree since the last save.
func (s *Chains) Resumed(c *Checkpoint) Resumption {
	if r := s.ReadResumed(c.Issue); r.ID != "" && r.ID == c.ID {
		return r
	}
	return Resumption{ID: c.ID}
}

func (s *Chains) ForgetResumed(i checkpoint.Issue) error {
	return fsutil.IgnoreMissing(os.Remove(s.ResumedFile(i)))
}

// ReadResumed returns the resumption of an issue. The result is empty if the file is
// missing or invalid.
func (s *Chains) ReadResumed(i checkpoint.Issue) (r Resumption) {
	data, err := os.ReadFile(s.ResumedFile(i))
	if err != nil || json.Unmarshal(data, &r) != nil {
		return Resumption{}
	}
	if _, err := checkpoint.ParseID(string(r.ID)); err != nil {
		return Resumption{}
	}
	return r
}

// LastResumed returns the checkpoint that was resumed in this worktree, or nil if there is no
// such checkpoint.
func (s *Chains) LastResumed(i checkpoint.Issue) (*Checkpoint, Resumption) {
	r := s.ReadResumed(i)
	if r.ID == "" {
		return nil, r
	}
	c, _ := s.ByID(context.Background(), i, r.ID)
	return c, r
}

func (s *Chains) writeResumed(i checkpoint.Issue, r Resumption) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return s.repo.WriteFile(s.ResumedFile(i), data)
}

// Apply adds the decisions of the resume to the record from which a save starts.
func (r Resumption) Apply(record *checkpoint.Record) {
	if r.Retries > 0 {
		record.SetPhaseAttempt(max(record.PhaseAttempt(), 1) + r.Retries)
	}
	if r.Stale {
		record.SetResumedStale()
	}
	for _, a := range r.Approved {
		record.Approve(a.Phase, a.At)
	}
}
