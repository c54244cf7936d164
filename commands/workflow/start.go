package workflow

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout"

	"github.com/urfave/cli/v2"
)

// StartCommand declares git checkpoint start.
var StartCommand = invoke.Command{
	Name: "start", Usage: "begin a workflow", Args: "[ISSUE]", Max: 1, Category: "Progress",
	ShortHelp: []string{"type", "description", "plan", "phases"},
	Description: "Saves the first checkpoint of a workflow, with its description and phases. Without\n" +
		"--phases, the phases are those of the layout, or the headings \"Phase N\" of the plan.\n" +
		"Exits with 8 if the issue has a workflow in progress.",
	Examples: []string{
		"git checkpoint start 42 --type implement --plan docs/plan.md",
		"git checkpoint start 42 --description 'sign in with a key' --phases design,build,test",
		"git checkpoint start --as claude --type orchestrate --project auth_system --phases 5",
	},
	Saves: true,
	New:   invoke.Bind((*startOptions).flags, runStart),
}

// startOptions are the flags of start.
type startOptions struct {
	work.SaveOptions
	kind, project, description string
	plan                       string // file of the plan, or ""
	phases                     string // number or names of the phases, or ""
	as                         layout.Name
}

func (o *startOptions) flags() []cli.Flag {
	return o.StepFlags(
		&cli.StringFlag{Name: "type", Usage: "`TYPE` of the workflow, such as orchestrate, implement or test-all", Destination: &o.kind},
		&cli.StringFlag{Name: "project", Usage: "`PROJECT` of the workflow", Destination: &o.project},
		&cli.StringFlag{Name: "description", Usage: "description of the workflow (`TEXT`)", Destination: &o.description},
		&cli.StringFlag{Name: "plan", Usage: "`FILE` of the plan", Destination: &o.plan},
		&cli.StringFlag{Name: "phases", Usage: "number of phases, or a comma-separated list of names (`N`)", Destination: &o.phases},
		&cli.StringFlag{Name: "as", Usage: "begin a workflow of the system `LAYOUT`: " + view.OneOf(layout.Names()), Destination: (*string)(&o.as)},
	)
}

func runStart(c *invoke.Invocation, o *startOptions) error {
	if err := c.CheckLayout(o.as); err != nil {
		return err
	}
	if err := work.OpenToSave(c); err != nil {
		return err
	}
	w, key, err := workflow(c, o)
	if err != nil {
		return err
	}
	issue, err := c.IssueOr(key, "from the workflow", "git checkpoint start ISSUE")
	if err != nil {
		return err
	}
	tellAlike(c, issue, w.Project)
	now := c.Env.Now()
	return take(c, issue, step{
		command: "start", options: &o.SaveOptions, trigger: checkpoint.PhaseTransition, begins: true,
		note: func() string { return stepNote("", "start", cmp.Or(w.Description, w.PlanPath)) },
		move: func(r *checkpoint.Record) error {
			if err := progress.Begin(r, w, now); err != nil {
				return err
			}
			if s := layout.Find(o.as); s.Enter != nil {
				s.Enter(r, issue)
			}
			return nil
		},
		after: func(*gitstore.Saved) error {
			if err := c.NoteStart(issue); err != nil {
				c.Warnf("the next command needs --issue %s: %v", view.QuoteArg(string(issue)), err)
			}
			return nil
		},
	})
}

// workflow returns the command line's workflow and the layout's storage key.
func workflow(c *invoke.Invocation, o *startOptions) (progress.Workflow, string, error) {
	w := progress.Workflow{Type: o.kind, Project: o.project, Description: o.description, Layout: string(o.as)}
	for _, s := range []string{w.Type, w.Project, w.Description, o.phases} {
		if !utf8.ValidString(s) {
			return w, "", failure.Usagef("start: %q: not valid UTF-8", s)
		}
	}
	plan := ""
	if o.plan != "" {
		var err error
		if w.PlanPath, err = c.RootPath(o.plan); err != nil {
			return w, "", failure.Usagef("start: --plan: %w", err)
		}
		data, err := os.ReadFile(filepath.Join(c.Store.Root(), filepath.FromSlash(w.PlanPath)))
		if err != nil {
			return w, "", failure.Usagef("start: --plan: %w", err)
		}
		plan = string(data)
	}
	begin, err := layout.Find(o.as).NewWorkflow(layout.Start{Type: w.Type, Project: w.Project, PlanPath: w.PlanPath})
	if err != nil {
		return w, "", failure.Usagef("start: --as %s: %w", o.as, err)
	}
	w.ID, w.Names = begin.ID, begin.Phases
	if err := readPhases(&w, o.phases, plan); err != nil {
		return w, "", err
	}
	return w, begin.Key, nil
}

// readPhases reads --phases. Without the flag, the phases are those of the layout or of
// the plan.
func readPhases(w *progress.Workflow, said, plan string) error {
	switch n, err := strconv.Atoi(said); {
	case errors.Is(err, strconv.ErrRange):
		return failure.Usagef("start: --phases: %.40s: want 1 to %d", said, progress.MaxPhases)
	case said != "" && len(w.Names) > 0:
		return failure.Usagef("start: --phases: a workflow of %s has the phases %s", w.Layout, strings.Join(w.Names, ", "))
	case said == "" && len(w.Names) == 0:
		w.Total = progress.PlannedPhases(plan)
	case said == "":
	case err == nil:
		if w.Total = n; n < 1 || n > progress.MaxPhases {
			return failure.Usagef("start: --phases: %d: want 1 to %d", n, progress.MaxPhases)
		}
	default:
		if w.Names, err = progress.ParseNames(said); err != nil {
			return failure.Usagef("start: --phases: %w", err)
		}
	}
	return nil
}

// tellAlike warns if another open workflow's project name is a prefix of this name, or
// the reverse. A search for files by prefix would find both.
func tellAlike(c *invoke.Invocation, issue checkpoint.Issue, project string) {
	if project == "" {
		return
	}
	issues, err := c.IssuesWithCheckpoints()
	if err != nil {
		return
	}
	for _, i := range issues[:min(len(issues), 200)] {
		if i == issue {
			continue
		}
		_, r, err := c.Store.PointRecord(c.Ctx, i)
		if err != nil || progress.Over(r) {
			continue
		}
		if other := r.Doc().Sub("workflow").Text("project"); progress.Alike(project, other) {
			c.Warnf("project %s begins like %s of issue %s: names that differ from their beginning are told apart", project, other, i)
		}
	}
}
