package chain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// A Resumption is the state of a resume in this worktree until the next save. That save
// starts from the resumed record and includes these fields.
type Resumption struct {
	ID       checkpoint.ID
	Times    int  // number of consecutive resumes of this checkpoint
	Retries  int  // number of resumes that restarted the phase
	Stale    bool // the checkpoint was stale, but was resumed anyway
	Approved []Approval
}

// An Approval is a person's approval of a phase.
type Approval struct {
	Phase string
	At    time.Time
}

// ResumedFile returns the file that stores a resumption. The first line is the id; each
// further line is a field.
//
//	CP-implementing-20260214T143000Z-1f0c9a2b
//	times 2
//	retries 1
//	stale
//	approved 2026-02-14T14:30:00Z "design"
func (s *Chains) ResumedFile(i checkpoint.Issue) string {
	return filepath.Join(s.repo.StateDir(), "resumed", i.RefName())
}

// ResumeOptions describe a resume.
type ResumeOptions struct {
	Retry    bool // the phase restarts
	Stale    bool // the checkpoint is stale
	Approved []Approval
}

// SetResumed records a resume of a checkpoint in this worktree. Repeated resumes without
// a save in between increment the counters. If a person went back to another checkpoint, the
// work now goes on from c.
func (s *Chains) SetResumed(c *Checkpoint, o ResumeOptions) error {
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
	if o.Retry {
		r.Retries++
	}
	r.Stale = r.Stale || o.Stale
	for _, a := range o.Approved {
		if !slices.ContainsFunc(r.Approved, func(b Approval) bool { return b.Phase == a.Phase }) {
			r.Approved = append(r.Approved, a)
		}
	}
	return s.repo.WriteFile(s.ResumedFile(c.Issue), r.Encode())
}

// Resumed returns the state of the checkpoint's resumes in this worktree since the last
// save.
func (s *Chains) Resumed(c *Checkpoint) Resumption {
	if r := s.ReadResumed(c.Issue); r.ID != "" && r.ID == c.ID {
		return r
	}
	return Resumption{ID: c.ID}
}

func (s *Chains) ForgetResumed(i checkpoint.Issue) error {
	err := os.Remove(s.ResumedFile(i))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ReadResumed returns the resumption of an issue. The result is empty if the file is
// missing or invalid.
func (s *Chains) ReadResumed(i checkpoint.Issue) Resumption {
	data, err := os.ReadFile(s.ResumedFile(i))
	if err != nil {
		return Resumption{}
	}
	return DecodeResumption(string(data))
}

// LastResumed returns the checkpoint that was resumed in this worktree, or nil if there is no
// such checkpoint.
func (s *Chains) LastResumed(i checkpoint.Issue) (*Checkpoint, Resumption) {
	r := s.ReadResumed(i)
	if r.ID == "" {
		return nil, r
	}
	c, err := s.ByID(context.Background(), i, r.ID)
	if err != nil {
		return nil, r
	}
	return c, r
}

func (r Resumption) Encode() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\ntimes %d\nretries %d\n", r.ID, r.Times, r.Retries)
	if r.Stale {
		b.WriteString("stale\n")
	}
	for _, a := range r.Approved {
		fmt.Fprintf(&b, "approved %s %s\n", a.At.UTC().Format(time.RFC3339Nano), strconv.Quote(a.Phase))
	}
	return []byte(b.String())
}

func DecodeResumption(text string) Resumption {
	lines := strings.Split(text, "\n")
	id, err := checkpoint.ParseID(strings.TrimSpace(lines[0]))
	if err != nil {
		return Resumption{}
	}
	r := Resumption{ID: id, Times: 1}
	for _, line := range lines[1:] {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "times":
			r.Times, _ = strconv.Atoi(value)
		case "retries":
			r.Retries, _ = strconv.Atoi(value)
		case "stale":
			r.Stale = true
		case "approved":
			at, phase, _ := strings.Cut(value, " ")
			when, err := time.Parse(time.RFC3339Nano, at)
			name, quoteErr := strconv.Unquote(phase)
			if err == nil && quoteErr == nil {
				r.Approved = append(r.Approved, Approval{name, when})
			}
		}
	}
	return r
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
