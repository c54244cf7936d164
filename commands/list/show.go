package list

import (
	"encoding/json"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/internal/standing"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

// ShowCommand declares git checkpoint show.
var ShowCommand = invoke.Command{
	Name: "show", Usage: "print a checkpoint's record", Args: "[ISSUE] [ID]", Max: 2, Category: "Look",
	Description: "In YAML, which is as it is stored but for text that a terminal could be hurt by.\n" +
		"--get prints a text as it is; scripts that want it quoted add --json.",
	Examples: []string{
		"git checkpoint show 42",
		"git checkpoint show 42 latest~1 --format json",
		"git checkpoint show --get workflow_state.current_phase",
	},
	Flags:     showFlags,
	ReadsOnly: true,
	Run:       runShow,
}

// showOptions are the flags of show.
type showOptions struct {
	format string // yaml or json
	get    string // path of the value to print, or ""
	raw    bool   // print the stored bytes
}

func showFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "format", Usage: "`yaml` or json", Value: "yaml"},
		&cli.StringFlag{Name: "get", Usage: "print the value at `PATH` alone"},
		&cli.BoolFlag{Name: "raw", Usage: "print the bytes as they are stored"},
	}
}

func readShowOptions(c *invoke.Invocation) (*showOptions, error) {
	o := &showOptions{format: c.Flags.String("format"), get: c.Flags.String("get"), raw: c.Flags.Bool("raw")}
	if o.format != "yaml" && o.format != "json" {
		return nil, exit.Usagef("show: --format: %q: want yaml or json", o.format)
	}
	other := ""
	switch {
	case o.raw && o.get != "":
		other = "get"
	case o.raw && c.JSON:
		other = "json"
	default:
		return o, nil
	}
	return nil, exit.Usagef("show: --raw is the bytes as they are stored: it does not go with --%s", other)
}

func runShow(c *invoke.Invocation) error {
	o, err := readShowOptions(c)
	if err != nil {
		return err
	}
	if err := c.Open(); err != nil {
		return err
	}
	cp, err := c.CheckpointArg(false)
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
	case c.JSON:
		return showJSON(c, cp, r)
	}
	return standing.ShowRecord(c, r, o.format)
}

func showJSON(c *invoke.Invocation, cp *gitstore.Checkpoint, r *checkpoint.Record) error {
	data, err := r.JSON()
	if err != nil {
		return err
	}
	return c.WriteJSON(output.Show{Type: "show", Checkpoint: json.RawMessage(data), Commit: cp.Commit.String()})
}

// showValue prints one value: a string unquoted, other types as JSON.
func showValue(c *invoke.Invocation, cp *gitstore.Checkpoint, r *checkpoint.Record, path string) error {
	v, ok := r.Doc().Lookup(path)
	if !ok {
		return exit.Errorf(exit.Failure, "git checkpoint show "+phrase.IssueArg(cp.Issue)+" "+phrase.QuoteArg(string(cp.ID)), "show %s: it has no %s", cp.ID, path)
	}
	if s, ok := v.(string); ok && !c.JSON {
		if c.AtTerminal() {
			s = output.CleanBlock(s)
		}
		c.Printf("%s\n", s)
		return nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.WriteJSON(output.Value{
			Type: "show", CheckpointID: string(cp.ID), Path: path, Value: json.RawMessage(data), Commit: cp.Commit.String(),
		})
	}
	c.Printf("%s\n", data)
	return nil
}
