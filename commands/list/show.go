package list

import (
	"encoding/json"
	"slices"

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

// showOptions are the flags of show.
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
		return c.WriteJSON(view.Show{Type: "show", Checkpoint: json.RawMessage(data), Commit: cp.Commit.String(), SavedBy: cp.Author, Parallel: view.ParallelRecords(notHere(c, cp)), Fork: view.ForkRecord(r.Fork())})
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
