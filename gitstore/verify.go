package gitstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Report is the result of Verify for one issue.
type Report struct {
	Issue    checkpoint.Issue
	Checked  int      // number of checkpoints
	Errors   []string // violations of the stored form or of a guarantee
	Warnings []string
}

// Verify reads all stored objects of an issue, live and archived: commits, records,
// ledgers, trees and blobs. The report contains unreadable objects and violations of the
// stored form. The error reports that Verify itself could not continue. Like git fsck,
// Verify detects objects whose content does not match their id.
func (s *Store) Verify(ctx context.Context, issue checkpoint.Issue) (*Report, error) {
	return s.verify(ctx, issue, true)
}

// Inspect is Verify without reading blobs; it only checks that they exist. Examine
// reports refs that point to missing commits.
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
	deep   bool // also read every blob
	report *Report
	seen   map[plumbing.Hash]bool // trees and blobs that were read
	ids    map[checkpoint.ID]foundAt
	lacks  map[string]error // by checkpoint: error of an object that a partial clone could not fetch

	exhausted error // a lack of memory or file descriptors, so that the result is unknown
}

// fault reports err about a checkpoint. An object that a partial clone cannot fetch is no
// damage: the checkpoint gets one warning.
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

// A foundAt is the location of a checkpoint.
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

// checkpoint checks one commit and all objects that it refers to.
func (v *verifier) checkpoint(ref string, l *chainCommit) {
	if !l.Valid() {
		v.errorf("%s: %s", l.name(), l.Problem)
	}
	if other, ok := v.ids[l.ID]; ok && l.ID != "" {
		switch {
		case other.ref == ref:
			v.errorf("%s: two commits have this id, %s and %s", l.ID, other.commit, l.Commit)
		case v.deep: // otherwise Examine reports it
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

// indexCommit checks the commit that connects staged/ with HEAD.
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

// agree compares trailers with the authoritative record.
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

// head checks that HEAD in the record equals the parent of the index commit, which the
// chain protects from gc.
func (v *verifier) head(l *chainCommit, r *checkpoint.Record) {
	if len(l.commit.parents) != 2 {
		return
	}
	c, err := v.s.readCommit(l.commit.parents[1])
	if err != nil {
		return // reported already
	}
	kept := ""
	if len(c.parents) > 0 {
		kept = c.parents[0].String()
	}
	if head := r.Snapshot().Head; head != kept {
		v.errorf("%s: HEAD is %q in the record and %q below the index commit", l.ID, head, kept)
	}
}

// snapshot checks the trees together, as a restore does. Each tree may be valid, and
// still two trees may contain the same path. The commits below the trees may be missing
// in this clone.
func (v *verifier) snapshot(c *Checkpoint, r *checkpoint.Record) {
	st, err := v.s.snapshotOf(c, r)
	if err != nil {
		v.notice(err)
		return // reported already
	}
	if _, err := v.s.targets(st); err != nil {
		v.fault(c.name(), "", err)
	}
}

// intact reads an object and compares its content with its id.
func (v *verifier) intact(kind plumbing.ObjectType, hash plumbing.Hash) ([]byte, error) {
	data, err := trees.ReadAs(v.s.objects, kind, hash)
	if err == nil && plumbing.ComputeHash(kind, data) != hash {
		err = corrupt(fmt.Sprintf("%s %s", kind, hash), "its content has another hash")
	}
	return data, err
}

// maxPath is the longest possible path on all systems with git except Windows, which git
// limits itself.
const maxPath = 4096

// tree reads all objects below a tree once, and checks entry names.
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

// blob checks a file. A partial clone may lack it.
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
	if errors.Is(err, odb.ErrTooLarge) {
		err = v.largeIntact(hash)
	}
	if err != nil {
		v.fault(name, path+": ", err)
	}
}

// largeIntact is intact for a blob that is too large for memory.
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

// complete fails if objects for a restore of c are missing, or if a restore would refuse
// them.
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

// NewestValid returns the newest checkpoint with a valid record, from which work can
// continue, and this record. It fails with *NoneError if there is no checkpoint, and with
// *CorruptError if no checkpoint is valid. It also fails if memory or file descriptors
// run out: then an older checkpoint would be the wrong result.
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
