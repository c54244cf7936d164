package chain

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
)

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
