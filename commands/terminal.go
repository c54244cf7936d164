package commands

import (
	"cmp"
	"os"
	"strconv"
	"strings"

	"git-checkpoint/commands/display"
	"git-checkpoint/commands/terminal"
	"git-checkpoint/gitstore/gitcmd"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

func colorFlag() cli.Flag {
	return &cli.StringFlag{Name: "color", Usage: "when to use colours, and the form for people: `auto`, always or never"}
}

// screen is what results are shown on; ok is false where scripts read them,
// which get plain text that stays as it is.
func (c *Invocation) screen() (s display.Screen, ok bool, err error) {
	when := c.flags.String("color")
	switch when {
	case "", "auto", "always", "never":
	default:
		return s, false, usagef("--color: %q: want auto, always or never", when)
	}
	ok = when == "always" || c.atTerminal()
	if !ok || c.json {
		return s, false, nil
	}
	return display.Screen{Width: c.columns(), Color: c.colors(when)}, true, nil
}

// atTerminal reports whether a person sees the results: on a terminal, or in a
// pager, ours or the one that git started for us.
func (c *Invocation) atTerminal() bool {
	return terminal.Is(c.env.Stdout) || gitTrue(c.env.Getenv("GIT_PAGER_IN_USE"))
}

// gitTrue reports a variable that git takes for true.
func gitTrue(value string) bool { return value != "" && !off(value) }

// colors decides as git does, and as NO_COLOR asks for.
func (c *Invocation) colors(when string) bool {
	if when == "always" || when == "never" {
		return when == "always"
	}
	for _, key := range []string{"color.checkpoint", "color.ui"} {
		if e, set := gitcmd.LastEntry(c.store.Config(), key); set {
			if off(e.Value) || e.Value == "never" {
				return false
			}
			break
		}
	}
	kind := c.env.Getenv("TERM")
	return c.env.Getenv("NO_COLOR") == "" && kind != "" && kind != "dumb"
}

// columns is how wide the terminal is.
func (c *Invocation) columns() int {
	if n, err := strconv.Atoi(strings.TrimSpace(c.env.Getenv("COLUMNS"))); err == nil && n > 0 {
		return n
	}
	return cmp.Or(widthOf(c.env.Stdout), 80)
}

// widthOf is how wide a terminal says that it is, 0 where it does not.
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
