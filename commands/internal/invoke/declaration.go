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

// Common has the flags of every command, except --json.
type Common struct {
	Quiet   bool   // print results only
	Verbose bool   // print more
	Dir     string // directory to run in, or ""
	Issue   string // value of --issue, or ""
}

// CommonFlags returns the flags of every command.
func CommonFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "json", Usage: "print one JSON object on one line"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print results only"},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "say more"},
		&cli.StringFlag{Name: "C", Usage: "run as if started in `DIR`"},
		&cli.StringFlag{Name: "issue", Usage: "the `ISSUE` to work on"},
	}
}

// ReadCommon returns the values of the flags of every command.
func ReadCommon(flags *cli.Context) Common {
	return Common{
		Quiet: flags.Bool("quiet"), Verbose: flags.Bool("verbose"), Dir: flags.String("C"), Issue: flags.String("issue"),
	}
}
