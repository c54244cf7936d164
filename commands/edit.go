package commands

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// An edit is what a command line makes of the record before. It is read once
// and applied as often as the store asks.
type edit struct {
	replace    bool
	state      *checkpoint.Map
	sets       []assignment
	trigger    checkpoint.Trigger
	phase      string
	batch      int
	agent      string
	action     string
	conflict   string
	session    string
	note       string
	resumeFrom string
	noResume   string
	issue      *freshness.Issue
	rules      freshness.Rules
	now        time.Time
	store      *gitstore.Store
}

type assignment struct {
	path  string
	value any
}

// editor reads the flags and files that say what the record becomes.
func (c *call) editor(issue checkpoint.Issue, trigger checkpoint.Trigger) (func(*checkpoint.Record) (*checkpoint.Record, error), error) {
	f := c.flags
	e := &edit{
		replace: f.Bool("replace"), trigger: trigger, phase: f.String("phase"), batch: f.Int("batch"),
		agent: f.String("agent"), action: f.String("action"), conflict: f.String("conflict"),
		note: f.String("message"), resumeFrom: f.String("resume-from"), noResume: f.String("no-resume"),
		now: c.env.Now(), store: c.store, rules: c.rules(),
	}
	if (e.agent == "") != (e.action == "") {
		return nil, usagef("save: --agent and --action go together")
	}
	if f.IsSet("batch") && e.batch < 1 {
		return nil, usagef("save: --batch: %d is no batch; they count from 1", e.batch)
	}
	if e.session = first(f.String("session"), c.env.Getenv("GIT_CHECKPOINT_SESSION")); e.session == "" && !f.Bool("dry-run") {
		e.session = c.store.Session(newSession)
	}
	var err error
	if e.state, err = c.readState(); err != nil {
		return nil, err
	}
	if e.sets, err = parseSets(f.StringSlice("set")); err != nil {
		return nil, err
	}
	if e.issue, _, err = c.currentIssue(issue); err != nil {
		return nil, err
	}
	return e.apply, nil
}

func first(values ...string) string {
	i := slices.IndexFunc(values, func(s string) bool { return s != "" })
	if i < 0 {
		return ""
	}
	return values[i]
}

// readState reads the document of --state.
func (c *call) readState() (*checkpoint.Map, error) {
	name := c.flags.String("state")
	if name == "" {
		return nil, nil
	}
	data, err := c.readInput(name)
	if err != nil {
		return nil, usagef("save: --state: %w", err)
	}
	r, err := checkpoint.Decode(data)
	var newer *checkpoint.VersionError
	switch {
	case errors.As(err, &newer):
		return nil, fmt.Errorf("save: --state: %s: %w", name, err)
	case err != nil:
		return nil, usagef("save: --state: %s: %w", name, err)
	}
	return r.Doc(), nil
}

// readInput reads a file, or standard input for "-", within the limit of a
// record.
func (c *call) readInput(name string) ([]byte, error) {
	in := c.env.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	limit := int64(checkpoint.DefaultLimits.Bytes)
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, fmt.Errorf("%s: more than the limit of %d bytes", name, limit)
	}
	return data, err
}

func parseSets(list []string) ([]assignment, error) {
	var sets []assignment
	for _, s := range list {
		path, value, ok := strings.Cut(s, "=")
		if !ok || path == "" {
			return nil, usagef("save: --set: %q: want PATH=VALUE", s)
		}
		sets = append(sets, assignment{path, checkpoint.ParseValue(value)})
	}
	return sets, nil
}

// apply derives a record. What speaks of one checkpoint alone is not carried
// over: its note, whether and where it can be resumed.
func (e *edit) apply(before *checkpoint.Record) (*checkpoint.Record, error) {
	r := before
	if r == nil || e.replace {
		r = checkpoint.New()
	}
	e.followLabels(r)
	r.SetTrigger(e.trigger)
	r.SetNote("")
	r.SetCanResume(true)
	r.SetResumeFrom("")
	r.SetWarnings(nil)
	if e.session != "" {
		r.SetSession(e.session)
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
	e.applyIssue(r)
	e.applyProgress(r)
	return r, e.applyRecovery(r)
}

// followLabels moves the phase where the issue's state label did since the
// checkpoint before. What the command line says about the phase comes later.
func (e *edit) followLabels(r *checkpoint.Record) {
	if e.issue == nil || e.phase != "" {
		return
	}
	if v := freshness.Evaluate(r, freshness.Facts{Now: e.now, Issue: e.issue}, e.rules); v.Phase != "" {
		e.enter(r, v.Phase)
	}
}

// enter begins a phase, unless the work is in it already.
func (e *edit) enter(r *checkpoint.Record, phase string) {
	if phase != r.Phase() {
		r.SetPhase(phase)
		r.SetPhaseStartedAt(e.now)
		r.SetPhaseAttempt(1)
	}
}

// applyIssue takes the snapshot of the issue, and the state label among its
// labels.
func (e *edit) applyIssue(r *checkpoint.Record) {
	if e.issue == nil {
		return
	}
	r.SetIssueSnapshot(checkpoint.IssueSnapshot{
		Title: e.issue.Title, Body: e.issue.Body, Labels: e.issue.Labels, Assignees: e.issue.Assignees,
		State: e.issue.State, Source: e.issue.Source, Known: true,
	})
	for _, field := range e.issue.Absent {
		child(r.Doc(), "issue_snapshot").Delete(field) // not empty, but not known
	}
	for _, label := range e.issue.Labels {
		if strings.HasPrefix(label, freshness.StatePrefix) {
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

// applyRecovery says whether and where work goes on.
func (e *edit) applyRecovery(r *checkpoint.Record) error {
	if e.noResume != "" {
		r.SetCanResume(false)
		r.SetWarnings(append(r.Warnings(), e.noResume))
	}
	if e.resumeFrom != "" {
		r.SetResumeFrom(e.resumeFrom)
	} else if r.ResumeFrom() == "" {
		r.SetResumeFrom(r.DefaultResumePoint())
	}
	missing, err := e.store.MissingOutputs(&gitstore.Checkpoint{}, r)
	if err != nil {
		return err
	}
	r.SetPrerequisitesMet(len(missing) == 0)
	return nil
}
