package workflow

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/saving"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"

	"github.com/urfave/cli/v2"
)

// PhaseCommand declares git checkpoint phase.
var PhaseCommand = invoke.Command{
	Name: "phase", Usage: "move a workflow from phase to phase", Args: "start|done|fail|skip|approve|replan|next [PHASE]", Max: 2, Category: "Progress",
	Description: "Moves the progress, then saves. PHASE is a number or a name; left out, it is the\n" +
		"first phase that is neither completed nor skipped. next prints it and saves nothing.\n" +
		"A phase that is completed is not started again, so that a workflow which was killed\n" +
		"can begin from its top: start exits 8 for what is done.",
	Examples: []string{
		"git checkpoint phase start 2",
		"git checkpoint phase done 2 --artifact reports/plan.md --summary 'planned the schema'",
		"git checkpoint phase done 3 --output out/design.json --schema schemas/design.json",
		"git checkpoint phase fail 3 --error 'tests fail' --on-failure retry",
		"git checkpoint phase replan 3 --reason 'the API has changed'",
		"git checkpoint phase next",
	},
	Flags: phaseFlags,
	Run:   runPhase,
}

func phaseFlags() []cli.Flag {
	return stepFlags(
		&cli.StringSliceFlag{Name: "artifact", Usage: "keep the file at `PATH` too, a git-ignored one as well, as the phase's"},
		&cli.StringFlag{Name: "output", Usage: "the `FILE` that the phase leaves to the next one; it has to be there, and JSON if it is called so"},
		&cli.StringFlag{Name: "schema", Usage: "hold the output against the JSON Schema in `FILE`"},
		&cli.StringFlag{Name: "summary", Usage: "what came of the phase, as `TEXT` of at most 50 words"},
		&cli.StringFlag{Name: "error", Usage: "why the phase failed, as `TEXT`"},
		&cli.BoolFlag{Name: "replanned", Usage: "it was planned anew on the way, which counts, for --reason"},
		&cli.StringFlag{Name: "reason", Usage: "why it is skipped or planned anew, as `TEXT`"},
		&cli.StringFlag{Name: "on-failure", Usage: "how to go on after a failure: `retry`, skip or abort"},
		&cli.BoolFlag{Name: "force", Usage: "in spite of a limit, an approval or what is completed"},
	)
}

// phaseVerbs are the verbs of phase, each with the flags that only some verbs accept.
var phaseVerbs = []verbFlags{
	{"start", []string{"force"}},
	{"done", []string{"artifact", "output", "schema", "summary", "replanned", "reason", "force"}},
	{"fail", []string{"error", "on-failure", "artifact", "force"}},
	{"skip", []string{"reason", "force"}},
	{"approve", nil},
	{"replan", []string{"reason", "force"}},
	{"next", nil},
}

func runPhase(c *invoke.Invocation) error {
	verb, typed, err := phaseArgs(c)
	if err != nil {
		return err
	}
	if err := saving.Open(c, checkpoint.PhaseTransition); err != nil {
		return err
	}
	issue, err := c.InferIssue()
	if err != nil {
		return err
	}
	c.IssueInQuestion = issue
	if verb == "next" {
		return nextPhase(c, issue)
	}
	p, err := readPhaseStep(c, verb, typed)
	if err != nil {
		return err
	}
	if verb == "replan" || p.replanned {
		p.known = replansOf(c, issue)
	}
	return tellStart(c, p, take(c, issue, step{
		command: "phase", trigger: checkpoint.PhaseTransition, move: p.move, note: p.note, artifacts: p.artifacts, record: withProgress,
		after: func(s *gitstore.Saved) error { return afterPhase(c, p, s) },
	}))
}

// phaseArgs returns the command line's verb and phase, and checks the verb's flags.
func phaseArgs(c *invoke.Invocation) (verb, typed string, err error) {
	if len(c.Args) > 0 {
		verb = c.Args[0]
	}
	if len(c.Args) > 1 {
		typed = c.Args[1]
	}
	var names []string
	for _, v := range phaseVerbs {
		names = append(names, v.name)
	}
	switch {
	case !slices.Contains(names, verb):
		return "", "", invoke.UnknownVerb("phase", verb, "next", names)
	case len(c.Args) > 1 && typed == "":
		return "", "", exit.Usagef("phase %s: the phase is empty", verb)
	case len(c.Args) > 1 && (strings.TrimSpace(typed) == "" || !utf8.ValidString(typed) || strings.ContainsFunc(typed, isControl)):
		return "", "", exit.Usagef("phase %s: %.40q is no name of a phase", verb, typed)
	}
	return verb, typed, checkVerb(c, phaseVerbs, verb)
}

// A phaseStep is one verb with its flags and settings.
type phaseStep struct {
	verb, typed string
	now         time.Time
	force       bool
	report      progress.Report
	replanned   bool
	error       string
	reason      string
	onFailure   progress.OnFailure
	retries     int      // maximum number of restarts after a failure
	replans     int      // maximum number of replans of a phase
	artifacts   []string // its output
	known       []progress.Replan
	ways        progress.Transitions

	phase string                   // resolved phase, or ""
	spent *progress.PlanLimitError // limit that the last move exhausted, although the move succeeded
}

// readPhaseStep returns the step of the command line.
func readPhaseStep(c *invoke.Invocation, verb, typed string) (*phaseStep, error) {
	f := c.Flags
	p := &phaseStep{
		verb: verb, typed: typed, now: c.Env.Now(), force: f.Bool("force"), error: f.String("error"), reason: f.String("reason"),
		replanned: f.Bool("replanned"), retries: c.Settings.Int("phase_retries"), replans: c.Settings.Int("phase_replans"),
	}
	for _, name := range []string{"error", "reason", "summary"} {
		if !utf8.ValidString(f.String(name)) {
			return nil, exit.Usagef("phase %s: --%s: not valid UTF-8", verb, name)
		}
	}
	var err error
	if p.ways, err = transitions(c); err != nil {
		return nil, err
	}
	if p.onFailure, err = onFailure(c, verb); err != nil {
		return nil, err
	}
	p.report, p.artifacts, err = phaseReport(c)
	return p, err
}

// move applies the step to a record. The phase is resolved only once, because the current
// phase can differ after a lost race.
func (p *phaseStep) move(r *checkpoint.Record) (err error) {
	if p.phase == "" {
		if p.phase, err = p.resolve(r); err != nil {
			return err
		}
	}
	s := progress.Step{Phase: p.phase, At: p.now, Force: p.force, Known: p.known, Ways: p.ways}
	switch p.verb {
	case "start":
		return s.Start(r, p.retries)
	case "fail":
		if p.spent, err = s.Fail(r, p.error, p.onFailure, p.retries); err == nil {
			s.Attach(r, p.report)
		}
		return err
	case "skip":
		return s.Skip(r, p.reason)
	case "approve":
		return s.Approve(r)
	case "replan":
		return s.Replan(r, p.reason, p.replans)
	}
	if p.replanned {
		return s.Replanned(r, p.report, p.reason, p.replans)
	}
	return s.Done(r, p.report)
}

// resolve returns the phase of the step. If an approval names no phase and only one phase
// awaits approval, it is that phase.
func (p *phaseStep) resolve(r *checkpoint.Record) (string, error) {
	switch awaiting := r.Awaiting(); {
	case p.verb == "approve" && p.typed == "" && len(awaiting) == 1:
		return awaiting[0], nil
	case p.verb == "approve" && slices.Contains(awaiting, p.typed):
		return p.typed, nil // a task may await approval too
	}
	return progress.Resolve(r, p.typed)
}
