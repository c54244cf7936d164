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
	"git-checkpoint/gitstore/internal/ledger"
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
}

// A Verification verifies issues one after the other. It reads a sound object once, even if
// several issues have the object. A command uses a new Verification for each run, because a
// Verification does not find damage that occurs after its read.
type Verification struct {
	doctor *Doctor
	deep   bool                   // also read every blob
	sound  map[plumbing.Hash]bool // trees and blobs without a fault in or below them
}

// Verification returns a new Verification. If deep is false, it only checks that blobs exist,
// and leaves refs to missing commits to Check.
func (s *Doctor) Verification(deep bool) *Verification {
	return &Verification{doctor: s, deep: deep, sound: map[plumbing.Hash]bool{}}
}

// Verify reads all stored objects of an issue, live and archived: commits, records,
// ledgers, trees and blobs. The report contains unreadable objects and violations of the
// stored form. The error reports that Verify itself could not continue. Like git fsck,
// Verify detects objects whose content does not match their id.
func (n *Verification) Verify(ctx context.Context, issue checkpoint.Issue) (*Report, error) {
	v := n.verifier(ctx, issue)
	for _, ref := range []string{repo.LiveRef(issue), repo.ArchiveRef(issue)} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v.chain(ref)
	}
	for _, a := range v.alike {
		if a.count > 1 {
			v.report.Warnings[a.index] += fmt.Sprintf(" (%d times)", a.count)
		}
	}
	return v.report, nil
}

func (n *Verification) verifier(ctx context.Context, issue checkpoint.Issue) *Verifier {
	return &Verifier{
		run: n, Doctor: n.doctor, Ctx: ctx, report: &Report{Issue: issue},
		seen: map[plumbing.Hash]bool{}, seenLedger: map[plumbing.Hash]bool{}, ids: map[checkpoint.ID][]foundAt{},
	}
}

// A Verifier verifies one issue.
type Verifier struct {
	run    *Verification
	Doctor *Doctor
	Ctx    context.Context
	report *Report
	seen   map[plumbing.Hash]bool // trees and blobs of this issue that were read
	ids    map[checkpoint.ID][]foundAt
	lacks  map[string]error  // by checkpoint: error of an object that a partial clone could not fetch
	alike  map[string]*alike // warnings about records, by kind

	seenLedger map[plumbing.Hash]bool

	exhausted error // a lack of memory or file descriptors, so that the result is unknown
}

// fault reports err about a checkpoint. An object that a partial clone cannot fetch is no
// damage: the checkpoint gets one warning.
func (v *Verifier) fault(name, part string, err error) {
	p, lacked := errors.AsType[*repo.PromisedError](err)
	switch {
	case !lacked:
		v.errorf("%s: %s%v", name, part, err)
	case v.lacks[name] == nil:
		if v.lacks == nil {
			v.lacks = map[string]error{}
		}
		v.lacks[name] = p
		v.warnf("%s: not everything could be checked: %v", name, p)
	}
}

// A foundAt is the location of a checkpoint.
type foundAt struct {
	ref     string
	commit  plumbing.Hash
	content string
}

func (v *Verifier) errorf(format string, args ...any) {
	for _, a := range args {
		if err, ok := a.(error); ok {
			v.notice(err)
		}
	}
	v.report.Errors = append(v.report.Errors, fmt.Sprintf(format, args...))
}

func (v *Verifier) notice(err error) {
	if v.exhausted == nil && chain.IsExhausted(err) {
		v.exhausted = err
	}
}

func (v *Verifier) warnf(format string, args ...any) {
	v.report.Warnings = append(v.report.Warnings, fmt.Sprintf(format, args...))
}

func (v *Verifier) chain(ref string) {
	c, err := v.Doctor.chain.ReadChain(v.Ctx, v.report.Issue, ref, 0)
	if !v.run.deep && errors.As(err, new(*repo.BrokenRefError)) {
		return
	}
	if err != nil {
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
		v.Doctor.repo.Progress(i, len(c.Commits))
		l := &c.Commits[i]
		if l.Ledger {
			v.ledgerCommit(l)
			continue
		}
		v.order(above, l)
		above = l
		v.report.Checked++
		if ref == repo.LiveRef(c.Issue) && c.Ledger.Dead(l.ID, l.Content) && !l.Gone {
			v.warnf("%s: it is in the chain, but the ledger lists it as removed", l.Name())
		}
		v.checkpoint(l)
	}
}

// ledgerCommit checks a commit without a checkpoint. An older ledger is history, but must exist.
func (v *Verifier) ledgerCommit(l *chain.ChainCommit) {
	name := l.Raw.Hash.String()
	if _, err := v.intact(plumbing.CommitObject, l.Raw.Hash); err != nil {
		v.fault(name, "", err)
	}
	if subject, _, _ := strings.Cut(l.Raw.Message, "\n"); subject != chain.LedgerSubject+v.report.Issue.RefName() {
		v.errorf("%s: it is a ledger of another issue", name)
	}
	v.tree(name, "", l.Raw.Tree)
	v.commit(name, l.Raw)
	if entries, err := trees.Read(v.Doctor.repo.Objects, l.Raw.Tree); err == nil { // otherwise reported already
		if slices.ContainsFunc(entries, func(e trees.Entry) bool { return e.Name != "ledger" }) {
			v.errorf("%s: a ledger commit with other files", name)
		}
		v.entries(name, entries, nil)
	}
}

// checkpoint checks one commit and all objects that it refers to.
func (v *Verifier) checkpoint(l *chain.ChainCommit) {
	if !l.Valid() {
		v.errorf("%s: %s", l.Name(), l.Problem)
	}
	v.commit(l.Name(), l.Raw)
	if _, err := v.intact(plumbing.CommitObject, l.Commit); err != nil {
		v.fault(l.Name(), "", err)
	}
	switch {
	case v.Doctor.chain.IsBoundary(l.Commit): // its parents were not fetched
	case len(l.Raw.Parents) == 2:
		v.stateCommit(l)
	default:
		v.errorf("%s: it has no state commit", l.Name())
	}
	if entries, err := trees.Read(v.Doctor.repo.Objects, l.Tree); err == nil { // otherwise tree reports it
		v.entries(l.Name(), entries, modes[:3])
	}
	sound := v.tree(l.Name(), "", l.Tree)
	v.content(l)
	r, err := v.Doctor.chain.Record(&l.Checkpoint)
	for _, text := range v.Doctor.chain.Mismatches(l.Raw, r) {
		v.errorf("%s: %s", l.Name(), text)
	}
	switch {
	case errors.As(err, new(*repo.PromisedError)):
		v.fault(l.Name(), "", err)
		return
	case err != nil:
		v.errorf("%v", err)
		return
	}
	if sound {
		v.snapshot(&l.Checkpoint, r)
	}
	v.agree(l, r)
	v.stateCommits(l, r)
	if err := chain.Unordered(r); err != nil {
		v.errorf("%s: %v", l.Name(), err)
	}
	for _, p := range r.Validate(v.Doctor.Phases...) {
		if text := fmt.Sprintf("%s: %s: %s", l.Name(), p.Path, p.Msg); p.Warning {
			v.warnOnce(p.Kind, text)
		} else {
			v.errorf("%s", text)
		}
	}
}

// An alike counts the warnings of one kind. Only the first is in the report.
type alike struct{ index, count int }

// warnOnce adds a warning to the report, or counts it if the report has one of its kind.
func (v *Verifier) warnOnce(kind, text string) {
	if known := v.alike[kind]; known != nil {
		known.count++
		return
	}
	if v.alike == nil {
		v.alike = map[string]*alike{}
	}
	v.alike[kind] = &alike{len(v.report.Warnings), 1}
	v.warnf("%s", text)
}

// stateCommit checks that the state commit, the index commit and HEAD at the save can be read.
func (v *Verifier) stateCommit(l *chain.ChainCommit) {
	if _, err := trees.Read(v.Doctor.repo.Objects, l.Tree); errors.As(err, new(*repo.PromisedError)) {
		v.fault(l.Name(), "", err)
		return
	}
	state, err := v.Doctor.repo.ReadCommit(l.Raw.Parents[1])
	if err != nil {
		v.fault(l.Name(), "state commit: ", err)
		return
	}
	if len(state.Parents) != 2 {
		v.errorf("%s: the state commit %s has %d parents", l.Name(), state.Hash, len(state.Parents))
		return
	}
	tolerated := v.Doctor.repo.Info.Shallow
	if _, err := v.Doctor.repo.TreeOfCommit(state.Parents[0]); err != nil && !tolerated {
		v.fault(l.Name(), "HEAD at the save: ", err)
	}
	if _, err := v.Doctor.repo.ReadCommit(state.Parents[1]); err != nil && !tolerated {
		v.fault(l.Name(), "index commit: ", err)
	}
}

// stateCommits checks messages, authors and dates of the state commit and the index commit. The first
// checkpoint of a fork has those of its source.
func (v *Verifier) stateCommits(l *chain.ChainCommit, r *checkpoint.Record) {
	place, err := v.Doctor.chain.StateCommitOf(l.Raw)
	if err != nil || place.Commit.IsZero() {
		return // reported already
	}
	state, err := v.Doctor.repo.ReadCommit(place.Commit)
	index, err2 := v.Doctor.repo.ReadCommit(place.Index)
	if err != nil || err2 != nil {
		return // likewise
	}
	id, by := l.ID, chain.SignedBy(chain.AuthorHeader(l.Raw))
	if r.Fork().Name != "" {
		id, by = checkpoint.ID(strings.TrimPrefix(strings.TrimSuffix(state.Message, "\n"), "state of ")), state.Rest
	}
	if state.Message != chain.StateSubject(id) {
		v.errorf("%s: the message of the state commit %s is %.80q", l.Name(), state.Hash, state.Message)
	}
	if index.Message != chain.IndexSubject(id) {
		v.errorf("%s: the message of the index commit %s is %.80q", l.Name(), index.Hash, index.Message)
	}
	if !bytes.Equal(state.Rest, by) || !bytes.Equal(index.Rest, by) {
		v.errorf("%s: author, committer or dates of the state commit and of the index commit are not those of its author", l.Name())
	}
}

// modes has the mode of each entry of a checkpoint's tree, but for extensions. The first three are
// always there.
var modes = []trees.Entry{
	{Name: "checkpoint.yaml", Mode: trees.ModeFile},
	{Name: "state", Mode: trees.ModeTree},
	{Name: "staged", Mode: trees.ModeTree},
	{Name: "conflicts", Mode: trees.ModeTree},
	{Name: "ledger", Mode: trees.ModeFile},
	{Name: "signature", Mode: trees.ModeTree},
	{Name: "submodules", Mode: trees.ModeTree},
	{Name: "raw", Mode: trees.ModeTree},
}

// entries checks names and modes of the entries of a checkpoint's or a ledger commit's tree, and the
// ledger.
func (v *Verifier) entries(name string, entries, required []trees.Entry) {
	for _, e := range entries {
		known, ok := trees.Find(modes, e.Name)
		isExtension := strings.HasPrefix(e.Name, "x-") && (e.IsTree() || e.Mode == trees.ModeFile || e.Mode == trees.ModeExec)
		switch {
		case !ok && !isExtension:
			v.errorf("%s: its tree has %q with mode %o", name, e.Name, e.Mode)
		case ok && e.Mode != known.Mode:
			v.errorf("%s: %s has the mode %o, not %o", name, e.Name, e.Mode, known.Mode)
		}
	}
	for _, e := range required {
		if _, ok := trees.Find(entries, e.Name); !ok {
			v.errorf("%s: its tree has no %s", name, e.Name)
		}
	}
	e, ok := trees.Find(entries, "ledger")
	if !ok || e.Mode != trees.ModeFile || v.seenLedger[e.Hash] {
		return
	}
	v.seenLedger[e.Hash] = true
	data, err := trees.ReadAs(v.Doctor.repo.Objects, plumbing.BlobObject, e.Hash)
	if err != nil {
		return // tree reports it
	}
	if len(data) == 0 {
		v.errorf("%s: an empty ledger", name)
	}
	if _, err := ledger.Parse(data); err != nil {
		v.errorf("%s: %v", name, err)
	}
}

// snapshot checks the trees together, as a restore does. Each tree may be valid, and
// still two trees may contain the same path. The commits below the trees may be missing
// in this clone.
func (v *Verifier) snapshot(c *chain.Checkpoint, r *checkpoint.Record) {
	st, err := v.Doctor.snapshot.SnapshotOf(c, r)
	if err != nil {
		v.notice(err)
		return // reported already
	}
	if _, err := v.Doctor.snapshot.Targets(st); err != nil {
		v.fault(c.Name(), "", err)
		return
	}
	if !v.run.deep {
		return
	}
	if missing, _ := v.Doctor.snapshot.MissingContent(c); len(missing) > 0 {
		v.warnf("%s: the content of %d files is neither in this clone nor in git: git lfs fetch may get it: %q", c.Name(), len(missing), missing[0].Path)
	}
}

// intact reads an object and compares its content with its id.
func (v *Verifier) intact(kind plumbing.ObjectType, hash plumbing.Hash) ([]byte, error) {
	data, err := trees.ReadAs(v.Doctor.repo.Objects, kind, hash)
	if err == nil && plumbing.ComputeHash(kind, data) != hash {
		err = repo.Corrupt(fmt.Sprintf("%s %s", kind, hash), "its content has another hash")
	}
	return data, err
}

// maxPath is the longest possible path on all systems with git except Windows, which git
// limits itself.
const maxPath = 4096

// tree reads all objects below a tree once, and checks entry names. It reports whether the tree
// and all objects below the tree are sound.
func (v *Verifier) tree(name, dir string, hash plumbing.Hash) bool {
	if v.run.sound[hash] || hash == trees.Empty {
		return true
	}
	if v.seen[hash] {
		return false // reported already
	}
	v.seen[hash] = true
	var entries []trees.Entry
	data, err := v.intact(plumbing.TreeObject, hash)
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
	v.run.sound[hash] = sound
	return sound
}

// blob checks a file once, and reports whether it is sound. A partial clone may lack it.
func (v *Verifier) blob(name, path string, hash plumbing.Hash) bool {
	if v.seen[hash] || v.run.sound[hash] {
		return v.run.sound[hash]
	}
	v.seen[hash] = true
	if !v.Doctor.repo.Objects.Has(hash) {
		if repository.Partial(v.Doctor.repo.Config) {
			v.run.sound[hash] = true
			return true
		}
		v.errorf("%s: %s: blob %s is missing", name, path, hash)
		return false
	}
	if !v.run.deep {
		v.run.sound[hash] = true
		return true
	}
	_, err := v.intact(plumbing.BlobObject, hash)
	if errors.Is(err, odb.ErrTooLarge) {
		err = v.LargeIntact(hash)
	}
	if err != nil {
		v.fault(name, path+": ", err)
	}
	v.run.sound[hash] = err == nil
	return err == nil
}

// LargeIntact is intact for a blob that is too large for memory.
func (v *Verifier) LargeIntact(hash plumbing.Hash) error {
	size, err := v.Doctor.repo.Objects.Size(hash)
	if err != nil {
		return err
	}
	h := plumbing.NewHasher(plumbing.BlobObject, size)
	if err := v.Doctor.repo.Git.Copy(v.Ctx, h, "cat-file", "blob", hash.String()); err != nil {
		return err
	}
	if h.Sum() != hash {
		return repo.Corrupt("blob "+hash.String(), "its content has another hash")
	}
	return nil
}

// complete fails if objects for a restore of c are missing, or if a restore would refuse
// them.
func (s *Doctor) complete(ctx context.Context, c *chain.Checkpoint, r *checkpoint.Record) error {
	v := s.Verification(false).verifier(ctx, c.Issue)
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

// NewestValid is Store.NewestValid of package gitstore. If a person went back to a checkpoint,
// later ones come last.
func (s *Doctor) NewestValid(ctx context.Context, issue checkpoint.Issue) (*chain.Checkpoint, *checkpoint.Record, error) {
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
			err = s.complete(ctx, c, r)
		}
		switch {
		case err == nil && chain.Unordered(r) == nil:
			return c, r, nil
		case chain.IsExhausted(err):
			return nil, nil, fmt.Errorf("read %s: %w", c.ID, err)
		}
	}
	if len(l.Checkpoints) == 0 {
		return nil, nil, &repo.NoneError{Issue: issue}
	}
	return nil, nil, repo.Corrupt("issue "+string(issue), "no valid checkpoint is left of %d", len(l.Checkpoints))
}
