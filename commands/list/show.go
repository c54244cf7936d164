package list

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout"

	"github.com/urfave/cli/v2"
)

// ShowCommand declares git checkpoint show.
var ShowCommand = invoke.Command{
	Name: "show", Usage: "show a checkpoint: note, progress, decisions and files", Args: "[ISSUE] [ID]", Max: 2, Category: "Look",
	Everyday: true, ShortHelp: []string{"format", "get"},
	Description: "On a terminal it prints the checkpoint for people. Otherwise, or with --format, it\n" +
		"prints the stored record as YAML or JSON. --get prints a text without quotes; with\n" +
		"--json it is quoted.",
	Examples: []string{
		"git checkpoint show 42",
		"git checkpoint show 42 latest~1 --format json",
		"git checkpoint show --get workflow_state.current_phase",
		"git checkpoint show 42 --turn 1",
	},
	ReadsOnly: true,
	New:       invoke.Bind((*showOptions).flags, runShow),
}

type showOptions struct {
	format string // yaml or json, "" for the default
	get    string // path of the value to print, or ""
	raw    bool   // print the stored bytes
	as     layout.Name

	workflow progress.Query
}

func (o *showOptions) flags() []cli.Flag {
	return append(
		work.WorkflowFlags(&o.workflow),
		&cli.StringFlag{Name: "format", Usage: "print the record as `yaml` or json", Destination: &o.format},
		&cli.StringFlag{Name: "get", Usage: "print only the value at `PATH`", Destination: &o.get},
		&cli.StringFlag{Name: "as", Usage: "print the document of another system, of `LAYOUT`: " + view.OneOf(layout.Names()), Destination: (*string)(&o.as)},
		&cli.BoolFlag{Name: "raw", Usage: "print the stored bytes", Destination: &o.raw},
		invoke.TurnFlag(),
	)
}

// check returns an error for invalid values, and for flags that do not go together.
func (o *showOptions) check(c *invoke.Invocation) error {
	if o.format != "" && o.format != "yaml" && o.format != "json" {
		return failure.Usagef("show: --format: %q: want yaml or json", o.format)
	}
	if err := c.CheckLayout(o.as); err != nil {
		return err
	}
	for _, flag := range []string{"get", "json", "as"} {
		if o.raw && c.Line.Flags.IsSet(flag) {
			return failure.Usagef("show: --raw is the bytes as they are stored: it cannot be combined with --%s", flag)
		}
	}
	for _, flag := range []string{"get", "json", "format"} {
		if o.as != "" && c.Line.Flags.IsSet(flag) {
			return failure.Usagef("show: --as prints a document: it cannot be combined with --%s", flag)
		}
	}
	return nil
}

func runShow(c *invoke.Invocation, o *showOptions) error {
	if err := o.check(c); err != nil {
		return err
	}
	if err := c.Open(); err != nil {
		return err
	}
	if err := work.NameByWorkflow(c, o.workflow); err != nil {
		return err
	}
	issue, name, err := c.IssueAndName()
	if err != nil {
		return err
	}
	cp, err := c.Find(issue, name)
	if err != nil {
		return err
	}
	if o.raw {
		data, err := c.Store.RecordBytes(cp)
		if err != nil {
			return err
		}
		_, err = c.Out.Write(data)
		return err
	}
	r, err := c.Store.Record(cp)
	if err != nil {
		return err
	}
	switch {
	case o.get != "":
		return showValue(c, cp, r, o.get)
	case o.as != "":
		out, err := layout.Find(o.as).Of(r)
		if err != nil {
			return failure.Errorf(failure.Failure, "git checkpoint show "+view.QuoteArg(string(cp.ID)), "show %s: %w", cp.ID, err)
		}
		return work.ShowText(c, out[0].Data)
	case c.Line.JSON:
		data, err := r.JSON()
		if err != nil {
			return err
		}
		return c.WriteJSON(view.Show{Type: "show", Checkpoint: json.RawMessage(data), Commit: cp.Commit.String(), SavedBy: cp.Author, Double: cp.Double, OtherCommits: cp.Twins, Parallel: view.ParallelRecords(notHere(c, cp)), Fork: view.ForkRecord(r.Fork())})
	}
	if at, people, err := c.Screen("auto"); err != nil || people && o.format == "" {
		screenShow(c, at, cp, r)
		return err
	}
	tellBeside(c, r.Fork(), notHere(c, cp))
	encode := r.Encode
	if o.format == "json" {
		encode = func() ([]byte, error) {
			data, err := r.JSON()
			return append(data, '\n'), err
		}
	}
	data, err := encode()
	if err != nil {
		return err
	}
	return work.ShowText(c, data)
}

// notHere returns the checkpoint if it was saved in parallel, and if files of it are not here.
func notHere(c *invoke.Invocation, cp *gitstore.Checkpoint) []gitstore.NotHere {
	return slices.DeleteFunc(work.NotHere(c, cp.Issue, ""), func(n gitstore.NotHere) bool { return n.ID != cp.ID })
}

// showValue prints one value: a string unquoted, other types as JSON.
func showValue(c *invoke.Invocation, cp *gitstore.Checkpoint, r *checkpoint.Record, path string) error {
	v, ok := r.Doc().Lookup(path)
	if !ok {
		return failure.Errorf(failure.Failure, "git checkpoint show "+view.IssueArg(cp.Issue)+" "+view.QuoteArg(string(cp.ID)), "show %s: it has no %s", cp.ID, path)
	}
	if s, ok := v.(string); ok && !c.Line.JSON {
		if c.AtTerminal() {
			s = view.CleanBlock(s)
		}
		c.Printf("%s\n", s)
		return nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if c.Line.JSON {
		return c.WriteJSON(view.Value{
			Type: "show", CheckpointID: string(cp.ID), Path: path, Value: json.RawMessage(data), Commit: cp.Commit.String(),
		})
	}
	c.Printf("%s\n", data)
	return nil
}

// maxFiles limits the files that show lists on a terminal.
const maxFiles = 40

// screenShow prints a checkpoint for people: its title, the state of the work, texts for
// the next session, and the files.
func screenShow(c *invoke.Invocation, at view.Screen, cp *gitstore.Checkpoint, r *checkpoint.Record) {
	s := &view.Standing{Checkpoint: cp, Record: r, Verdict: freshness.Recorded(r), Now: c.Env.Now()}
	defer c.Page()()
	c.SkipIssue()
	c.Printf("%s\n\n", at.Heading(view.Title(cp, r, nil)))
	rows := append([]view.Row{
		{Label: "Issue", Text: strings.TrimPrefix(s.Heading(), "Issue ")},
		{Label: "Checkpoint", Text: cp.Name()},
		{Label: "Saved", Text: savedText(c, cp)},
		{Label: "Contains", Text: view.ScopeText(r.Snapshot())},
	}, s.ProgressRows()...)
	rows = append(rows, view.ForkRows(r.Fork())...)
	rows = append(rows, view.ParallelRows(notHere(c, cp), c.Env.Now())...)
	rows = append(rows, view.Row{Label: "Continue", Text: s.ContinueFrom()})
	if !cp.Resumable {
		rows = append(rows, view.Row{Label: "Resume", Text: strings.TrimSuffix("no: "+view.List(r.Warnings()), ": "), Style: view.Red})
	}
	rows = append(rows, textRows(cp, r)...)
	c.Printf("%s\n", at.Sheet(rows))
	showScreenFiles(c, at, cp)
	if left := r.Snapshot().Skipped; len(left) > 0 {
		c.Printf("%s\n", at.Paint(view.Bold, "Not in the checkpoint:"))
		showRows(c, at, view.Each(left, func(f checkpoint.Skipped) []string {
			return []string{"  " + view.QuotePath(f.Path), view.WhyLeftOut(f)}
		}))
	}
	name := view.IssueArg(cp.Issue) + " " + view.QuoteArg(cmp.Or(cp.ID.Short(), cp.Commit.String()))
	c.Printf("\nhint: git checkpoint restore %s\nhint: git checkpoint show %s --format yaml\n", name, name)
}

// savedText returns age, local time, event and branch of a save.
func savedText(c *invoke.Invocation, cp *gitstore.Checkpoint) string {
	now := c.Env.Now()
	text := view.Ago(cp.Created, now) + " (" + cp.Created.In(now.Location()).Format("Mon 2 Jan 2006 15:04 -0700") + ")"
	if at := cp.Imported(); !at.IsZero() {
		text += ", imported " + view.Ago(at, now)
	}
	text += ", " + cmp.Or(string(cp.Trigger), "no trigger")
	if cp.Author != "" {
		text += ", by " + cp.Author
	}
	if cp.Branch != "" {
		text += ", branch " + cp.Branch
	}
	if cp.Pinned {
		text += ", pinned"
	}
	if cp.Filed.Why != "" {
		text += fmt.Sprintf("; archived %s (%s)", view.Ago(cp.Filed.At, now), view.ArchivedAs(cp))
	}
	return text
}

// textRows returns the texts that a person or an agent wrote, without the title.
func textRows(cp *gitstore.Checkpoint, r *checkpoint.Record) []view.Row {
	var rows []view.Row
	add := func(label string, lines []string) {
		for i, line := range lines {
			if i > 0 {
				label = ""
			}
			rows = append(rows, view.Row{Label: label, Text: line})
		}
	}
	if _, more, several := strings.Cut(strings.TrimSpace(cp.Note), "\n"); several {
		add("Note", nonEmptyLines(more))
	}
	add("Summary", nonEmptyLines(r.Doc().Text("context_summary")))
	add("Decisions", view.Each(r.Decisions(), func(d string) string { return "- " + d }))
	add("Conflicts", r.Conflicts())
	return rows
}

func nonEmptyLines(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
}

// showScreenFiles prints the files that differ from HEAD at the time of the save, with
// their changed lines.
func showScreenFiles(c *invoke.Invocation, at view.Screen, cp *gitstore.Checkpoint) {
	d, err := c.Store.Files.Compare(nil, cp)
	if err != nil {
		c.Warnf("files not shown: %v", err)
		return
	}
	files, err := d.Files(c.Ctx)
	if err != nil {
		c.Warnf("files not shown: %v", err)
		return
	}
	total := gitstore.Totals{Files: len(files)}
	rows := make([][]string, len(files))
	for i, f := range files {
		rows[i] = []string{"  " + f.Status, view.QuotePath(f.Path), ""}
		if f.Counted {
			rows[i][2] = view.ChangedLines(&gitstore.Totals{Added: f.Added, Deleted: f.Deleted})
		}
		total.Added, total.Deleted = total.Added+f.Added, total.Deleted+f.Deleted
	}
	if len(files) == 0 {
		c.Printf("%s no file differs from HEAD\n", at.Paint(view.Bold, "Files:"))
		return
	}
	c.Printf("%s %s, compared with HEAD at the save\n", at.Paint(view.Bold, "Files:"), view.ChangedFiles(&total))
	showRows(c, at, rows)
}

// showRows prints the first rows, and the number of the others.
func showRows(c *invoke.Invocation, at view.Screen, rows [][]string) {
	c.Printf("%s", at.Columns(rows[:min(len(rows), maxFiles)]))
	if n := len(rows) - maxFiles; n > 0 {
		c.Printf("  and %d more\n", n)
	}
}
