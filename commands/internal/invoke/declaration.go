package invoke

import "github.com/urfave/cli/v2"

// A Command is the declaration of one subcommand.
type Command struct {
	Name, Alias string
	Category    string
	Usage       string
	Args        string // arguments, as shown in the help
	Max         int    // maximum number of arguments
	Description string
	Examples    []string          // full command lines
	Flags       func() []cli.Flag // nil if the command has no flags
	MayBeEmpty  []string          // flags that accept an empty value
	Run         func(*Invocation) error
}

// OwnFlags returns the flags of the command without those of every command.
func (d *Command) OwnFlags() []cli.Flag {
	if d.Flags == nil {
		return nil
	}
	return d.Flags()
}
