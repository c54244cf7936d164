package gitstore

import (
	"context"
	"fmt"
	"strings"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Report is what Verify found in one issue.
type Report struct {
	Issue    checkpoint.Issue
	Checked  int      // checkpoints
	Errors   []string // what breaks the stored form or a promise
	Warnings []string
}

// Verify reads everything an issue has stored, live and archived: commits,
// records, ledgers, trees and blobs. What it cannot read or what breaks the
// stored form is in the report; the error is for what kept it from looking.
func (s *Store) Verify(ctx context.Context, issue checkpoint.Issue) (*Report, error) {
	v := &verifier{s: s, report: &Report{Issue: issue}, seen: map[plumbing.Hash]bool{}, ids: map[checkpoint.ID]plumbing.Hash{}}
	for _, ref := range []string{LiveRef(issue), ArchiveRef(issue)} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v.chain(ctx, ref)
	}
	return v.report, nil
}

type verifier struct {
	s      *Store
	report *Report
	seen   map[plumbing.Hash]bool // trees and blobs that were read
	ids    map[checkpoint.ID]plumbing.Hash
}

func (v *verifier) errorf(format string, args ...any) {
	v.report.Errors = append(v.report.Errors, fmt.Sprintf(format, args...))
}

func (v *verifier) warnf(format string, args ...any) {
	v.report.Warnings = append(v.report.Warnings, fmt.Sprintf(format, args...))
}

func (v *verifier) chain(ctx context.Context, ref string) {
	c, err := v.s.readChain(ctx, v.report.Issue, ref, 0)
	if err != nil {
		v.errorf("%v", err)
		return
	}
	switch {
	case c.cut:
		v.warnf("%s: history is cut at a shallow boundary", ref)
	case !c.rooted:
		v.errorf("%s: it does not end in the genesis commit of issue %s", ref, c.issue)
	}
	for i := range c.links {
		l := &c.links[i]
		if l.ledger {
			continue
		}
		v.report.Checked++
		if ref == LiveRef(c.issue) && c.ledger.Dead(l.ID) {
			v.warnf("%s: it is in the chain, and gone by the ledger", l.name())
		}
		v.checkpoint(l)
	}
}

// checkpoint judges one commit with all it points to.
func (v *verifier) checkpoint(l *link) {
	if !l.Valid() {
		v.errorf("%s: %s", l.name(), l.Problem)
	}
	if other, ok := v.ids[l.ID]; ok && l.ID != "" {
		v.errorf("%s: two commits have this id, %s and %s", l.ID, other, l.Commit)
	}
	v.ids[l.ID] = l.Commit
	if len(l.commit.parents) == 2 {
		v.indexCommit(l)
	}
	v.tree(l.name(), "", l.Tree)
	r, err := v.s.Record(&l.Checkpoint)
	if err != nil {
		v.errorf("%v", err)
		return
	}
	v.agree(l, r)
	for _, p := range r.Validate() {
		if text := fmt.Sprintf("%s: %s: %s", l.ID, p.Path, p.Msg); p.Warning {
			v.warnf("%s", text)
		} else {
			v.errorf("%s", text)
		}
	}
}

// indexCommit checks the commit that holds staged/ and HEAD.
func (v *verifier) indexCommit(l *link) {
	c, err := v.s.readCommit(l.commit.parents[1])
	if err != nil {
		v.errorf("%s: index commit: %v", l.name(), err)
		return
	}
	entries, _ := readTree(v.s.objects, l.Tree)
	if e, ok := entry(entries, "staged"); !ok || e.hash != c.tree {
		v.errorf("%s: staged/ is not the tree of the index commit %s", l.name(), c.hash)
	}
	for _, parent := range c.parents {
		if _, err := v.s.readCommit(parent); err != nil && !v.s.repo.shallow {
			v.errorf("%s: HEAD at the save: %v", l.name(), err)
		}
	}
}

// agree checks the trailers against the record, which is the truth.
func (v *verifier) agree(l *link, r *checkpoint.Record) {
	for _, f := range []struct{ name, trailer, record string }{
		{"checkpoint_id", string(l.ID), string(r.ID())},
		{"trigger", string(l.Trigger), string(r.Trigger())},
		{"current_phase", l.Phase, r.Phase()},
		{"branch", l.Branch, r.Branch()},
		{"issue_number", string(l.Issue), string(r.Issue())},
		{"clock", l.Clock.String(), r.Clock().String()},
		{"can_resume", fmt.Sprint(l.Resumable), fmt.Sprint(r.CanResume())},
	} {
		if f.trailer != f.record {
			v.errorf("%s: %s is %q in the record and %q in the commit", l.ID, f.name, f.record, f.trailer)
		}
	}
}

// tree reads everything below a tree once, and judges its names.
func (v *verifier) tree(name, dir string, hash plumbing.Hash) {
	if v.seen[hash] {
		return
	}
	v.seen[hash] = true
	entries, err := readTree(v.s.objects, hash)
	if err != nil {
		v.errorf("%s: %s: %v", name, first(dir, "/"), err)
		return
	}
	for _, e := range entries {
		path := dir + e.name
		switch {
		case strings.Contains(e.name, "/") || checkPath(e.name, e.mode) != nil:
			v.errorf("%s: %q is no name for a file", name, path)
		case e.mode == modeGitlink:
		case e.isTree():
			v.tree(name, path+"/", e.hash)
		case !v.seen[e.hash]:
			v.seen[e.hash] = true
			if !v.s.objects.Has(e.hash) {
				v.errorf("%s: %s: blob %s is missing", name, path, e.hash)
			}
		}
	}
}

// complete fails when something a restore of c would need is missing.
func (s *Store) complete(c *Checkpoint) error {
	v := &verifier{s: s, report: &Report{Issue: c.Issue}, seen: map[plumbing.Hash]bool{}, ids: map[checkpoint.ID]plumbing.Hash{}}
	v.tree(c.name(), "", c.Tree)
	if len(v.report.Errors) > 0 {
		return corrupt(c.name(), "%s", v.report.Errors[0])
	}
	return nil
}
