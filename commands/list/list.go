// Package list has the commands that show checkpoints: list, show and diff.
package list

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/atomicfile"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/terminal"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/tasks"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/claude"

	"github.com/urfave/cli/v2"
)

// ListCommand declares git checkpoint list.
var ListCommand = invoke.Command{
	Name: "list", Alias: "log", Usage: "list an issue's checkpoints, newest first", Args: "[ISSUE]", Max: 1,
	Everyday: true, ShortHelp: []string{"n", "all", "turns", "archived"},
	Category: "Look",
	Description: "If several issues have checkpoints and the branch names none of them, list prints one\n" +
		"line for each of the 50 issues that were saved last, or of N issues with -n N. Otherwise it\n" +
		"prints the checkpoints of one issue, or of all issues with --all.\n\n" +
		"Marks: * tip, p pinned, r resumable, ! invalid, a archived. On a terminal it is a\n" +
		"timeline by phase with the changed files and lines of each checkpoint, and s marks\n" +
		"checkpoints that are resumable but stale. Automatic checkpoints that follow each other\n" +
		"have one line there, unless --verbose is set. list reads the records of the first 100\n" +
		"checkpoints of an issue; verify reads all. --grep, --path and --content search the archive too.",
	Examples: []string{
		"git checkpoint list 42",
		"git checkpoint list -n 5 --trigger batch_complete",
		"git checkpoint list --all --since 7d --json",
		"git checkpoint list 42 --turns",
		"git checkpoint list 42 --graph",
		"git checkpoint list --operations",
		"git checkpoint list 42 --path src --grep parser",
		"git checkpoint list --all --content 'func Parse'",
	},
	MayBeEmpty: []string{"phase"},
	ReadsOnly:  true,
	New:        invoke.Bind((*listOptions).flags, runList),
}

type listOptions struct {
	limit         int // maximum number of checkpoints of an issue, or 0
	limitGiven    bool
	all           bool
	turns         bool // list the turns of agents, with their changes
	operations    bool // list the operations of this worktree
	drawn         bool // draw parallel work, joins and forks
	trigger       string
	phase         string
	phaseGiven    bool // --phase is given, and can be empty
	since, before string
	filters       []string        // PATH=VALUE of the record
	paths         []string        // changed files, as pathspecs
	content       string          // text that a change adds or removes, or ""
	grep          string          // text of a note, a request, a decision or a summary, or ""
	archived      bool            // list the archive
	failed        bool            // list only the archived checkpoints of failed work
	remote        invoke.Optional // remote to list, "" for none
	color         string
	as            layout.Name
	workflow      progress.Query // workflow of --type, or the zero value

	notSearched error // errors of the filter
}

func (o *listOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "type", Usage: "only those of a workflow of `TYPE`, like implement; of every issue, unless one is named", Destination: &o.workflow.Type},
		&cli.StringFlag{Name: "project", Usage: "with --type, only those of the `PROJECT`", Destination: &o.workflow.Project},
		&cli.IntFlag{Name: "n", Usage: "list at most `N` checkpoints of an issue, or as many issues", Destination: &o.limit},
		&cli.BoolFlag{Name: "all", Usage: "list the checkpoints of every issue", Destination: &o.all},
		&cli.StringFlag{Name: "trigger", Usage: "list only checkpoints of this trigger (`TRIGGER`)", Destination: &o.trigger},
		&cli.BoolFlag{Name: "turns", Usage: "list only turns of agents, with the lines that each turn changed", Destination: &o.turns},
		&cli.BoolFlag{Name: "operations", Usage: "list the operations of this worktree, which undo reverts", Destination: &o.operations},
		&cli.BoolFlag{Name: "graph", Usage: "draw the order of parallel work and of forks, as git log --graph", Destination: &o.drawn},
		&cli.StringFlag{Name: "phase", Usage: "list only checkpoints of this phase (`PHASE`)", Destination: &o.phase},
		&cli.StringFlag{Name: "since", Usage: "list only checkpoints since `TIME` (RFC 3339, a date, or an age such as 36h or 7d)", Destination: &o.since},
		&cli.StringFlag{Name: "before", Usage: "list only checkpoints before `TIME`", Destination: &o.before},
		&cli.GenericFlag{Name: "filter", Usage: "list only checkpoints with `PATH=VALUE` in the record", Value: (*invoke.List)(&o.filters)},
		&cli.GenericFlag{Name: "path", Usage: "list only checkpoints that changed the files of `PATH`, a pathspec of git", Value: (*invoke.List)(&o.paths)},
		&cli.StringFlag{Name: "content", Usage: "list only checkpoints whose changes add or remove `TEXT`, as git log -S", Destination: &o.content},
		&cli.StringFlag{Name: "grep", Usage: "list only checkpoints with `TEXT` in note, request, answer, decisions or summary, in any case", Destination: &o.grep},
		&cli.BoolFlag{Name: "archived", Usage: "list archived checkpoints instead", Destination: &o.archived},
		&cli.BoolFlag{Name: "failed", Usage: "list checkpoints that were archived because the work failed", Destination: &o.failed},
		invoke.OptionalFlag{StringFlag: &cli.StringFlag{Name: "remote", Usage: "list the checkpoints of `REMOTE`, or of the configured remote, without a fetch", Destination: (*string)(&o.remote)}},
		&cli.StringFlag{Name: "as", Usage: "print the list of another system, of `LAYOUT`: " + view.OneOf(layout.Names()), Destination: (*string)(&o.as)},
		invoke.ColorFlag(&o.color),
	}
}

func runList(c *invoke.Invocation, o *listOptions) error {
	if err := c.Open(); err != nil {
		return err
	}
	o.limitGiven, o.phaseGiven, o.archived = c.Line.Flags.IsSet("n"), c.Line.Flags.IsSet("phase"), o.archived || o.failed
	if o.operations {
		return listOperations(c, o)
	}
	if o.turns {
		if o.trigger != "" {
			return failure.Usagef("list: --turns and --trigger cannot be combined")
		}
		o.trigger = string(checkpoint.Turn)
	}
	if err := work.CheckWorkflow(c, o.workflow); err != nil {
		return err
	}
	if err := c.CheckLayout(o.as); err != nil {
		return err
	}
	if (o.workflow.Type != "" || o.as == claude.Name) && len(c.Line.Args) == 0 && c.Line.Common.Issue == "" {
		o.all = true // the folder of the claude system has the files of all issues
	}
	if o.as != "" && !c.Line.JSON {
		return listAs(c, o)
	}
	keep, err := listFilter(c, o)
	if err != nil {
		return err
	}
	if o.drawn && (o.filtered() || o.turns || o.archived || o.remote.Given() || o.all) {
		return failure.Usagef("list: --graph cannot be combined with --all, --turns, --archived, --remote and filters")
	}
	if o.all {
		return listAll(c, o, keep)
	}
	if listsEveryArchive(c, o) {
		o.all = true
		return listAll(c, o, keep)
	}
	issue, err := issueListed(c, o)
	var several *invoke.SeveralIssuesError
	if errors.As(err, &several) && !o.filtered() && !o.archived && !o.remote.Given() {
		return listOverview(c, o, several.Last)
	}
	if err != nil {
		return err
	}
	if o.drawn {
		return showGraph(c, o, issue)
	}
	l, err := listOf(c, o, issue)
	if err != nil {
		return err
	}
	if len(l.Checkpoints) == 0 {
		none := &gitstore.NoneError{Issue: issue}
		switch { // the next command lists all issues there, or brings the archive here, instead of a save
		case o.remote.Given():
			return failure.Errorf(failure.None, listEverything(o), "%w", none)
		case o.archived && c.Store.HasIssue(c.Ctx, issue):
			return failure.Errorf(failure.None, "git checkpoint sync "+view.IssueArg(issue)+" --archived", "No archived checkpoint found for issue #%s", issue)
		}
		return none
	}
	if o.archived && !o.remote.Given() && !c.Line.JSON {
		hints, _ := work.UndoHints(c, issue)
		for _, hint := range hints {
			defer c.Infof("hint: %s", hint)
		}
	}
	return showList(c, o, []*gitstore.List{l}, keep)
}

// listsEveryArchive reports whether the archives of all issues are listed: no argument
// names the issue, and the issue of the branch has no archive here.
func listsEveryArchive(c *invoke.Invocation, o *listOptions) bool {
	if named, _ := c.VariableIssue(); !o.archived || o.remote.Given() || len(c.Line.Args) > 0 || c.Line.Common.Issue+named != "" {
		return false
	}
	i, err := c.NamedIssue()
	return err != nil || !c.Store.HasArchive(c.Ctx, i)
}

// listOverview prints the progress of the issues that were saved last, one line an issue: of
// as many as -n, if it is given, else those of last. The JSON record has their checkpoints too.
func listOverview(c *invoke.Invocation, o *listOptions, last gitstore.LastSaved) error {
	if o.limitGiven {
		var err error
		if last, err = c.Store.LastSaved(c.Ctx, o.limit); err != nil {
			return err
		}
		o.limit = 0
	}
	summaries, others := work.Overview(c, last), last.Others
	if !c.Line.JSON {
		defer c.Page()()
		return work.ShowOverview(c, summaries, others, o.color)
	}
	var lists []*gitstore.List
	for _, s := range summaries {
		if l, err := listOf(c, o, checkpoint.Issue(s.Issue)); err == nil {
			lists = append(lists, l)
		}
	}
	return c.WriteJSON(view.ListOverview{CheckpointList: listRecord(c, o, lists, func(*gitstore.Checkpoint) bool { return true }), Issues: summaries, OtherIssues: others})
}

// listAll prints checkpoints of every readable issue and returns an error for unreadable
// issues.
func listAll(c *invoke.Invocation, o *listOptions, keep func(*gitstore.Checkpoint) bool) error {
	if len(c.Line.Args) > 0 {
		return failure.Usagef("list: --all takes no issue")
	}
	if err := listThere(c, o); err != nil {
		return err
	}
	defer c.Store.CacheRefs(c.Ctx)()
	issues, strange, err := c.Store.Issues(c.Ctx, o.archived)
	if err == nil && o.searches() && !o.archived {
		var more []checkpoint.Issue
		more, _, err = c.Store.Issues(c.Ctx, true)
		issues = append(issues, slices.DeleteFunc(more, func(i checkpoint.Issue) bool { return slices.Contains(issues, i) })...)
	}
	if err != nil {
		return err
	}
	invoke.TellStrange(c, strange)
	var lists []*gitstore.List
	failed := c.Each(issues, func(i checkpoint.Issue) error {
		l, err := listOf(c, o, i)
		if err == nil {
			lists = append(lists, l)
		}
		return err
	})
	switch {
	case len(lists) == 0 && failed != nil:
		return failed
	case len(lists) == 0 && o.archived && !o.remote.Given() && !c.Line.JSON:
		c.Infof("no issue has archived checkpoints")
	}
	return cmp.Or(showList(c, o, lists, keep), failed)
}

// listOf returns an issue's checkpoints, limited by -n. The JSON record and the filters
// need all checkpoints. A search adds those of the archive.
func listOf(c *invoke.Invocation, o *listOptions, i checkpoint.Issue) (*gitstore.List, error) {
	limit := o.limit
	if c.Line.JSON || o.filtered() {
		limit = 0
	}
	if o.archived {
		return c.Store.Archived(c.Ctx, i, limit)
	}
	l, err := c.Store.List(c.Ctx, i, limit)
	if err == nil && o.searches() {
		var archive *gitstore.List
		if archive, err = c.Store.Archived(c.Ctx, i, 0); err == nil {
			l.Checkpoints = append(l.Checkpoints, archive.Checkpoints...)
		}
	}
	return l, err
}

func showList(c *invoke.Invocation, o *listOptions, lists []*gitstore.List, keep func(*gitstore.Checkpoint) bool) error {
	if c.Line.JSON {
		record := listRecord(c, o, lists, keep)
		if o.notSearched != nil {
			return o.notSearched
		}
		return c.WriteJSON(record)
	}
	at, people, err := c.Screen(o.color)
	if err != nil {
		return err
	}
	if people {
		defer c.Page()()
		showTimelines(c, o, at, lists, keep)
		return o.notSearched
	}
	for _, l := range lists {
		picked := pick(c, o, l, keep)
		o.tellNoTurns(c, l, picked)
		for k, e := range o.plainEntries(c, l, picked) {
			if k == 0 && o.all {
				c.Printf("issue %s\n", view.Clean(string(l.Issue)))
			}
			c.Printf("%s\n", e.Line(c.Env.Now()))
		}
		tellBeside(c, o.fork(c, l), o.notHere(c, l))
	}
	return o.notSearched
}

// tellBeside prints the source of a fork, and the checkpoints that were saved in parallel.
func tellBeside(c *invoke.Invocation, fork checkpoint.Fork, parallel []gitstore.NotHere) {
	if text := view.ForkText(fork); text != "" {
		c.Infof("%s", view.Clean(text))
	}
	for _, n := range parallel {
		c.Infof("%s", view.Clean(view.ParallelText(n, c.Env.Now())))
		c.Infof("hint: %s", view.MergeCommand(n))
	}
}

// tellNoTurns prints who saves turns, if --turns lists none of the issue.
func (o *listOptions) tellNoTurns(c *invoke.Invocation, l *gitstore.List, picked []int) {
	if o.turns && len(picked) == 0 && !o.all {
		c.Infof("issue %s: no turn to list; the hooks of agents save turns: git checkpoint enable", view.Clean(string(l.Issue)))
	}
}

// notHere returns the checkpoints of a list that were saved in parallel, and whose files are not
// here.
func (o *listOptions) notHere(c *invoke.Invocation, l *gitstore.List) []gitstore.NotHere {
	if o.remote.Given() || o.archived {
		return nil
	}
	return work.NotHere(c, l.Issue, "")
}

// fork returns the source of a fork, as the newest record of the list has it. It reads a record
// only if the key of the issue can be that of a fork.
func (o *listOptions) fork(c *invoke.Invocation, l *gitstore.List) checkpoint.Fork {
	if !strings.Contains(string(l.Issue), "+") || len(l.Checkpoints) == 0 || o.remote.Given() {
		return checkpoint.Fork{}
	}
	r, err := c.Store.Record(&l.Checkpoints[0])
	if err != nil {
		return checkpoint.Fork{}
	}
	return r.Fork()
}

// pick returns the indexes of the checkpoints that -n and the filter keep. It marks the
// invalid ones.
func pick(c *invoke.Invocation, o *listOptions, l *gitstore.List, keep func(*gitstore.Checkpoint) bool) []int {
	var picked []int
	for i := range l.Checkpoints {
		if o.limit > 0 && len(picked) == o.limit {
			break
		}
		cp := &l.Checkpoints[i]
		if !keep(cp) {
			continue
		}
		picked = append(picked, i)
		if len(picked) <= verifiedRecords && !o.remote.Given() && !c.Store.Facts.Partial() && view.Problem(cp) == "" { // objects may have to be fetched
			markInvalid(c, cp)
		}
	}
	return picked
}

// verifiedRecords is the number of records that a list reads of an issue, so that a long
// list stays fast. The commits of the other checkpoints decide about them.
const verifiedRecords = 100

// markInvalid sets the problem of a checkpoint if its record cannot be resumed. A temporary
// read error is no problem of the record.
func markInvalid(c *invoke.Invocation, cp *gitstore.Checkpoint) {
	r, err := c.Store.ValidRecord(cp)
	if err == nil {
		_, err = tasks.Of(r).Batches()
	}
	var corrupt *gitstore.CorruptError
	switch {
	case err == nil || atomicfile.IsPassing(err):
	case errors.As(err, &corrupt):
		cp.Problem = corrupt.Err.Error()
	default:
		cp.Problem = err.Error()
	}
}

func listRecord(c *invoke.Invocation, o *listOptions, lists []*gitstore.List, keep func(*gitstore.Checkpoint) bool) view.CheckpointList {
	result := view.CheckpointList{Type: "list"}
	for _, l := range lists {
		picked := pick(c, o, l, keep)
		for _, e := range o.plainEntries(c, l, picked) {
			result.Checkpoints = append(result.Checkpoints, e.ListRow())
		}
		result.TotalCheckpoints += len(l.Checkpoints)
		result.Parallel = append(result.Parallel, view.ParallelRecords(o.notHere(c, l))...)
	}
	if len(lists) == 1 && !o.all {
		result.Issue = string(lists[0].Issue)
		result.Latest = string(lists[0].Checkpoints[0].ID)
		result.Fork = view.ForkRecord(o.fork(c, lists[0]))
	}
	return result
}

// issueListed returns the issue to list. With --remote it switches the list to the
// remote's checkpoints.
func issueListed(c *invoke.Invocation, o *listOptions) (checkpoint.Issue, error) {
	issue, err := c.Issue()
	if err == nil {
		return issue, listThere(c, o, issue)
	}
	if o.remote.Given() && len(c.Line.Args) == 0 && failure.Classify(err).Code == failure.Usage {
		err = failure.Errorf(failure.Usage, listEverything(o), "%w", err)
	}
	return "", err
}

// listEverything returns the command that lists all issues of the remote.
func listEverything(o *listOptions) string {
	if remote := o.remote.Value(); remote != "" {
		return "git checkpoint list --all --remote=" + view.QuoteArg(gitstore.ShownRemote(remote))
	}
	return "git checkpoint list --all --remote"
}

// listThere switches a list with --remote to the remote's checkpoints of the given
// issues. No issues means all issues.
func listThere(c *invoke.Invocation, o *listOptions, issues ...checkpoint.Issue) error {
	if !o.remote.Given() {
		return nil
	}
	remotes, err := c.FetchRemotes(o.remote.Value(), issues...)
	if err != nil {
		return err
	}
	remote := remotes[0]
	t := c.TickRemote("list: " + gitstore.ShownRemote(remote))
	there, err := c.Store.OpenRemote(c.Ctx, gitstore.OpenRemoteRequest{
		Remote: remote, Issues: issues, Archived: o.archived, Timeout: c.RemoteTimeout(), Quiet: !terminal.Has(),
	})
	t.End()
	if err != nil {
		return err
	}
	c.Store.Close()
	c.Store = there
	return nil
}
