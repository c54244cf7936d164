package commands

import "github.com/urfave/cli/v2"

// A command is the declaration of one subcommand.
type command struct {
	name, alias string
	category    string
	usage       string
	args        string // arguments, as shown in the help
	max         int    // maximum number of arguments
	description string
	examples    []string          // full command lines
	flags       func() []cli.Flag // nil if the command has no flags
	mayBeEmpty  []string          // flags that accept an empty value
	run         func(*Invocation) error
}

func (d *command) ownFlags() []cli.Flag {
	if d.flags == nil {
		return nil
	}
	return d.flags()
}
