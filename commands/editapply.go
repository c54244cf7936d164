package commands

import (
	"slices"
	"time"

	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// apply derives a record. What speaks of one checkpoint alone is not carried
// over: its note, whether and where it can be resumed.
func (e *edit) apply(before *checkpoint.Record) (*checkpoint.Record, error) {
	r := before
	if r == nil || e.replace {
		r = checkpoint.New()
	}
	current := e.current(before)
	e.followLabels(r, current)
	r.SetTrigger(e.trigger)
	r.SetNote("")
	r.SetCanResume(true)
	r.SetResumeFrom("")
	r.SetWarnings(nil)
	if e.session != "" {
		r.SetSession(e.session)
	}
	r, err := e.applyDocument(r)
	if err != nil {
		return nil, err
	}
	if e.begin != nil {
		if err := e.begin(r); err != nil {
			return nil, err
		}
	}
	if e.state != nil {
		r.Doc().Merge(e.state)
	}
	for _, s := range e.sets {
		if err := r.Doc().Assign(s.path, s.value); err != nil {
			return nil, usagef("save: --set: %w", err)
		}
	}
	if err := r.Check(); err != nil {
		return nil, usagef("save: %w", err)
	}
	if err := e.applyNames(r); err != nil {
		return nil, err
	}
	if !e.whole() || !r.IssueSnapshot().Known { // a document tells of the issue as it was then
		e.applyIssue(r, current)
	}
	e.shorten(r)
	e.applyProgress(r)
	if e.move != nil {
		if err := e.move(r); err != nil {
			return nil, err
		}
	}
	if err := e.checkPhase(r); err != nil {
		return nil, err
	}
	if err := e.applyRecovery(r); err != nil || e.whole() {
		return r, err
	}
	return r, e.applyDigests(r)
}

// applyNames lets the command line have its way over a document's trigger and
// session.
func (e *edit) applyNames(r *checkpoint.Record) error {
	if e.named {
		r.SetTrigger(e.trigger)
	}
	if e.given {
		r.SetSession(e.session)
	}
	if _, err := checkpoint.ParseTrigger(string(r.Trigger())); err != nil {
		return usagef("save: %w", err)
	}
	return nil
}

// followLabels moves the phase where the issue's state label did since the
// checkpoint before. What the command line says about the phase comes later.
func (e *edit) followLabels(r *checkpoint.Record, current *freshness.SourceIssue) {
	if current == nil || e.phase != "" {
		return
	}
	if v := freshness.Evaluate(r, freshness.Facts{Now: e.now, Issue: current}, e.rules); v.Phase != "" {
		e.enter(r, v.Phase)
	}
}

// enter begins a phase, unless the work is in it already.
func (e *edit) enter(r *checkpoint.Record, phase string) {
	if phase != r.Phase() {
		r.EnterPhase(phase)
		r.SetPhaseStartedAt(e.now)
	}
}

// current is the issue as far as it tells the record before something new.
func (e *edit) current(before *checkpoint.Record) *freshness.SourceIssue {
	if before != nil && !e.seen.IsZero() && before.IssueSnapshot().Known && e.seen.Before(before.CreatedAt()) {
		return nil
	}
	return e.issue
}

// shorten records a body by its digest where it is long or nobody wants it,
// also one that the record before has.
func (e *edit) shorten(r *checkpoint.Record) {
	body := r.IssueSnapshot().Body
	if body == "" || !e.noBody && len(body) <= maxBody {
		return
	}
	snapshot := child(r.Doc(), "issue_snapshot")
	snapshot.Delete("body")
	snapshot.Set("body_digest", freshness.BodyDigest(body))
}

// maxBody is how long an issue's body may be to be recorded; a longer one is
// recorded by its digest.
const maxBody = 256 << 10

// applyIssue takes the snapshot of the issue, and the state label among its
// labels.
func (e *edit) applyIssue(r *checkpoint.Record, i *freshness.SourceIssue) {
	if i == nil {
		return
	}
	snapshot := checkpoint.IssueSnapshot{
		Title: i.Title, Body: i.Body, Labels: i.Labels, Assignees: i.Assignees,
		State: i.State, Source: i.Source, Known: true,
	}
	r.SetIssueSnapshot(snapshot)
	for _, field := range i.Absent {
		child(r.Doc(), "issue_snapshot").Delete(field) // not empty, but not known
	}
	states := e.rules.StateLabels(i.Labels)
	for _, label := range i.Labels {
		if slices.Contains(states, label) {
			r.SetStateLabel(label)
			break
		}
	}
}

// applyProgress records what the trigger speaks of.
func (e *edit) applyProgress(r *checkpoint.Record) {
	if e.phase != "" {
		e.enter(r, e.phase)
	}
	switch {
	case e.batch > 0 && e.trigger == checkpoint.BatchComplete:
		done := append(r.CompletedBatches(), e.batch)
		slices.Sort(done)
		r.SetCompletedBatches(slices.Compact(done))
		r.SetCurrentBatch(e.batch + 1)
	case e.batch > 0:
		r.SetCurrentBatch(e.batch)
	}
	if e.agent != "" {
		setOutput(r, e.agent, e.action, e.now, e.note)
	}
	if e.conflict != "" {
		open := slices.DeleteFunc(r.Conflicts(), func(id string) bool { return id == e.conflict })
		if e.trigger != checkpoint.ConflictResolved {
			open = append(open, e.conflict)
		}
		r.SetConflicts(open)
	}
	if e.note != "" {
		r.SetNote(e.note)
	}
	if e.summary != "" {
		r.Doc().Set("context_summary", e.summary)
	}
	if known := r.Doc().Texts("key_decisions"); len(e.decisions) > 0 {
		r.Doc().Set("key_decisions", distinct(append(known, e.decisions...)))
	}
}

// setOutput records that an agent completed an action.
func setOutput(r *checkpoint.Record, agent, action string, at time.Time, summary string) {
	o := child(child(child(r.Doc(), "agent_outputs"), agent), action)
	o.Set("completed_at", checkpoint.FormatTime(at))
	if summary != "" {
		o.Set("output_summary", summary)
	}
}

// child is a mapping inside another, made where there is none.
func child(m *checkpoint.Map, key string) *checkpoint.Map {
	if v, ok := m.Get(key); ok {
		if c, ok := v.(*checkpoint.Map); ok {
			return c
		}
	}
	c := checkpoint.NewMap()
	m.Set(key, c)
	return c
}

// resumePoint is where work goes on when nobody said: a conflict that begins
// now is settled first.
func (e *edit) resumePoint(r *checkpoint.Record) string {
	if e.conflict != "" && r.Trigger() == checkpoint.ConflictStart {
		return "conflict_" + e.conflict
	}
	return r.DefaultResumePoint()
}

// applyRecovery says whether and where work goes on.
func (e *edit) applyRecovery(r *checkpoint.Record) error {
	if e.noResume != "" {
		r.SetCanResume(false)
		r.SetWarnings(append(r.Warnings(), e.noResume))
	}
	if e.resumeFrom != "" {
		r.SetResumeFrom(e.resumeFrom)
	}
	if e.whole() {
		return nil
	}
	if r.ResumeFrom() == "" {
		r.SetResumeFrom(e.resumePoint(r))
	}
	missing, err := e.store.MissingOutputs(&gitstore.Checkpoint{}, r)
	if err != nil {
		return err
	}
	r.SetPrerequisitesMet(len(missing) == 0)
	return nil
}
