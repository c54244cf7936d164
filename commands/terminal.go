package commands

import (
	"cmp"
	"os"
	"strconv"
	"strings"

	"git-checkpoint/commands/display"
	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/terminal"
	"git-checkpoint/gitstore"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

func colorFlag() cli.Flag {
	return &cli.StringFlag{Name: "color", Usage: "when to use colours, and the form for people: `auto`, always or never"}
}

// screen returns the screen for results. If the output is for scripts, ok is false, and
// the output is plain text of a stable form.
func (c *Invocation) screen() (s display.Screen, ok bool, err error) {
	when := c.flags.String("color")
	switch when {
	case "", "auto", "always", "never":
	default:
		return s, false, exit.Usagef("--color: %q: want auto, always or never", when)
	}
	ok = when == "always" || c.atTerminal()
	if !ok || c.json {
		return s, false, nil
	}
	return display.Screen{Width: c.columns(), Color: c.colors(when)}, true, nil
}

// atTerminal reports whether a person reads the output: on a terminal, or in a pager of
// this program or of git.
func (c *Invocation) atTerminal() bool {
	return terminal.Is(c.env.Stdout) || gitTrue(c.env.Getenv("GIT_PAGER_IN_USE"))
}

// gitTrue reports whether git reads an environment variable as true.
func gitTrue(value string) bool { return value != "" && !off(value) }

// colors reports whether output is coloured, by git's settings and NO_COLOR.
func (c *Invocation) colors(when string) bool {
	if when == "always" || when == "never" {
		return when == "always"
	}
	for _, key := range []string{"color.checkpoint", "color.ui"} {
		if e, set := gitstore.LastEntry(c.store.Config(), key); set {
			if off(e.Value) || e.Value == "never" {
				return false
			}
			break
		}
	}
	kind := c.env.Getenv("TERM")
	return c.env.Getenv("NO_COLOR") == "" && kind != "" && kind != "dumb"
}

// columns returns the width of the terminal.
func (c *Invocation) columns() int {
	if n, err := strconv.Atoi(strings.TrimSpace(c.env.Getenv("COLUMNS"))); err == nil && n > 0 {
		return n
	}
	return cmp.Or(widthOf(c.env.Stdout), 80)
}

// widthOf returns the width of a terminal, or 0 if it is unknown.
func widthOf(w any) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return max(n, 0)
}
