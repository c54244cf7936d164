package checkpoint

import (
	"slices"

	"git-checkpoint/gitstore/checkpoint/document"
)

// IssueSnapshot is the state of the issue at the save. Known reports whether the record
// has more than the branch.
type IssueSnapshot struct {
	Title, Body string
	BodyDigest  string // body_digest, replaces a body that is not stored
	Labels      []string
	Assignees   []string
	State       string // open or closed
	Source      string // origin of the data
	Known       bool
}

// Branch returns issue_snapshot.branch, "" for a detached HEAD.
func (r *Record) Branch() string { return document.TextOf(r.section("issue_snapshot"), "branch") }

// SetBranch sets issue_snapshot.branch; a detached HEAD ("") becomes null.
func (r *Record) SetBranch(s string) {
	var v any
	if s != "" {
		v = s
	}
	r.mustSection("issue_snapshot").Set("branch", v)
}

// IssueSnapshot returns issue_snapshot. Labels have their original order if recorded.
func (r *Record) IssueSnapshot() IssueSnapshot {
	m := r.section("issue_snapshot")
	s := IssueSnapshot{
		Title:      document.TextOf(m, "title"),
		Body:       document.TextOf(m, "body"),
		BodyDigest: document.TextOf(m, "body_digest"),
		Labels:     document.TextsOf(m, "labels"),
		Assignees:  document.TextsOf(m, "assignees"),
		State:      document.TextOf(m, "state"),
		Source:     document.TextOf(m, "source"),
	}
	if order := document.TextsOf(m, "labels_order"); sameSet(order, s.Labels) {
		s.Labels = order
	}
	for _, key := range []string{"title", "body", "body_digest", "labels", "assignees"} {
		v, _ := m.Get(key)
		s.Known = s.Known || v != nil
	}
	return s
}

// SetIssueSnapshot replaces issue_snapshot, except its branch and unknown keys. If s is
// not Known, only these remain.
func (r *Record) SetIssueSnapshot(s IssueSnapshot) {
	m := r.mustSection("issue_snapshot")
	for _, key := range []string{"title", "body", "body_digest", "labels", "assignees", "labels_order", "state", "source"} {
		m.Delete(key)
	}
	if !s.Known {
		return
	}
	m.Set("title", s.Title)
	if s.BodyDigest == "" || s.Body != "" {
		m.Set("body", s.Body)
	}
	setOrDelete(m, "body_digest", s.BodyDigest)
	sorted := slices.Sorted(slices.Values(s.Labels))
	m.Set("labels", sorted)
	m.Set("assignees", s.Assignees)
	if !slices.Equal(sorted, s.Labels) {
		m.Set("labels_order", s.Labels)
	}
	setOrDelete(m, "state", s.State)
	setOrDelete(m, "source", s.Source)
}

func sameSet(a, b []string) bool {
	return len(a) == len(b) && slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
