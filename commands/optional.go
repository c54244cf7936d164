package commands

import "github.com/urfave/cli/v2"

// An optionalFlag is a flag whose value may be left out. A value is attached
// with "="; the word after the flag is none: "--push 42" names an issue.
type optionalFlag struct{ *cli.StringFlag }

// TakesValue keeps the next word from being taken for the value.
func (optionalFlag) TakesValue() bool { return false }

// leftOut is the value of an optional flag without one.
const leftOut = "-"
