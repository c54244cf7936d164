package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/document"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A rule is a rule of the stored form for a commit of a chain.
type rule struct {
	check  func(*subject) // reports violations
	breaks bool           // a restore refuses a checkpoint that violates the rule
}

// rules are the rules for checkpoints. A rule uses the fields that the rules above it set. A commit with
// an unreadable record has no rules below readRecord.
var rules = []rule{
	{(*subject).problem, true},
	{(*subject).headers, false},
	{(*subject).commitObject, true},
	{(*subject).stateCommit, true},
	{(*subject).head, false},
	{(*subject).entries, false},
	{(*subject).objects, true},
	{(*subject).content, false},
	{(*subject).readRecord, false},
	{(*subject).together, true},
	{(*subject).trailers, false},
	{(*subject).stateMessages, false},
	{(*subject).recordRules, true},
}

// ledgerRules are the rules for commits that have only a ledger. An older ledger is history, but must
// exist.
var ledgerRules = []rule{
	{(*subject).commitObject, false},
	{(*subject).ledgerSubject, false},
	{(*subject).objects, false},
	{(*subject).headers, false},
	{(*subject).entries, false},
}

// A subject is a commit of a chain whose rules are checked.
type subject struct {
	*verifier
	l      *chain.ChainCommit
	name   string
	state  repo.RawCommit     // zero before stateCommit, or if it cannot be read
	index  repo.RawCommit     // likewise
	sound  bool               // all objects of the tree are sound
	record *checkpoint.Record // nil before readRecord
	ended  bool               // the rules below do not apply
}

func (s *subject) check(rules []rule) {
	for _, r := range rules {
		before := len(s.report.Errors)
		r.check(s)
		if r.breaks && (len(s.report.Errors) > before) {
			s.breaks()
		}
		if s.ended {
			return
		}
	}
}

// breaks notes that a restore refuses the checkpoint.
func (s *subject) breaks() {
	name := s.l.Name()
	if s.l.Double {
		name = s.l.Commit.String()
	}
	if s.l.ID != "" && !slices.Contains(s.report.Broken, name) {
		s.report.Broken = append(s.report.Broken, name)
	}
}

// sayf reports a violation.
func (s *subject) sayf(format string, args ...any) {
	s.errorf("%s: "+format, append([]any{s.name}, args...)...)
}

func (s *subject) problem() {
	if !s.l.Valid() {
		s.sayf("%s", s.l.Problem)
	}
}

// headers checks what git fsck accepts in a commit, and the stored form does not have.
func (s *subject) headers() {
	if !s.l.Ledger && len(s.l.Raw.Parents) != 2 && !s.doctor.chain.IsBoundary(s.l.Commit) {
		s.sayf("it has no state commit")
	}
	for _, header := range []string{"author ", "committer "} {
		if n := bytes.Count(append([]byte("\n"), s.l.Raw.Rest...), []byte("\n"+header)); n != 1 {
			s.sayf("it has %d lines %q", n, strings.TrimSpace(header))
		}
	}
	if strings.Contains(s.l.Raw.Message, "\x00") {
		s.sayf("a message with NUL")
	}
}

func (s *subject) commitObject() {
	if _, err := trees.ReadAs(s.repo.Objects, plumbing.CommitObject, s.l.Raw.Hash); err != nil {
		s.fault(s.name, "", err)
	}
}

func (s *subject) ledgerSubject() {
	if subject, _, _ := strings.Cut(s.l.Raw.Message, "\n"); subject != chain.LedgerSubject+s.report.Issue.RefName() {
		s.sayf("it is a ledger of another issue")
	}
}

// stateCommit checks that the state commit and the index commit can be read.
func (s *subject) stateCommit() {
	if s.doctor.chain.IsBoundary(s.l.Commit) {
		return // its parents were not fetched
	}
	if len(s.l.Raw.Parents) != 2 {
		return // headers reports it
	}
	if _, err := trees.Read(s.repo.Objects, s.l.Tree); errors.As(err, new(*repo.PromisedError)) {
		s.fault(s.name, "", err)
		return
	}
	var err error
	if s.state, err = s.repo.ReadCommit(s.l.Raw.Parents[1]); err != nil {
		s.fault(s.name, "state commit: ", err)
		return
	}
	if len(s.state.Parents) != 2 {
		s.sayf("the state commit %s has %d parents", s.state.Hash, len(s.state.Parents))
		return
	}
	if s.index, err = s.repo.ReadCommit(s.state.Parents[1]); err != nil && !s.repo.Info.Shallow {
		s.fault(s.name, "index commit: ", err)
	}
}

// head checks that HEAD at the save can be read. It belongs to the branches: a fetch may bring it
// back, and the checkpoint itself is whole without it.
func (s *subject) head() {
	if len(s.state.Parents) != 2 || s.repo.Info.Shallow {
		return
	}
	if _, err := s.repo.TreeOfCommit(s.state.Parents[0]); err != nil {
		s.fault(s.name, "HEAD at the save: ", err)
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
func (s *subject) entries() {
	entries, err := trees.Read(s.repo.Objects, s.l.Raw.Tree)
	if err != nil {
		return // objects reports it
	}
	required := modes[:3]
	if s.l.Ledger {
		required = nil
		if slices.ContainsFunc(entries, func(e trees.Entry) bool { return e.Name != "ledger" }) {
			s.sayf("a ledger commit with other files")
		}
	}
	for _, e := range entries {
		known, ok := trees.Find(modes, e.Name)
		isExtension := strings.HasPrefix(e.Name, "x-") && (e.IsTree() || e.Mode == trees.ModeFile || e.Mode == trees.ModeExec)
		switch {
		case !ok && !isExtension:
			s.sayf("its tree has %q with mode %o", e.Name, e.Mode)
		case ok && e.Mode != known.Mode:
			s.sayf("%s has the mode %o, not %o", e.Name, e.Mode, known.Mode)
		}
	}
	for _, e := range required {
		if _, ok := trees.Find(entries, e.Name); !ok {
			s.sayf("its tree has no %s", e.Name)
		}
	}
	e, ok := trees.Find(entries, "ledger")
	if !ok || e.Mode != trees.ModeFile || s.ledgers[e.Hash] {
		return
	}
	s.ledgers[e.Hash] = true
	data, err := trees.ReadAs(s.repo.Objects, plumbing.BlobObject, e.Hash)
	if err != nil {
		return // objects reports it
	}
	if len(data) == 0 {
		s.sayf("an empty ledger")
	}
	if _, err := ledger.Parse(data); err != nil {
		s.sayf("%v", err)
	}
}

// objects checks all objects of the tree. Damage that several checkpoints have is reported in full
// once.
func (s *subject) objects() {
	before := len(s.report.Errors)
	s.sound = s.tree(s.name, "", s.l.Raw.Tree)
	if !s.sound && len(s.report.Errors) == before && len(s.lacks) == 0 {
		s.sayf("it has the same damaged objects as a checkpoint above")
	}
}

// content compares the trailer Checkpoint-Content with the content of the commit.
func (s *subject) content() {
	content, err := s.doctor.chain.Content(s.l.Raw)
	stated := chain.CheckpointOf(s.l.Raw, s.l.Issue).Content
	switch {
	case errors.As(err, new(*repo.PromisedError)):
		s.fault(s.name, "", err)
	case err == nil && stated != "" && content != stated:
		s.sayf("Checkpoint-Content is %s, and its content is %s", stated, content)
	}
}

// readRecord reads the record and compares the parts of the checkpoint. A restore asks a person about
// parts that differ.
func (s *subject) readRecord() {
	var err error
	s.record, err = s.doctor.chain.Record(&s.l.Checkpoint)
	for _, text := range s.doctor.chain.Mismatches(s.l.Raw, s.record) {
		s.sayf("%s", text)
	}
	if s.ended = err != nil; s.ended && errors.As(err, new(*repo.PromisedError)) {
		s.fault(s.name, "", err)
	} else if err != nil {
		s.errorf("%v", err)
		s.breaks()
	} else if data, err := s.doctor.chain.RecordBytes(&s.l.Checkpoint); err != nil {
		s.fault(s.name, "", err)
	} else if _, line := document.ParseCanonical(data, checkpoint.DefaultLimits); line > 0 {
		s.sayf("checkpoint.yaml: line %d is not in the form of git checkpoint help format", line)
	}
}

// together checks the trees as a whole.
func (s *subject) together() {
	if s.sound {
		s.snapshot(&s.l.Checkpoint, s.record)
	}
}

// trailers compares trailers with the authoritative record.
func (s *subject) trailers() {
	l, r := s.l, s.record
	for _, f := range []struct{ name, trailer, record string }{
		{"checkpoint_id", string(l.ID), string(r.ID())},
		{"trigger", string(l.Trigger), string(r.Trigger())},
		{"current_phase", l.Phase, r.Phase()},
		{"branch", l.Branch, r.Branch()},
		{"issue_number", string(l.Issue), string(r.Issue())},
		{"clock", l.Stated.String(), r.Clock().String()},
		{"can_resume", fmt.Sprint(l.Resumable), fmt.Sprint(r.CanResume())},
		{"version", l.Version, r.Version()},
		{"snapshot.scope", l.Scope, chain.ScopeOf(r)},
		{"snapshot.skipped", fmt.Sprint(l.Omitted), fmt.Sprint(min(l.Omitted, len(r.Snapshot().Skipped)))},
		{"agent_turn.turn", fmt.Sprint(l.Turn), fmt.Sprint(max(r.AgentTurn().Number, 0))},
		{"agent_turn.agent", l.Agent, r.AgentTurn().Agent},
		{"restored_from", l.RestoredFrom, chain.RestoredFrom(r)},
	} {
		if f.trailer != f.record {
			s.sayf("%s is %q in the record and %q in the commit", f.name, f.record, f.trailer)
		}
	}
	if r.ID() != l.ID {
		s.breaks()
	}
	if at := r.CreatedAt(); at.Unix() >= 0 && at.Unix() != l.Created.Unix() {
		s.warnOnce("created_at", fmt.Sprintf("%s: created_at is %s, and lists show %s", s.name, checkpoint.FormatTime(at), checkpoint.FormatTime(l.Created)))
	}
}

// stateMessages checks messages, authors and dates of the state commit and the index commit. The first
// checkpoint of a fork has those of its source.
func (s *subject) stateMessages() {
	state, index := s.state, s.index
	if state.Tree.IsZero() || index.Tree.IsZero() {
		return // reported already
	}
	id, by := s.l.ID, chain.SignedBy(s.l.Raw)
	if s.record.Fork().Name != "" {
		id, by = checkpoint.ID(strings.TrimPrefix(strings.TrimSuffix(state.Message, "\n"), "state of ")), state.Rest
	}
	if state.Message != chain.StateSubject(id) {
		s.sayf("the message of the state commit %s is %.80q", state.Hash, state.Message)
	}
	if index.Message != chain.IndexSubject(id) {
		s.sayf("the message of the index commit %s is %.80q", index.Hash, index.Message)
	}
	if !bytes.Equal(state.Rest, by) || !bytes.Equal(index.Rest, by) {
		s.sayf("author, committer or dates of the state commit and of the index commit are not those of its author")
	}
}

func (s *subject) recordRules() {
	if err := chain.Unordered(s.record); err != nil {
		s.sayf("%v", err)
	}
	for _, p := range s.record.Validate(s.doctor.Phases...) {
		if text := fmt.Sprintf("%s: %s: %s", s.name, p.Path, p.Msg); p.Warning {
			s.warnOnce(p.Kind, text)
		} else {
			s.errorf("%s", text)
		}
	}
}

// warnOnce adds a warning to the report, or counts it if the report has one of its kind.
func (v *verifier) warnOnce(kind, text string) {
	if known := v.alike[kind]; known != nil {
		known.count++
		return
	}
	v.alike[kind] = &alike{len(v.report.Warnings), 1}
	v.warnf("%s", text)
}

// members checks the ids and contents of a chain, and the order of its checkpoints.
func (v *verifier) members(ref string, c *chain.Chain) {
	above := map[checkpoint.ID]bool{}
	for i := range c.Commits {
		l := &c.Commits[i]
		if l.Ledger {
			continue
		}
		after, _ := l.CameAfter()
		for _, id := range after {
			switch {
			case !above[id] || id == l.ID:
			case c.Lineage(id).Lacks(&l.Checkpoint):
				v.errorf("%s: it stands below %s, which it came after", l.Name(), id)
			default:
				v.warnf("%s: it came after %s, which came after it", l.Name(), id)
			}
		}
		above[l.ID] = true
		v.member(ref, l)
	}
}

// member checks that no other commit has the id and the content of a checkpoint. Another content
// under its id is no error.
func (v *verifier) member(ref string, l *chain.ChainCommit) {
	if l.ID == "" || l.Gone { // the next sync moves it to the archive
		return
	}
	others := v.ids[l.ID]
	for _, other := range others {
		switch {
		case other.content != l.Content && l.Unclear:
			v.warnf("%s: two contents have this id, in %s and %s", l.ID, other.commit, l.Commit)
		case other.content != l.Content && l.Other:
			v.warnf("%s: two contents have this id; here it is %s, and not %s", l.ID, other.commit, l.Commit)
		case other.content != l.Content:
			v.warnf("%s: two contents have this id; here it is %s, and not %s", l.ID, l.Commit, other.commit)
		case other.ref == ref:
			v.errorf("%s: two commits have this id and content, %s and %s", l.ID, other.commit, l.Commit)
		}
	}
	v.ids[l.ID] = append(others, foundAt{ref, l.Commit, l.Content})
}
