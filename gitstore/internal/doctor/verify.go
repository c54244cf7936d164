package doctor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Report is the result of Verify for one issue.
type Report struct {
	Issue    checkpoint.Issue
	Checked  int      // number of checkpoints
	Errors   []string // violations of the stored form or of a guarantee
	Warnings []string
	Broken   []string        // checkpoints that a restore refuses: ids, and commits if an id has several contents
	Lost     []plumbing.Hash // objects that are missing or damaged in this clone

	BrokenRef bool // the ref of the chain or of the archive points to no existing commit
}

// A Verification verifies issues one after the other. It reads a sound object once, even if
// several issues have the object. A command uses a new Verification for each run, because a
// Verification does not find damage that occurs after its read.
type Verification struct {
	doctor *Doctor
	deep   bool                   // also read every blob; otherwise only find out whether it exists
	sound  map[plumbing.Hash]bool // trees and blobs without a fault in or below them
}

// Verification returns a new Verification.
func (s *Doctor) Verification() *Verification {
	return &Verification{doctor: s, deep: true, sound: map[plumbing.Hash]bool{}}
}

// Verify reads all stored objects of an issue, live and archived: commits, records,
// ledgers, trees and blobs. The report contains unreadable objects and violations of the
// stored form. The error reports that Verify itself could not continue. Like git fsck,
// Verify detects objects whose content does not match their id.
func (n *Verification) Verify(ctx context.Context, issue checkpoint.Issue) (*Report, error) {
	defer n.doctor.repo.Objects.Hold(false)
	v := n.verifier(ctx, issue)
	for _, ref := range []string{repo.LiveRef(issue), repo.ArchiveRef(issue)} {
		v.chain(ref)
	}
	for _, a := range v.alike {
		if a.count > 1 {
			v.report.Warnings[a.index] += fmt.Sprintf(" (%d times)", a.count)
		}
	}
	return v.report, ctx.Err()
}

func (n *Verification) verifier(ctx context.Context, issue checkpoint.Issue) *verifier {
	return &verifier{
		Verification: n, repo: n.doctor.repo, ctx: ctx, report: &Report{Issue: issue},
		seen: map[plumbing.Hash]bool{}, ledgers: map[plumbing.Hash]bool{}, ids: map[checkpoint.ID][]foundAt{}, alike: map[string]*alike{}, lacks: map[string]error{},
	}
}

type verifier struct {
	*Verification
	repo    *repo.Repo
	ctx     context.Context
	report  *Report
	seen    map[plumbing.Hash]bool // trees and blobs of this issue that were checked
	ledgers map[plumbing.Hash]bool // likewise
	ids     map[checkpoint.ID][]foundAt
	lacks   map[string]error  // by checkpoint: error of an object that a partial clone could not fetch
	alike   map[string]*alike // warnings about records, by kind

	exhausted error // a lack of memory or file descriptors, so that the result is unknown
}

type foundAt struct {
	ref     string
	commit  plumbing.Hash
	content string
}

// An alike counts the warnings of one kind. Only the first is in the report.
type alike struct{ index, count int }

func (v *verifier) errorf(format string, args ...any) {
	for _, a := range args {
		if err, ok := a.(error); ok {
			v.notice(err)
		}
	}
	v.report.Errors = append(v.report.Errors, fmt.Sprintf(format, args...))
}

// notice notes a lack of resources and the object that an error is about.
func (v *verifier) notice(err error) {
	if v.exhausted == nil && odb.IsOfSystem(err) {
		v.exhausted = err
	}
	if e, ok := errors.AsType[*repo.CorruptError](err); ok && v.exhausted == nil && !e.Lost.IsZero() && !slices.Contains(v.report.Lost, e.Lost) {
		v.report.Lost = append(v.report.Lost, e.Lost)
	}
}

func (v *verifier) warnf(format string, args ...any) {
	v.report.Warnings = append(v.report.Warnings, fmt.Sprintf(format, args...))
}

// fault reports err about a checkpoint. An object that a partial clone cannot fetch is no
// damage: the checkpoint gets one warning.
func (v *verifier) fault(name, part string, err error) {
	p, lacked := errors.AsType[*repo.PromisedError](err)
	switch {
	case !lacked:
		v.errorf("%s: %s%v", name, part, err)
	case v.lacks[name] == nil:
		v.lacks[name] = p
		v.warnf("%s: not everything could be checked: %v; if no remote has it, git checkpoint sync in a clone that has it pushes it", name, p)
	}
}

// heldCommits is the number of commits of a chain whose trees are in memory at once.
const heldCommits = 500

func (v *verifier) chain(ref string) {
	c, err := v.doctor.chain.ReadChain(v.ctx, v.report.Issue, ref, 0)
	if err != nil {
		tip, refErr := v.repo.ReadRef(v.ctx, ref)
		isBroken := !odb.IsOfSystem(err) && (refErr != nil || !v.repo.Objects.Has(tip))
		v.report.BrokenRef = v.report.BrokenRef || isBroken && errors.As(err, new(*repo.CorruptError))
		v.errorf("%v", err)
		return
	}
	if c.Unread != nil {
		v.warnf("the newest ledger could not be checked: %v", c.Unread)
	}
	switch {
	case c.Cut:
		v.warnf("%s: history is cut at a shallow boundary", ref)
	case !c.Rooted:
		v.errorf("%s: it does not end in the genesis commit of issue %s", ref, c.Issue)
	}
	v.members(ref, c)
	var above *chain.ChainCommit
	for i := range c.Commits {
		if i%heldCommits == 0 {
			v.repo.Objects.Hold(true)
		}
		if v.ctx.Err() != nil {
			return
		}
		v.repo.Progress(i, len(c.Commits))
		l := &c.Commits[i]
		s := &subject{verifier: v, l: l, name: l.Name()}
		if l.Ledger {
			s.name = l.Raw.Hash.String()
			s.check(ledgerRules)
			continue
		}
		if above != nil && above.Valid() && l.Valid() && above.Stated < l.Clock {
			v.errorf("%s: its clock is before that of %s, below it", above.Name(), l.Name())
		}
		above = l
		v.report.Checked++
		if ref == repo.LiveRef(c.Issue) && c.Ledger.Dead(l.ID, l.Content) && !l.Gone {
			v.warnf("%s: it is in the chain, but the ledger lists it as removed", l.Name())
		}
		s.check(rules)
	}
}

func lost(kind plumbing.ObjectType, hash plumbing.Hash, err error) error {
	return &repo.CorruptError{Object: fmt.Sprintf("%s %s", kind, hash), Err: err, Lost: hash}
}

// maxPath is the longest possible path on all systems with git except Windows, which git
// limits itself.
const maxPath = 4096

// tree reads all objects below a tree once, and checks entry names. It reports whether the tree
// and all objects below the tree are sound.
func (v *verifier) tree(name, dir string, hash plumbing.Hash) bool {
	if v.sound[hash] || hash == trees.Empty {
		return true
	}
	if v.seen[hash] || v.ctx.Err() != nil {
		return false // reported already, or stopped
	}
	v.seen[hash] = true
	var entries []trees.Entry
	data, err := trees.ReadAs(v.repo.Objects, plumbing.TreeObject, hash)
	if err == nil {
		entries, err = trees.Parse(data)
	}
	if err != nil {
		v.fault(name, cmp.Or(dir, "/")+": ", err)
		return false
	}
	sound := bytes.Equal(trees.Encode(slices.Clone(entries)), data)
	if !sound {
		v.errorf("%s: %s: a tree that is not sorted", name, cmp.Or(dir, "/"))
	}
	names := make(map[string]bool, len(entries))
	for _, e := range entries {
		path := dir + e.Name
		if names[e.Name] {
			v.errorf("%s: %q occurs twice in one tree", name, path)
			sound = false
		}
		names[e.Name] = true
		switch {
		case len(path) > maxPath:
			v.errorf("%s: a path of %d bytes: %.100q...", name, len(path), path)
			sound = false
		case strings.Contains(e.Name, "/") || trees.CheckPath(e.Name, e.Mode) != nil:
			v.errorf("%s: %q is not a valid file name", name, path)
			sound = false
		case e.Mode == trees.ModeGitlink:
		case e.IsTree():
			sound = v.tree(name, path+"/", e.Hash) && sound
		default:
			if _, err := trees.IndexMode(e.Mode); err != nil && dir != "" { // entries checks those of dir ""
				v.errorf("%s: %q: %v", name, path, err)
				sound = false
			}
			sound = v.blob(name, path, e.Hash) && sound
		}
	}
	v.sound[hash] = sound
	return sound
}

// blob checks a file once, and reports whether it is sound. A partial clone may lack it.
func (v *verifier) blob(name, path string, hash plumbing.Hash) bool {
	if v.seen[hash] || v.sound[hash] || v.ctx.Err() != nil {
		return v.sound[hash]
	}
	v.seen[hash] = true
	var err error
	if v.deep {
		err = v.repo.Objects.Check(hash)
	} else if !v.repo.Objects.Has(hash) {
		err = plumbing.ErrObjectNotFound
	}
	switch isMissing := errors.Is(err, plumbing.ErrObjectNotFound); {
	case isMissing && repository.Partial(v.repo.Config):
		err = nil
	case isMissing:
		v.notice(lost(plumbing.BlobObject, hash, err))
		v.errorf("%s: %s: blob %s is missing", name, path, hash)
	case err != nil:
		v.errorf("%s: %s: %v", name, path, lost(plumbing.BlobObject, hash, err))
	}
	v.sound[hash] = err == nil
	return err == nil
}

// complete fails if objects for a restore of c are missing, or if a restore would refuse
// them. With deep it also reads the contents of the files.
func (s *Doctor) complete(ctx context.Context, c *chain.Checkpoint, r *checkpoint.Record, deep bool) error {
	n := s.Verification()
	n.deep = deep
	v := n.verifier(ctx, c.Issue)
	if deep {
		s.repo.Objects.Hold(true)
		defer s.repo.Objects.Hold(false)
	}
	v.tree(c.Name(), "", c.Tree)
	v.snapshot(c, r)
	if err := v.lacks[c.Name()]; err != nil {
		return repo.Lacked(c.Issue, c.Name(), err)
	}
	if v.exhausted != nil {
		return v.exhausted
	}
	if len(v.report.Errors) > 0 {
		return repo.Corrupt(c.Name(), "%s", v.report.Errors[0])
	}
	return nil
}

// snapshot checks the trees together, as a restore does. Each tree may be valid, and
// still two trees may contain the same path. The commits below the trees may be missing
// in this clone.
func (v *verifier) snapshot(c *chain.Checkpoint, r *checkpoint.Record) {
	st, err := v.doctor.snapshot.SnapshotOf(c, r)
	if err != nil {
		v.notice(err)
		return // reported already
	}
	if _, err := v.doctor.snapshot.Targets(st); err != nil {
		v.fault(c.Name(), "", err)
		return
	}
	if !v.deep {
		return
	}
	if missing, _ := v.doctor.snapshot.MissingContent(c); len(missing) > 0 {
		v.warnf("%s: the content of %d files is neither in this clone nor in git: git lfs fetch may get it: %q", c.Name(), len(missing), missing[0].Path)
	}
}

// NewestValid is Store.NewestValid of package gitstore. If a person went back to a checkpoint,
// later ones come last. With deep it also reads the contents of the files.
func (s *Doctor) NewestValid(ctx context.Context, issue checkpoint.Issue, deep bool) (*chain.Checkpoint, *checkpoint.Record, error) {
	l, err := s.chain.List(ctx, issue, 0)
	if err != nil {
		return nil, nil, err
	}
	list := l.Checkpoints
	if p, err := s.chain.Point(ctx, issue); err == nil && p.WentBack() && len(p.Later) < len(list) {
		list = slices.Concat(list[len(p.Later):], list[:len(p.Later)])
	}
	for i := range list {
		c := &list[i]
		r, err := s.chain.ValidRecord(c)
		if err == nil {
			err = s.complete(ctx, c, r, deep)
		}
		switch {
		case err == nil && chain.Unordered(r) == nil:
			return c, r, nil
		case odb.IsOfSystem(err):
			return nil, nil, fmt.Errorf("read %s: %w", c.ID, err)
		}
	}
	if len(l.Checkpoints) == 0 {
		return nil, nil, &repo.NoneError{Issue: issue}
	}
	return nil, nil, repo.Corrupt("issue "+string(issue), "no valid checkpoint is left of %d", len(l.Checkpoints))
}
