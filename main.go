// Command git-checkpoint records the state of long-running work on an issue as commits on
// refs/checkpoints/<issue>, and resumes the work.
package main

import (
	"os"

	"git-checkpoint/commands"
)

func main() { os.Exit(commands.Main(os.Args)) }
