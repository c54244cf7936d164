package workflow

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/failure"

	"github.com/urfave/cli/v2"
)

// PhaseCommand declares git checkpoint phase.
var PhaseCommand = invoke.Command{
	Name: "phase", Usage: "change the state of a phase", Args: "start|done|fail|skip|await|approve|replan|next [PHASE]", Max: 2, Category: "Progress",
	ShortHelp: []string{"output", "summary", "error", "reason", "force"},
	Description: "Changes the state of a phase, then saves. PHASE is a number or a name, by default the\n" +
		"first phase that is neither completed nor skipped. next prints it and saves nothing.\n" +
		"await records that a phase needs a person's approval: resume asks for it, and approve\n" +
		"gives it.\n" +
		"A completed phase is not started again: start exits with 8. So a killed workflow can\n" +
		"run again from its first phase.",
	Examples: []string{
		"git checkpoint phase start 2",
		"git checkpoint phase done 2 --artifact reports/plan.md --summary 'planned the schema'",
		"git checkpoint phase done 3 --output out/design.json --schema schemas/design.json",
		"git checkpoint phase fail 3 --error 'tests fail' --on-failure retry",
		"git checkpoint phase await design",
		"git checkpoint phase replan 3 --reason 'the API has changed'",
		"git checkpoint phase next",
	},
	Saves:        true,
	ReadingVerbs: []string{"next"},
	New:          invoke.Bind((*phaseOptions).flags, runPhase),
}

// phaseOptions are the flags of phase.
type phaseOptions struct {
	work.SaveOptions
	output    string // file of --output, as typed, or ""
	schema    string // file of --schema, or ""
	summary   string
	error     string
	reason    string
	replanned bool
	onFailure string // value of --on-failure, or ""
	force     bool
}

func (o *phaseOptions) flags() []cli.Flag {
	return o.StepFlags(
		&cli.GenericFlag{Name: "artifact", Usage: "also capture the file at `PATH` as an artifact of the phase, even if git ignores it", Value: (*invoke.List)(&o.Artifacts)},
		&cli.StringFlag{Name: "output", Usage: "output `FILE` of the phase, for the next phase; it must exist, and .json must be JSON", Destination: &o.output},
		&cli.StringFlag{Name: "schema", Usage: "validate the output against the JSON Schema in `FILE`", Destination: &o.schema},
		&cli.StringFlag{Name: "summary", Usage: "result of the phase, at most 50 words (`TEXT`)", Destination: &o.summary},
		&cli.StringFlag{Name: "error", Usage: "reason of the failure (`TEXT`)", Destination: &o.error},
		&cli.BoolFlag{Name: "replanned", Usage: "count a replan during the phase, with --reason", Destination: &o.replanned},
		&cli.StringFlag{Name: "reason", Usage: "reason of a skip or a replan (`TEXT`)", Destination: &o.reason},
		&cli.StringFlag{Name: "on-failure", Usage: "next step after a failure: `retry`, skip or abort", Destination: &o.onFailure},
		&cli.BoolFlag{Name: "force", Usage: "ignore a limit, a missing approval or a completed phase", Destination: &o.force},
	)
}

// phaseVerbs are the verbs of phase, each with the flags that only some verbs accept.
var phaseVerbs = []verbFlags{
	{"start", []string{"force"}},
	{"done", []string{"artifact", "output", "schema", "summary", "replanned", "reason", "force"}},
	{"fail", []string{"error", "on-failure", "artifact", "force"}},
	{"skip", []string{"reason", "force"}},
	{"await", nil},
	{"approve", nil},
	{"replan", []string{"reason", "force"}},
	{"next", nil},
}

func runPhase(c *invoke.Invocation, o *phaseOptions) error {
	verb, err := verbOf(c, phaseVerbs, "next")
	if err != nil {
		return err
	}
	typed := ""
	if len(c.Line.Args) > 1 {
		switch typed = c.Line.Args[1]; {
		case typed == "":
			return failure.Usagef("phase %s: the phase is empty", verb)
		case strings.TrimSpace(typed) == "" || !utf8.ValidString(typed) || strings.ContainsFunc(typed, isControl):
			return failure.Usagef("phase %s: %.40q is no name of a phase", verb, typed)
		}
	}
	if err := work.OpenToSave(c); err != nil {
		return err
	}
	issue, err := c.InferIssue()
	if err != nil {
		return err
	}
	c.Subject.Issue = issue
	if verb == "next" {
		return nextPhase(c, issue)
	}
	p, err := newPhaseStep(c, o, verb, typed)
	if err != nil {
		return err
	}
	if verb == "replan" || p.options.replanned {
		p.known = replansOf(c, issue)
	}
	err = take(c, issue, step{
		command: "phase", options: &p.options.SaveOptions, trigger: checkpoint.PhaseTransition, move: p.move, note: p.note, artifacts: p.artifacts,
		after: func(s *gitstore.Saved) error { return afterPhase(c, p, s) },
	})
	// The recovery system's messages about the start of a phase.
	if over, ok := errors.AsType[*progress.RefusedError](err); ok && over.Over && verb == "start" {
		c.Infof("Skipping Phase %s (already completed)", p.phase)
	}
	if err == nil && verb == "start" && p.phase != "" && !o.DryRun {
		c.Infof("Executing Phase %s...", p.phase)
	}
	return err
}

// A phaseStep is one verb with its flags and settings.
type phaseStep struct {
	verb, typed string
	options     *phaseOptions
	now         time.Time
	report      progress.Report
	onFailure   progress.OnFailure
	retries     int      // maximum number of restarts after a failure
	replans     int      // maximum number of replans of a phase
	artifacts   []string // its output
	known       []progress.Replan
	ways        progress.Transitions

	phase string                 // resolved phase, or ""
	spent *progress.RefusedError // limit that the last move exhausted, although the move succeeded
}

// newPhaseStep returns the step of the command line. It asks a person how work continues
// after a failure, and reads the results of the phase.
func newPhaseStep(c *invoke.Invocation, o *phaseOptions, verb, typed string) (*phaseStep, error) {
	p := &phaseStep{
		verb: verb, typed: typed, options: o, now: c.Env.Now(), retries: c.Settings.Int("limits.phase_retries"), replans: c.Settings.Int("limits.phase_replans"),
	}
	err := work.CheckUTF8("phase "+verb, "error", o.error, "reason", o.reason, "summary", o.summary)
	if err != nil {
		return nil, err
	}
	for _, text := range c.Settings.Strings("transitions") {
		w, err := progress.ParseTransition(text)
		if err != nil {
			return nil, failure.Errorf(failure.Usage, "git checkpoint config", "transitions: %w", err)
		}
		p.ways = append(p.ways, w)
	}
	if p.onFailure, err = onFailure(c, o, verb); err != nil {
		return nil, err
	}
	p.report, p.artifacts, err = phaseReport(c, o)
	return p, err
}

// move applies the step to a record. The phase is resolved only once, because the current
// phase can differ after a lost race.
func (p *phaseStep) move(r *checkpoint.Record) error {
	if err := p.moveProgress(r); err != nil {
		return err
	}
	switch p.verb {
	case "start":
		story.Begin(r, p.phase)
	case "done":
		if err := story.CheckStage(r, p.phase); err != nil && !p.options.force {
			return err
		}
	}
	story.FollowPhases(r, strings.TrimSpace(p.phase+" "+cmp.Or(pastOf[p.verb], p.verb)))
	return nil
}

func (p *phaseStep) moveProgress(r *checkpoint.Record) (err error) {
	switch awaiting := r.Awaiting(); {
	case p.phase != "":
	case p.verb == "approve" && p.typed == "" && len(awaiting) == 1:
		p.phase = awaiting[0] // the only one
	case p.verb == "approve" && slices.Contains(awaiting, p.typed):
		p.phase = p.typed // a task may await approval too
	default:
		if p.phase, err = progress.Resolve(r, p.typed); err != nil {
			return err
		}
	}
	s := progress.Step{Phase: p.phase, At: p.now, Force: p.options.force, Known: p.known, Ways: p.ways}
	switch p.verb {
	case "start":
		return s.Start(r, p.retries)
	case "fail":
		if p.spent, err = s.Fail(r, p.options.error, p.onFailure, p.retries); err == nil {
			s.Attach(r, p.report)
		}
		return err
	case "skip":
		return s.Skip(r, p.options.reason)
	case "await":
		return s.Await(r)
	case "approve":
		return s.Approve(r)
	case "replan":
		return s.Replan(r, p.options.reason, p.replans)
	}
	if p.options.replanned {
		return s.Replanned(r, p.report, p.options.reason, p.replans)
	}
	return s.Done(r, p.report)
}

func (p *phaseStep) note() string {
	what := p.phase
	if _, err := strconv.Atoi(what); err == nil {
		what = "phase " + what
	}
	verb := p.verb
	if p.options.replanned {
		verb = "done, " + pastOf["replan"]
	}
	return stepNote(what, verb, cmp.Or(p.options.reason, p.options.error, p.report.Summary))
}

// onFailure returns how work continues after a failure: by the flag, or by the answer of
// a person at the terminal. Otherwise the failure is recorded and nothing else happens.
func onFailure(c *invoke.Invocation, o *phaseOptions, verb string) (progress.OnFailure, error) {
	if s := o.onFailure; s != "" {
		o, err := progress.ParseOnFailure(s)
		if err != nil {
			return "", failure.Usagef("phase fail: --on-failure: %w", err)
		}
		return o, nil
	}
	if verb != "fail" || c.Line.JSON || c.Line.Common.Quiet || o.DryRun {
		return progress.Nothing, nil
	}
	d, err := c.Dialog("")
	if err != nil {
		return progress.Nothing, nil
	}
	defer d.Close()
	answer, err := d.Ask("Retry phase, Skip phase, or Abort workflow? [r/s/a] ", map[string]string{
		"r": "retry", "retry": "retry", "s": "skip", "skip": "skip", "a": "abort", "abort": "abort",
	})
	if errors.Is(err, invoke.ErrNoAnswer) {
		return progress.Nothing, nil
	}
	return progress.OnFailure(answer), err
}

// afterPhase ends the workflow if a failure aborts it, and returns an error if a limit is
// exhausted.
func afterPhase(c *invoke.Invocation, p *phaseStep, s *gitstore.Saved) error {
	if n := s.Record.PhaseAttempt(); p.verb == "start" && n > 1 {
		c.Infof("attempt %d of phase %s", n, p.phase)
	}
	if ahead := progress.Ahead(s.Record, p.phase); len(ahead) > 0 && (p.verb == "start" || p.verb == "done") {
		c.Warnf("phases before phase %s are neither completed nor skipped: %s", p.phase, view.List(ahead))
	}
	if p.spent != nil {
		return p.spent
	}
	if p.verb == "done" && story.SentBack(s.Record) {
		c.Infof("the verdict sends the story back to %s", s.Record.Progress().Current)
		return work.TaskFailure(s.Issue, "", story.Err(s.Record, story.Of(s.Record)))
	}
	if p.verb == "fail" && p.onFailure == progress.Abort {
		return dispose(c, s, progress.Aborted, false)
	}
	return nil
}

// replansOf returns replans from an issue's records. The newest record may lack some of
// them, because work may have resumed from an older checkpoint. Unreadable records are
// skipped.
func replansOf(c *invoke.Invocation, issue checkpoint.Issue) []progress.Replan {
	l, err := c.Store.List(c.Ctx, issue, 1000)
	if err != nil {
		return nil
	}
	var records []*checkpoint.Record
	for i := range l.Checkpoints {
		if r, err := c.Store.Record(&l.Checkpoints[i]); err == nil {
			records = append(records, r)
		}
	}
	return progress.AllReplans(records...)
}

// nextPhase prints the phase at which work continues, as status and resume do.
func nextPhase(c *invoke.Invocation, issue checkpoint.Issue) error {
	s, err := work.Newest(c, issue, work.JudgeOptions{Issue: work.IssueOptions{Recent: true}})
	if err != nil {
		return err
	}
	cp, r, next := s.Checkpoint, s.Record, s.Verdict.At.Phase
	switch done, at := r.Progress().Completed, s.Verdict.At; {
	case c.Line.JSON:
		return c.WriteJSON(recordedStep(c, "phase", next, cp, r))
	case next != "":
		c.Printf("%s\n", view.Clean(next))
	case at.Complete:
		c.Infof("nothing is left to do")
	case at.Code != "":
		c.Infof("no phase is recorded: the work goes on at %s", at.Code)
	case len(done) > 0:
		c.Infof("no phase is known after %s: the record states no total", done[len(done)-1])
	default:
		c.Infof("no phase is recorded")
	}
	return nil
}
