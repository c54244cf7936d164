package commands

import (
	"encoding/json"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/output"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

var showCommand = command{
	name: "show", usage: "print a checkpoint's record", args: "[ISSUE] [ID]", max: 2, category: "Look",
	description: "In YAML, which is as it is stored but for text that a terminal could be hurt by.\n" +
		"--get prints a text as it is; scripts that want it quoted add --json.",
	examples: []string{
		"git checkpoint show 42",
		"git checkpoint show 42 latest~1 --format json",
		"git checkpoint show --get workflow_state.current_phase",
	},
	flags: showFlags,
	run:   runShow,
}

func showFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "format", Usage: "`yaml` or json", Value: "yaml"},
		&cli.StringFlag{Name: "get", Usage: "print the value at `PATH` alone"},
		&cli.BoolFlag{Name: "raw", Usage: "print the bytes as they are stored"},
	}
}

func runShow(c *Invocation) error {
	format := c.flags.String("format")
	if format != "yaml" && format != "json" {
		return exit.Usagef("show: --format: %q: want yaml or json", format)
	}
	if c.flags.Bool("raw") {
		for _, other := range []string{"get", "json"} {
			if c.flags.IsSet(other) {
				return exit.Usagef("show: --raw is the bytes as they are stored: it does not go with --%s", other)
			}
		}
	}
	if err := c.open(); err != nil {
		return err
	}
	cp, err := c.checkpointArg(false)
	if err != nil {
		return err
	}
	if c.flags.Bool("raw") {
		data, err := c.store.RecordBytes(cp)
		if err != nil {
			return err
		}
		_, err = c.out.Write(data)
		return err
	}
	r, err := c.store.Record(cp)
	if err != nil {
		return err
	}
	switch path := c.flags.String("get"); {
	case path != "":
		return c.showValue(cp, r, path)
	case c.json:
		return c.showJSON(cp, r)
	}
	return c.showRecord(r, format)
}

func (c *Invocation) showJSON(cp *gitstore.Checkpoint, r *checkpoint.Record) error {
	data, err := r.JSON()
	if err != nil {
		return err
	}
	return c.write(output.Show{Type: "show", Checkpoint: json.RawMessage(data), Commit: cp.Commit.String()})
}

// showValue prints one value: a string unquoted, other types as JSON.
func (c *Invocation) showValue(cp *gitstore.Checkpoint, r *checkpoint.Record, path string) error {
	v, ok := r.Doc().Lookup(path)
	if !ok {
		return exit.Errorf(exit.Failure, "git checkpoint show "+phrase.QuoteArg(string(cp.ID)), "show %s: it has no %s", cp.ID, path)
	}
	if s, ok := v.(string); ok && !c.json {
		if c.atTerminal() {
			s = output.CleanBlock(s)
		}
		c.print("%s\n", s)
		return nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if c.json {
		return c.write(output.Value{
			Type: "show", CheckpointID: string(cp.ID), Path: path, Value: json.RawMessage(data), Commit: cp.Commit.String(),
		})
	}
	c.print("%s\n", data)
	return nil
}
