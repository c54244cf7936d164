// Command git-checkpoint records where long work on an issue stands, as
// commits on refs/checkpoints/<issue>, and resumes it.
package main

import (
	"os"

	"git-checkpoint/commands"
)

func main() { os.Exit(commands.Main(os.Args)) }
