package workflow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/tasks"
	"git-checkpoint/gitstore/failure"

	"github.com/urfave/cli/v2"
)

// TaskCommand declares git checkpoint task.
var TaskCommand = invoke.Command{
	Name: "task", Usage: "change the state of tasks", Args: "add|start|done|fail|suspect|clear|list|recover [TASK...]", Max: maxTasks + 1, Category: "Progress",
	ShortHelp: []string{"after", "output", "error", "ready", "force"},
	Description: "Changes tasks, then saves. start claims a task: it exits with 8 if another worker has\n" +
		"claimed it, or if it waits for other tasks or is complete. Repeated done and add change\n" +
		"nothing. Tasks that depend on a failed task wait until it is started again. recover\n" +
		"settles tasks that were running at a crash: complete if the output exists, else\n" +
		"pending again. It leaves the claim of a named worker alone until it is older than\n" +
		"limits.stale_minutes; --force takes it. list saves nothing. suspect marks a worker\n" +
		"that does not respond, clear removes the mark, and fail --crash confirms the crash.",
	Examples: []string{
		"git checkpoint task add T1 T2 T3",
		"git checkpoint task start T1 --by worker-7",
		"git checkpoint task done T1 --by worker-7 --output out/T1.json",
		"git checkpoint task fail T2 --error 'the tests fail'",
		"git checkpoint task fail T2 --crash",
		"git checkpoint task list --ready",
	},
	Saves:        true,
	ReadingVerbs: []string{"list"},
	New:          invoke.Bind((*taskOptions).flags, runTask),
}

// maxTasks limits the tasks of one command line.
const maxTasks = 10000

// taskOptions are the flags of task.
type taskOptions struct {
	work.SaveOptions
	output   string // file of --output, as typed, or ""
	after    []string
	by       string
	error    string
	crash    bool
	clean    bool
	timedOut bool
	ready    bool
	force    bool
}

func (o *taskOptions) flags() []cli.Flag {
	return o.StepFlags(
		&cli.StringFlag{Name: "output", Usage: "output `FILE` of the task", Destination: &o.output},
		&cli.GenericFlag{Name: "after", Usage: "`TASK` that must be complete before the added tasks", Value: (*invoke.List)(&o.after)},
		&cli.StringFlag{Name: "by", Usage: "`NAME` of the worker", Destination: &o.by},
		&cli.StringFlag{Name: "error", Usage: "reason of the failure (`TEXT`)", Destination: &o.error},
		&cli.BoolFlag{Name: "crash", Usage: "the worker crashed: the task is pending again, and the crash is counted", Destination: &o.crash},
		&cli.BoolFlag{Name: "clean", Usage: "remove incomplete outputs", Destination: &o.clean},
		&cli.BoolFlag{Name: "timed-out", Usage: "the task took too long: it can run once more", Destination: &o.timedOut},
		&cli.GenericFlag{Name: "artifact", Usage: "also capture the file at `PATH`, even if git ignores it", Value: (*invoke.List)(&o.Artifacts)},
		&cli.BoolFlag{Name: "ready", Usage: "list the names of tasks that can begin now, one a line", Destination: &o.ready},
		&cli.BoolFlag{Name: "force", Usage: "ignore a claim, a limit or open dependencies", Destination: &o.force},
	)
}

// taskVerbs are the verbs of task, each with the flags that only some verbs accept.
var taskVerbs = []verbFlags{
	{"add", []string{"output", "after"}},
	{"start", []string{"by", "force"}},
	{"done", []string{"output", "artifact", "by", "force"}},
	{"fail", []string{"error", "crash", "timed-out", "by", "force"}},
	{"suspect", nil},
	{"clear", nil},
	{"list", []string{"ready"}},
	{"recover", []string{"clean", "by", "force"}},
}

func runTask(c *invoke.Invocation, o *taskOptions) error {
	verb, err := verbOf(c, taskVerbs, "list")
	if err == nil {
		err = checkTasks(o, verb, c.Line.Args[1:])
	}
	if err != nil {
		return err
	}
	if err := work.OpenToSave(c); err != nil {
		return err
	}
	issue, err := c.InferIssue()
	if err != nil {
		return err
	}
	c.Subject.Issue = issue
	if verb == "list" {
		return listTasks(c, issue, o.ready)
	}
	if verb == "recover" {
		if _, err := c.Store.Newest(c.Ctx, issue); err != nil {
			return err
		}
	}
	t, err := newTaskStep(c, o, issue, verb)
	if err != nil {
		return err
	}
	return take(c, issue, step{command: "task", options: &o.SaveOptions, trigger: checkpoint.TaskUpdate, move: t.move, note: t.note, after: t.after})
}

// checkTasks checks the names of tasks and the combination of arguments.
func checkTasks(o *taskOptions, verb string, ids []string) error {
	for _, id := range slices.Concat(ids, o.after) {
		switch {
		case strings.TrimSpace(id) == "" || !utf8.ValidString(id):
			return failure.Usagef("task %s: %q is no name of a task", verb, id)
		case len(id) > maxTaskName || strings.ContainsFunc(id, isControl):
			return failure.Usagef("task %s: %.40q: want a name of at most %d bytes on one line", verb, id, maxTaskName)
		}
	}
	if err := work.CheckUTF8("task "+verb, "error", o.error, "by", o.by); err != nil {
		return err
	}
	switch {
	case len(ids) == 0 && (verb == "add" || verb == "start" || verb == "done" || verb == "suspect" || verb == "clear" || verb == "fail" && !o.crash):
		return failure.Errorf(failure.Usage, "git checkpoint task list", "task %s: no task given", verb)
	case len(ids) > 1 && o.output != "":
		return failure.Usagef("task %s: --output is of one task, got %d", verb, len(ids))
	case o.crash && o.timedOut:
		return failure.Usagef("task fail: --crash and --timed-out cannot be combined")
	}
	return nil
}

// maxTaskName limits a task's name, in bytes.
const maxTaskName = 200

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// listTasks prints the tasks of an issue's newest checkpoint, or with ready only the names
// of the tasks that can start.
func listTasks(c *invoke.Invocation, issue checkpoint.Issue, ready bool) error {
	p, r, err := c.Store.PointRecord(c.Ctx, issue)
	if err != nil {
		return err
	}
	l, err := namedTasks(c, r)
	if err != nil {
		return work.TaskFailure(issue, "", err)
	}
	if _, err := tasks.Of(r).Batches(); err != nil {
		c.Warnf("%v: none of them can begin but with task start --force", err)
	}
	if c.Line.JSON {
		return c.WriteJSON(taskRecord(recordedStep(c, "task", r.Phase(), p.Checkpoint, r), r, l))
	}
	if ready {
		for _, id := range tasks.Of(r).Ready() {
			c.Printf("%s\n", view.Clean(id))
		}
		return nil
	}
	rows, digits := make([][]string, len(l)), 1
	for _, task := range l {
		digits = max(digits, len(strconv.Itoa(task.Attempts)))
	}
	for i, task := range l {
		rows[i] = []string{task.ID, task.Status, fmt.Sprintf("%*d", digits, task.Attempts), note(task)}
	}
	c.Printf("%s", view.Screen{}.Columns(rows))
	return nil
}

// namedTasks returns the tasks of the command line, or all tasks.
func namedTasks(c *invoke.Invocation, r *checkpoint.Record) ([]tasks.Task, error) {
	l := tasks.Of(r)
	if len(c.Line.Args) == 1 {
		return l.All(), nil
	}
	var out []tasks.Task
	for _, id := range c.Line.Args[1:] {
		t, ok := l.Task(id)
		if !ok {
			return nil, &tasks.UnknownError{ID: id}
		}
		out = append(out, t)
	}
	return out, nil
}

// note returns the text beside a task's status.
func note(t tasks.Task) string {
	switch {
	case t.Error != "":
		return t.Error
	case t.WaitsFor != "":
		return "waits for " + t.WaitsFor
	case t.Suspected != "":
		return "suspected since " + t.Suspected
	case t.Status == tasks.Running && t.By != "":
		return "by " + t.By
	case !t.Over() && len(t.Needs) > 0:
		return "after " + view.List(t.Needs)
	}
	return t.Output
}

// taskRecord returns the JSON record of tasks. Batches are left out if the tasks contain
// a cycle.
func taskRecord(s view.WorkflowStep, r *checkpoint.Record, of []tasks.Task) view.Tasks {
	l := tasks.Of(r)
	out := view.Tasks{WorkflowStep: s, Tasks: of, Ready: l.Ready()}
	out.Batches, _ = l.Batches()
	return out
}
