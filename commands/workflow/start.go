package workflow

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/saving"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/layout"

	"github.com/urfave/cli/v2"
)

// StartCommand declares git checkpoint start.
var StartCommand = invoke.Command{
	Name: "start", Usage: "begin a workflow", Args: "[ISSUE]", Max: 1, Category: "Progress",
	Description: "Saves the first checkpoint of a workflow: what it is about and the phases that it has.\n" +
		"The phases are a number or names; left out, they are those of the layout, or those\n" +
		"that the plan has headings for. Exits 8 while a workflow of the issue is under way.",
	Examples: []string{
		"git checkpoint start 42 --type implement --plan docs/plan.md",
		"git checkpoint start 42 --description 'sign in with a key' --phases design,build,test",
		"git checkpoint start --as claude --type orchestrate --project auth_system --phases 5",
	},
	Flags: startFlags,
	Run:   runStart,
}

func startFlags() []cli.Flag {
	return stepFlags(
		&cli.StringFlag{Name: "type", Usage: "what `TYPE` of workflow it is, like orchestrate, implement or test-all"},
		&cli.StringFlag{Name: "project", Usage: "the `PROJECT` it is for"},
		&cli.StringFlag{Name: "description", Usage: "what it is about, as `TEXT`"},
		&cli.StringFlag{Name: "plan", Usage: "the plan's `FILE`"},
		&cli.StringFlag{Name: "phases", Usage: "how many phases there are, `N`, or their names, with commas"},
		&cli.StringFlag{Name: "as", Usage: "begin a workflow of the system `LAYOUT`: crunch, claude, recovery, dotagent or pipeline"},
	)
}

func runStart(c *invoke.Invocation) error {
	as, err := invoke.LayoutFlag(c)
	if err != nil {
		return err
	}
	if err := saving.Open(c, checkpoint.PhaseTransition); err != nil {
		return err
	}
	w, key, err := workflow(c, as)
	if err != nil {
		return err
	}
	issue, err := issueToStart(c, key)
	if err != nil {
		return err
	}
	tellAlike(c, issue, w.Project)
	now := c.Env.Now()
	return take(c, issue, step{
		command: "start", trigger: checkpoint.PhaseTransition, begins: true,
		note: func() string { return stepNote("", "start", cmp.Or(w.Description, w.PlanPath)) },
		move: func(r *checkpoint.Record) error {
			if err := progress.Begin(r, w, now); err != nil {
				return err
			}
			layout.Enter(as, r, issue)
			return nil
		},
	})
}

// issueToStart returns the named issue, the key under which the layout stores such a
// workflow, or the inferred issue, in this order.
func issueToStart(c *invoke.Invocation, key string) (checkpoint.Issue, error) {
	if key == "" || len(c.Args) > 0 || c.Common.Issue != "" {
		return c.Issue()
	}
	i, err := checkpoint.ParseIssue(key)
	if err != nil {
		return "", exit.Errorf(exit.Usage, "git checkpoint start ISSUE", "start: %w", err)
	}
	c.IssueInQuestion = i
	return i, nil
}

// workflow returns the command line's workflow and the layout's storage key.
func workflow(c *invoke.Invocation, as layout.Name) (progress.Workflow, string, error) {
	w := progress.Workflow{
		Type: c.Flags.String("type"), Project: c.Flags.String("project"), Description: c.Flags.String("description"), Layout: string(as),
	}
	for _, s := range []string{w.Type, w.Project, w.Description, c.Flags.String("phases")} {
		if !utf8.ValidString(s) {
			return w, "", exit.Usagef("start: %q: not valid UTF-8", s)
		}
	}
	plan, err := readPlan(c, &w)
	if err != nil {
		return w, "", err
	}
	begin, err := layout.Begin(as, layout.Start{Type: w.Type, Project: w.Project, PlanPath: w.PlanPath})
	if err != nil {
		return w, "", exit.Usagef("start: --as %s: %w", as, err)
	}
	w.ID, w.Names = begin.ID, begin.Phases
	if err := readPhases(c, &w, plan); err != nil {
		return w, "", err
	}
	return w, begin.Key, nil
}

// readPlan reads the plan, or returns "" without --plan. The plan's path is recorded
// relative to the root.
func readPlan(c *invoke.Invocation, w *progress.Workflow) (string, error) {
	name := c.Flags.String("plan")
	if name == "" {
		return "", nil
	}
	var err error
	if w.PlanPath, err = c.RootPath(name); err != nil {
		return "", exit.Usagef("start: --plan: %w", err)
	}
	data, err := os.ReadFile(filepath.Join(c.Store.Root(), filepath.FromSlash(w.PlanPath)))
	if err != nil {
		return "", exit.Usagef("start: --plan: %w", err)
	}
	return string(data), nil
}

// readPhases reads --phases. Without the flag, the phases are those of the layout or of
// the plan.
func readPhases(c *invoke.Invocation, w *progress.Workflow, plan string) error {
	said := c.Flags.String("phases")
	switch n, err := strconv.Atoi(said); {
	case errors.Is(err, strconv.ErrRange):
		return exit.Usagef("start: --phases: %.40s: want 1 to %d", said, progress.MaxPhases)
	case said != "" && len(w.Names) > 0:
		return exit.Usagef("start: --phases: a workflow of %s has the phases %s", w.Layout, strings.Join(w.Names, ", "))
	case said == "" && len(w.Names) == 0:
		w.Total = progress.PlannedPhases(plan)
	case said == "":
	case err == nil:
		if w.Total = n; n < 1 || n > progress.MaxPhases {
			return exit.Usagef("start: --phases: %d: want 1 to %d", n, progress.MaxPhases)
		}
	default:
		if w.Names, err = progress.ParseNames(said); err != nil {
			return exit.Usagef("start: --phases: %w", err)
		}
	}
	return nil
}
