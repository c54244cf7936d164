package work

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout/recovery"
)

// apply derives the new record. Fields that concern one checkpoint alone are reset: the
// note, warnings, and whether and where work can resume. An automatic save keeps the resume
// point and the refusal of the previous checkpoint.
func (e *edit) apply(before *checkpoint.Record) (*checkpoint.Record, error) {
	r := before
	if r == nil || e.Replace {
		r = checkpoint.New()
	}
	resume, kept := e.resumeBefore(r), textsBefore(r)
	if before != nil {
		kept.turn.Spent = before.AgentTurn().Spent // with --replace too
	}
	current := e.issue
	if before != nil && !e.seen.IsZero() && before.IssueSnapshot().Known && e.seen.Before(before.CreatedAt()) {
		current = nil // the previous record has a newer snapshot
	}
	e.followLabels(r, current)
	r.SetTrigger(e.trigger)
	r.SetNote("")
	r.SetCanResume(true)
	r.SetResumeFrom("")
	r.SetWarnings(nil)
	r.Doc().Delete(lastRun)
	if e.run != nil {
		r.Doc().Set(lastRun, e.run)
	}
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
		e.firstPhase(r, current)
	}
	was := r.Doc().Clone()
	if e.state != nil {
		r.Doc().Merge(e.state)
	}
	for _, s := range e.sets {
		if err := e.assign(r, s); err != nil {
			return nil, failure.Usagef("%s: --set: %w", e.command, err)
		}
	}
	if err := e.checkKinds(r); err != nil {
		return nil, failure.Usagef("%s: %w", e.command, err)
	}
	given := e.state != nil || len(e.sets) > 0
	if given && e.doc == nil && !e.dropsInvalid {
		if err := story.CheckValues(r); err != nil {
			return nil, err
		}
	}
	brought := given && !checkpoint.Equal(was, r.Doc())
	if e.named { // --trigger and --session override those of a document
		r.SetTrigger(e.trigger)
	}
	if e.Session != "" {
		r.SetSession(e.Session)
	}
	if _, err := checkpoint.ParseTrigger(string(r.Trigger())); err != nil {
		return nil, failure.Usagef("%s: %w", e.command, err)
	}
	if !e.whole() || !r.IssueSnapshot().Known { // a document holds the issue as it was at that time
		e.applyIssue(r, current)
	}
	// The body of the previous record too is replaced by its digest.
	if body := r.IssueSnapshot().Body; body != "" && (e.NoBody || len(body) > maxBody) {
		snapshot := child(r.Doc(), "issue_snapshot")
		snapshot.Delete("body")
		snapshot.Set("body_digest", freshness.BodyDigest(body))
	}
	if err := e.applyProgress(r); err != nil {
		return nil, err
	}
	if err := e.applyMove(r, brought); err != nil {
		return nil, err
	}
	if e.doc == nil {
		story.SendBack(r)
	}
	if problem := unknownPhase(r, e.rules); e.Strict && problem != "" {
		return nil, failure.Errorf(failure.Usage, "git config checkpoint.phases <phase>,<phase>...", "%s: %s", e.command, problem)
	}
	resume.keep(r)
	err = e.applyRecovery(r)
	e.applyTurn(r, kept)
	if err != nil || e.whole() {
		return r, err
	}
	CountPlan(e.store.Root(), r)
	return r, e.applyDigests(r)
}

// applyMove applies the step. A step that is taken already still stores the values that the
// flags brought.
func (e *edit) applyMove(r *checkpoint.Record, brought bool) error {
	if e.move == nil {
		return nil
	}
	err := e.move(r)
	var nothing *progress.NothingError
	if errors.As(err, &nothing) && brought {
		e.warn("%s; only the values of --set and --state are saved", nothing.Reason)
		return nil
	}
	return err
}

// A resumeState has the values of --resume-from and --no-resume in a record.
type resumeState struct {
	point     string // resume point, or ""
	usual     string // default resume point of that record
	canResume bool
	warnings  []string
}

// resumeBefore returns the state of the previous record, or nil if this save is not
// automatic.
func (e *edit) resumeBefore(r *checkpoint.Record) *resumeState {
	automatic := []checkpoint.Trigger{checkpoint.Turn, checkpoint.Interval, checkpoint.SessionEnd, checkpoint.UserInterrupt}
	if !slices.Contains(automatic, e.trigger) || e.doc != nil || e.Replace {
		return nil
	}
	return &resumeState{r.ResumeFrom(), progress.DefaultCode(r), r.CanResume(), r.Warnings()}
}

// keep adds the state to a new record. A resume point is valid until the progress changes.
func (s *resumeState) keep(r *checkpoint.Record) {
	if s == nil {
		return
	}
	if !s.canResume {
		r.SetCanResume(false)
		r.SetWarnings(s.warnings)
	}
	if s.point != s.usual && s.usual == progress.DefaultCode(r) {
		r.SetResumeFrom(s.point)
	}
}

// maxPlan limits the size of a plan whose phases are counted and whose titles are read, in bytes.
const maxPlan = 1 << 20

// CountPlan records the number of phases in the plan of a recovery document that states no
// total. A plan that cannot be read states none.
func CountPlan(worktree string, r *checkpoint.Record) {
	if r.Layout() != string(recovery.Name) || r.Progress().Total > 0 {
		return
	}
	if n := progress.PlannedPhases(planText(worktree, r)); n > 0 {
		r.SetPlanPhases(n)
	}
}

// planText returns the text of the plan of a record, or "".
func planText(worktree string, r *checkpoint.Record) string {
	if r.PlanPath() == "" || worktree == "" {
		return ""
	}
	data, size, err := invoke.ReadPlain(worktree, r.PlanPath(), maxPlan)
	if err != nil || size > maxPlan {
		return ""
	}
	return string(data)
}

// assign sets a value of --set. A save that leaves out invalid values keeps the value
// before.
func (e *edit) assign(r *checkpoint.Record, s assignment) error {
	if !e.dropsInvalid {
		return r.Doc().Assign(s.path, s.value)
	}
	was, _ := r.Doc().Lookup(s.path)
	if err := r.Doc().Assign(s.path, s.value); err != nil {
		e.leaveOut(err)
		return nil
	}
	if err := r.Check(); err != nil {
		e.leaveOut(err)
		return r.Doc().Assign(s.path, was)
	}
	return nil
}

// checkKinds returns an error if a value of the record has the wrong kind, such as text
// instead of a number. A save that leaves out invalid values deletes the value.
func (e *edit) checkKinds(r *checkpoint.Record) error {
	for {
		err := r.Check()
		var wrong *checkpoint.SyntaxError
		if err == nil || !e.dropsInvalid || !errors.As(err, &wrong) {
			return err
		}
		e.leaveOut(err)
		if err := r.Doc().Assign(wrong.Path, nil); err != nil {
			return err
		}
	}
}

// leaveOut warns once that a value is left out.
func (e *edit) leaveOut(err error) {
	text := err.Error() + "; left out"
	if !slices.Contains(e.leftOut, text) {
		e.leftOut = append(e.leftOut, text)
		e.warn("%s", text)
	}
}

// lastRun is the field with the command of run, which only saves of run have.
const lastRun = "last_run"

// followLabels enters the phase of the issue's state label if the label has changed since
// the previous checkpoint, or at the first save. A phase on the command line overrides it.
func (e *edit) followLabels(r *checkpoint.Record, current *freshness.SourceIssue) {
	if current == nil || e.Phase != "" {
		return
	}
	if !r.IssueSnapshot().Known {
		e.firstPhase(r, current)
		return
	}
	if v := freshness.Evaluate(r, freshness.Facts{Now: e.now, Issue: current}, e.rules); v.Phase != "" {
		e.enter(r, v.Phase)
	}
}

// firstPhase enters the phase of the issue's state label if the work has no phase yet. The
// phases of a document, and those that a workflow counts, stay.
func (e *edit) firstPhase(r *checkpoint.Record, current *freshness.SourceIssue) {
	p := r.Progress()
	if current == nil || e.Phase != "" || e.doc != nil || r.Phase() != "" || p.Total > 0 || len(p.Names) > 0 {
		return
	}
	e.enter(r, e.rules.PhaseOfLabels(current.Labels))
}

// enter starts a phase, unless it is the current phase already.
func (e *edit) enter(r *checkpoint.Record, phase string) {
	if phase != r.Phase() {
		r.EnterPhase(phase)
		r.SetPhaseStartedAt(e.now)
	}
}

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
		child(r.Doc(), "issue_snapshot").Delete(field) // unknown, which differs from empty
	}
	states := e.rules.StateLabels(i.Labels)
	for _, label := range i.Labels {
		if slices.Contains(states, label) {
			r.SetStateLabel(label)
			break
		}
	}
}

// child returns the mapping under a key. It adds an empty mapping if the key has none.
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

// maxBody limits the size in bytes of a recorded issue body. For a longer body only the
// digest is recorded.
const maxBody = 256 << 10

// applyProgress records the phase, batch, agent output and decisions of the command line.
func (e *edit) applyProgress(r *checkpoint.Record) error {
	if e.Phase != "" {
		e.enter(r, e.Phase)
	}
	switch {
	case e.Batch > 0 && e.trigger == checkpoint.BatchComplete:
		done := append(r.CompletedBatches(), e.Batch)
		slices.Sort(done)
		r.SetCompletedBatches(slices.Compact(done))
		r.SetCurrentBatch(e.Batch + 1)
	case e.Batch > 0:
		r.SetCurrentBatch(e.Batch)
	}
	if e.Agent != "" {
		o := child(child(child(r.Doc(), "agent_outputs"), e.Agent), e.Action)
		o.Set("completed_at", checkpoint.FormatTime(e.now))
		if e.Message != "" {
			o.Set("output_summary", e.Message)
		}
	}
	if e.Conflict != "" {
		open := slices.DeleteFunc(r.Conflicts(), func(id string) bool { return id == e.Conflict })
		if e.trigger != checkpoint.ConflictResolved {
			open = append(open, e.Conflict)
		}
		r.SetConflicts(open)
	}
	if e.Message != "" {
		r.SetNote(e.Message)
	}
	if e.Summary != "" {
		r.Doc().Set("context_summary", e.Summary)
	}
	decisions := e.Decisions
	if len(e.Replaces) > 0 {
		text, unknown := r.Replacing(decisions[0], e.Replaces)
		if unknown != "" {
			return failure.Usagef("%s: --replaces: %q is a part of no decision, or of several: %s", e.command, unknown, cmp.Or(strings.Join(r.Decisions(), "; "), "there is none"))
		}
		decisions = []string{text}
	}
	if known := r.Doc().Texts("key_decisions"); len(decisions) > 0 {
		r.Doc().Set("key_decisions", view.Distinct(append(known, decisions...)))
	}
	return nil
}

// unknownPhase returns a message if the record's phase is unknown. It returns "" if
// neither the workflow nor the settings name phases, or if the record's layout defines
// the phases.
func unknownPhase(r *checkpoint.Record, rules freshness.Rules) string {
	names, total := r.Progress().Names, r.Progress().Total
	phase := r.Phase()
	if phase == "" || len(names) == 0 && total > 0 || r.Layout() != "" && r.Layout() != "crunch" || rules.KnownPhase(phase, r) {
		return ""
	}
	return fmt.Sprintf("unknown phase %s (known: %s)", phase, view.List(rules.KnownPhases(r)))
}

func (e *edit) applyRecovery(r *checkpoint.Record) error {
	if e.NoResume != "" {
		r.SetCanResume(false)
		r.SetWarnings(append(r.Warnings(), e.NoResume))
	}
	if e.ResumeFrom != "" {
		r.SetResumeFrom(e.ResumeFrom)
	}
	if e.whole() {
		return nil
	}
	switch {
	case r.ResumeFrom() != "":
	case e.Conflict != "" && r.Trigger() == checkpoint.ConflictStart: // it has to be resolved first
		r.SetResumeFrom("conflict_" + e.Conflict)
	default:
		r.SetResumeFrom(progress.DefaultCode(r))
	}
	missing, err := e.store.Files.MissingOutputs(r)
	if err != nil {
		return err
	}
	r.SetPrerequisitesMet(len(missing) == 0)
	return nil
}

func (e *edit) applyDigests(r *checkpoint.Record) error {
	outputs, plan := r.Outputs(), r.PlanPath()
	var places []string
	for _, o := range outputs {
		places = append(places, o.Location)
	}
	if plan != "" {
		places = append(places, plan)
	}
	digests, err := e.store.Files.Digests(e.ctx, places)
	if err != nil {
		return err
	}
	for _, o := range outputs {
		r.SetOutputDigest(o.Agent, o.Action, digests[o.Location])
	}
	if plan != "" {
		r.SetPlanDigest(digests[plan])
	}
	return nil
}
