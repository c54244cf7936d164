package gitstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/objects"
	"git-checkpoint/gitstore/repository"
	"git-checkpoint/gitstore/trees"

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
// Objects that differ from their names are found as by git fsck.
func (s *Store) Verify(ctx context.Context, issue checkpoint.Issue) (*Report, error) {
	return s.verify(ctx, issue, true)
}

// Inspect is Verify without reading the files: it sees that they are there. A
// ref that leads nowhere is Examine's to find.
func (s *Store) Inspect(ctx context.Context, issue checkpoint.Issue) (*Report, error) {
	return s.verify(ctx, issue, false)
}

func (s *Store) verify(ctx context.Context, issue checkpoint.Issue, deep bool) (*Report, error) {
	s.noticeInterrupted(ctx, issue)
	v := &verifier{s: s, ctx: ctx, deep: deep, report: &Report{Issue: issue}, seen: map[plumbing.Hash]bool{}, ids: map[checkpoint.ID]foundAt{}}
	for _, ref := range []string{LiveRef(issue), ArchiveRef(issue)} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v.chain(ref)
	}
	return v.report, nil
}

type verifier struct {
	s      *Store
	ctx    context.Context
	deep   bool // read every blob, too
	report *Report
	seen   map[plumbing.Hash]bool // trees and blobs that were read
	ids    map[checkpoint.ID]foundAt
	lacks  map[string]error // by checkpoint: why a partial clone could not fetch a part of it

	exhausted error // a lack of memory or file descriptors, so that nothing is known
}

// fault reports err about a checkpoint. What a partial clone cannot fetch is no
// damage: a checkpoint gets one warning.
func (v *verifier) fault(name, part string, err error) {
	p, lacked := errors.AsType[*PromisedError](err)
	switch {
	case !lacked:
		v.errorf("%s: %s%v", name, part, err)
	case v.lacks[name] == nil:
		if v.lacks == nil {
			v.lacks = map[string]error{}
		}
		v.lacks[name] = p
		v.warnf("%s: not all of it could be looked at: %v", name, p)
	}
}

// foundAt is the place of a checkpoint.
type foundAt struct {
	ref    string
	commit plumbing.Hash
}

func (v *verifier) errorf(format string, args ...any) {
	for _, a := range args {
		if err, ok := a.(error); ok {
			v.notice(err)
		}
	}
	v.report.Errors = append(v.report.Errors, fmt.Sprintf(format, args...))
}

func (v *verifier) notice(err error) {
	if v.exhausted == nil && isExhausted(err) {
		v.exhausted = err
	}
}

func (v *verifier) warnf(format string, args ...any) {
	v.report.Warnings = append(v.report.Warnings, fmt.Sprintf(format, args...))
}

func (v *verifier) chain(ref string) {
	c, err := v.s.readChain(v.ctx, v.report.Issue, ref, 0)
	if !v.deep && errors.As(err, new(*BrokenRefError)) {
		return
	}
	if err != nil {
		v.errorf("%v", err)
		return
	}
	if c.unread != nil {
		v.warnf("the newest ledger could not be looked at: %v", c.unread)
	}
	switch {
	case c.cut:
		v.warnf("%s: history is cut at a shallow boundary", ref)
	case !c.rooted:
		v.errorf("%s: it does not end in the genesis commit of issue %s", ref, c.issue)
	}
	for i := range c.commits {
		v.s.progress(i, len(c.commits))
		l := &c.commits[i]
		if l.ledger {
			continue
		}
		v.report.Checked++
		if ref == LiveRef(c.issue) && c.ledger.Dead(l.ID) {
			v.warnf("%s: it is in the chain, and gone by the ledger", l.name())
		}
		v.checkpoint(ref, l)
	}
}

// checkpoint judges one commit with all it points to.
func (v *verifier) checkpoint(ref string, l *chainCommit) {
	if !l.Valid() {
		v.errorf("%s: %s", l.name(), l.Problem)
	}
	if other, ok := v.ids[l.ID]; ok && l.ID != "" {
		switch {
		case other.ref == ref:
			v.errorf("%s: two commits have this id, %s and %s", l.ID, other.commit, l.Commit)
		case v.deep: // else it is Examine's to find
			v.errorf("%s: it is in the chain and in the archive: git checkpoint doctor --fix", l.ID)
		}
	}
	v.ids[l.ID] = foundAt{ref, l.Commit}
	if _, err := v.intact(plumbing.CommitObject, l.Commit); err != nil {
		v.fault(l.name(), "", err)
	}
	switch {
	case v.s.isBoundary(l.Commit): // its parents were not fetched
	case len(l.commit.parents) == 2:
		v.indexCommit(l)
	default:
		v.errorf("%s: it has no index commit", l.name())
	}
	named := len(v.report.Errors)
	v.tree(l.name(), "", l.Tree)
	r, err := v.s.Record(&l.Checkpoint)
	switch {
	case errors.As(err, new(*PromisedError)):
		v.fault(l.name(), "", err)
		return
	case err != nil:
		v.errorf("%v", err)
		return
	}
	if len(v.report.Errors) == named {
		v.snapshot(&l.Checkpoint, r)
	}
	v.agree(l, r)
	v.head(l, r)
	if err := unordered(r); err != nil {
		v.errorf("%s: %v", l.ID, err)
	}
	for _, p := range r.Validate() {
		if text := fmt.Sprintf("%s: %s: %s", l.ID, p.Path, p.Msg); p.Warning {
			v.warnf("%s", text)
		} else {
			v.errorf("%s", text)
		}
	}
}

// indexCommit checks the commit that holds staged/ and HEAD.
func (v *verifier) indexCommit(l *chainCommit) {
	c, err := v.s.readCommit(l.commit.parents[1])
	if err != nil {
		v.fault(l.name(), "index commit: ", err)
		return
	}
	entries, err := trees.Read(v.s.objects, l.Tree)
	if errors.As(err, new(*PromisedError)) {
		v.fault(l.name(), "", err)
	} else if e, ok := trees.Find(entries, "staged"); !ok || e.Hash != c.tree {
		v.errorf("%s: staged/ is not the tree of the index commit %s", l.name(), c.hash)
	}
	for _, parent := range c.parents {
		if _, err := v.s.readCommit(parent); err != nil && !v.s.repo.Shallow {
			v.fault(l.name(), "HEAD at the save: ", err)
		}
	}
}

// agree checks the trailers against the record, which is the truth.
func (v *verifier) agree(l *chainCommit, r *checkpoint.Record) {
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

// head checks that the commit which the record calls HEAD is the one that the
// chain keeps alive.
func (v *verifier) head(l *chainCommit, r *checkpoint.Record) {
	if len(l.commit.parents) != 2 {
		return
	}
	c, err := v.s.readCommit(l.commit.parents[1])
	if err != nil {
		return // named already
	}
	kept := ""
	if len(c.parents) > 0 {
		kept = c.parents[0].String()
	}
	if head := r.Snapshot().Head; head != kept {
		v.errorf("%s: HEAD is %q in the record and %q below the index commit", l.ID, head, kept)
	}
}

// snapshot judges the trees together, as a restore does: each may be sound, and
// a path stand in two of them. What they build on may not be here.
func (v *verifier) snapshot(c *Checkpoint, r *checkpoint.Record) {
	st, err := v.s.snapshotOf(c, r)
	if err != nil {
		v.notice(err)
		return // named already
	}
	if _, err := v.s.targets(st); err != nil {
		v.fault(c.name(), "", err)
	}
}

// intact reads an object and compares it with its name.
func (v *verifier) intact(kind plumbing.ObjectType, hash plumbing.Hash) ([]byte, error) {
	data, err := trees.ReadAs(v.s.objects, kind, hash)
	if err == nil && plumbing.ComputeHash(kind, data) != hash {
		err = corrupt(fmt.Sprintf("%s %s", kind, hash), "its content has another hash")
	}
	return data, err
}

// maxPath is longer than a path may be anywhere that git runs but on Windows,
// where git itself stops there.
const maxPath = 4096

// tree reads everything below a tree once, and judges its names.
func (v *verifier) tree(name, dir string, hash plumbing.Hash) {
	if v.seen[hash] || hash == trees.Empty {
		return
	}
	v.seen[hash] = true
	var entries []trees.Entry
	data, err := v.intact(plumbing.TreeObject, hash)
	if err == nil {
		entries, err = trees.Parse(data)
	}
	if err != nil {
		v.fault(name, first(dir, "/")+": ", err)
		return
	}
	for _, e := range entries {
		path := dir + e.Name
		switch {
		case len(path) > maxPath:
			v.errorf("%s: a path of %d bytes: %.100q...", name, len(path), path)
		case strings.Contains(e.Name, "/") || trees.CheckPath(e.Name, e.Mode) != nil:
			v.errorf("%s: %q is no name for a file", name, path)
		case e.Mode == trees.ModeGitlink:
		case e.IsTree():
			v.tree(name, path+"/", e.Hash)
		case !v.seen[e.Hash]:
			v.seen[e.Hash] = true
			v.blob(name, path, e.Hash)
		}
	}
}

// blob checks a file. A partial clone may be without it.
func (v *verifier) blob(name, path string, hash plumbing.Hash) {
	if !v.s.objects.Has(hash) {
		if !repository.Partial(v.s.config) {
			v.errorf("%s: %s: blob %s is missing", name, path, hash)
		}
		return
	}
	if !v.deep {
		return
	}
	_, err := v.intact(plumbing.BlobObject, hash)
	if errors.Is(err, objects.ErrTooLarge) {
		err = v.largeIntact(hash)
	}
	if err != nil {
		v.fault(name, path+": ", err)
	}
}

// largeIntact is intact for a blob that no memory should hold.
func (v *verifier) largeIntact(hash plumbing.Hash) error {
	size, err := v.s.objects.Size(hash)
	if err != nil {
		return err
	}
	h := plumbing.NewHasher(plumbing.BlobObject, size)
	if err := v.s.git.Copy(v.ctx, h, "cat-file", "blob", hash.String()); err != nil {
		return err
	}
	if h.Sum() != hash {
		return corrupt("blob "+hash.String(), "its content has another hash")
	}
	return nil
}

// complete fails when something a restore of c would need is missing, or when
// it would refuse what is there.
func (s *Store) complete(ctx context.Context, c *Checkpoint, r *checkpoint.Record) error {
	v := &verifier{s: s, ctx: ctx, report: &Report{Issue: c.Issue}, seen: map[plumbing.Hash]bool{}, ids: map[checkpoint.ID]foundAt{}}
	v.tree(c.name(), "", c.Tree)
	v.snapshot(c, r)
	if err := v.lacks[c.name()]; err != nil {
		return lacked(c.Issue, c.name(), err)
	}
	if v.exhausted != nil {
		return v.exhausted
	}
	if len(v.report.Errors) > 0 {
		return corrupt(c.name(), "%s", v.report.Errors[0])
	}
	return nil
}

// NewestValid returns the newest checkpoint whose record can be read and gone on
// with, and the record. It fails with *NoneError when there is no checkpoint, with
// *CorruptError when none is valid. It also fails if a record cannot be read for a
// lack of memory or file descriptors: an older checkpoint is not the newest then.
func (s *Store) NewestValid(ctx context.Context, issue checkpoint.Issue) (*Checkpoint, *checkpoint.Record, error) {
	l, err := s.List(ctx, issue, 0)
	if err != nil {
		return nil, nil, err
	}
	for i := range l.Checkpoints {
		c := &l.Checkpoints[i]
		r, err := s.ValidRecord(c)
		if err == nil {
			err = s.complete(ctx, c, r)
		}
		switch {
		case err == nil && unordered(r) == nil:
			return c, r, nil
		case isExhausted(err):
			return nil, nil, fmt.Errorf("read %s: %w", c.ID, err)
		}
	}
	if len(l.Checkpoints) == 0 {
		return nil, nil, &NoneError{Issue: issue}
	}
	return nil, nil, corrupt("issue "+string(issue), "no valid checkpoint is left of %d", len(l.Checkpoints))
}
