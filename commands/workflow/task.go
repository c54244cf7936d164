package workflow

import (
	"slices"
	"strings"
	"unicode/utf8"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/saving"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

// TaskCommand declares git checkpoint task.
var TaskCommand = invoke.Command{
	Name: "task", Usage: "move the tasks of a workflow", Args: "add|start|done|fail|suspect|clear|list|recover [TASK...]", Max: maxTasks + 1, Category: "Progress",
	Description: "Moves tasks, then saves. start claims a task: it exits 8 where somebody has it, it\n" +
		"waits for others or is complete. done and add twice are the same as once. A task\n" +
		"that fails keeps what depends on it from running until it is begun again. recover\n" +
		"settles what was running when the work was cut off: complete where the output is\n" +
		"there, else pending again. list saves nothing. A worker that gives no sign of life is\n" +
		"told of with suspect, and taken back with clear; fail --crash confirms its crash.",
	Examples: []string{
		"git checkpoint task add T1 T2 T3",
		"git checkpoint task start T1 --by worker-7",
		"git checkpoint task done T1 --output out/T1.json",
		"git checkpoint task fail T2 --error 'the tests fail'",
		"git checkpoint task fail T2 --crash",
		"git checkpoint task list --ready",
	},
	Flags: taskFlags,
	Run:   runTask,
}

// maxTasks limits the tasks of one command line.
const maxTasks = 10000

func taskFlags() []cli.Flag {
	return stepFlags(
		&cli.StringFlag{Name: "output", Usage: "the `FILE` that the task writes, or has written"},
		&cli.StringSliceFlag{Name: "after", Usage: "the `TASK` that must be complete before those that are added"},
		&cli.StringFlag{Name: "by", Usage: "the `NAME` of who claims the task"},
		&cli.StringFlag{Name: "error", Usage: "why the task failed, as `TEXT`"},
		&cli.BoolFlag{Name: "crash", Usage: "its worker crashed: the task is pending again, and the crash is counted"},
		&cli.BoolFlag{Name: "clean", Usage: "remove the outputs that were left half done"},
		&cli.BoolFlag{Name: "timed-out", Usage: "it took too long: it is tried once more"},
		&cli.StringSliceFlag{Name: "artifact", Usage: "keep the file at `PATH` too, a git-ignored one as well"},
		&cli.BoolFlag{Name: "ready", Usage: "list the names of those that can begin now, a line each"},
		&cli.BoolFlag{Name: "force", Usage: "in spite of a claim, a limit, or what it waits for"},
	)
}

// taskVerbs are the verbs of task, each with the flags that only some verbs accept.
var taskVerbs = []verbFlags{
	{"add", []string{"output", "after"}},
	{"start", []string{"by", "force"}},
	{"done", []string{"output", "artifact"}},
	{"fail", []string{"error", "crash", "timed-out"}},
	{"suspect", nil},
	{"clear", nil},
	{"list", []string{"ready"}},
	{"recover", []string{"clean"}},
}

func runTask(c *invoke.Invocation) error {
	verb, err := taskVerb(c)
	if err != nil {
		return err
	}
	if err := saving.Open(c, checkpoint.TaskUpdate); err != nil {
		return err
	}
	issue, err := c.InferIssue()
	if err != nil {
		return err
	}
	c.IssueInQuestion = issue
	if verb == "list" {
		return listTasks(c, issue)
	}
	if verb == "recover" {
		if _, err := c.Store.Newest(c.Ctx, issue); err != nil {
			return err
		}
	}
	t, err := readTaskStep(c, issue, verb)
	if err != nil {
		return err
	}
	return take(c, issue, step{command: "task", trigger: checkpoint.TaskUpdate, move: t.move, note: t.note, after: t.after, record: withTasks})
}

// taskVerb returns the verb of the command line, and checks its tasks and flags.
func taskVerb(c *invoke.Invocation) (string, error) {
	verb := ""
	if len(c.Args) > 0 {
		verb = c.Args[0]
	}
	if !slices.ContainsFunc(taskVerbs, func(v verbFlags) bool { return v.name == verb }) {
		return "", invoke.UnknownVerb("task", verb, "list", []string{"add", "start", "done", "fail", "suspect", "clear", "list", "recover"})
	}
	if err := checkVerb(c, taskVerbs, verb); err != nil {
		return "", err
	}
	return verb, checkTasks(c, verb)
}

// checkTasks checks the names of tasks and the combination of arguments.
func checkTasks(c *invoke.Invocation, verb string) error {
	ids := c.Args[1:]
	for _, id := range slices.Concat(ids, c.Lists["after"]) {
		switch {
		case strings.TrimSpace(id) == "" || !utf8.ValidString(id):
			return exit.Usagef("task %s: %q is no name of a task", verb, id)
		case len(id) > maxTaskName || strings.ContainsFunc(id, isControl):
			return exit.Usagef("task %s: %.40q: want a name of at most %d bytes on one line", verb, id, maxTaskName)
		}
	}
	for _, name := range []string{"error", "by"} {
		if !utf8.ValidString(c.Flags.String(name)) {
			return exit.Usagef("task %s: --%s: not valid UTF-8", verb, name)
		}
	}
	crash := c.Flags.Bool("crash")
	switch {
	case len(ids) == 0 && (verb == "add" || verb == "start" || verb == "done" || verb == "suspect" || verb == "clear" || verb == "fail" && !crash):
		return exit.Errorf(exit.Usage, "git checkpoint task list", "task %s: which task?", verb)
	case len(ids) > 1 && c.Flags.IsSet("output"):
		return exit.Usagef("task %s: --output is of one task, got %d", verb, len(ids))
	case crash && c.Flags.Bool("timed-out"):
		return exit.Usagef("task fail: --crash and --timed-out do not go together")
	}
	return nil
}

// maxTaskName limits a task's name, in bytes.
const maxTaskName = 200

func isControl(r rune) bool { return r < ' ' || r == 0x7f }
