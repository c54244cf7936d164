package invoke

import (
	"cmp"
	"os"
	"strconv"
	"strings"

	"git-checkpoint/commands/internal/display"
	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/terminal"
	"git-checkpoint/gitstore"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// ColorFlag returns the flag --color.
func ColorFlag() cli.Flag {
	return &cli.StringFlag{Name: "color", Usage: "when to use colours, and the form for people: `auto`, always or never"}
}

// Screen returns the screen for results. If the output is for scripts, ok is false, and
// the output is plain text of a stable form.
func (c *Invocation) Screen() (s display.Screen, ok bool, err error) {
	when := c.Flags.String("color")
	switch when {
	case "", "auto", "always", "never":
	default:
		return s, false, exit.Usagef("--color: %q: want auto, always or never", when)
	}
	ok = when == "always" || c.AtTerminal()
	if !ok || c.JSON {
		return s, false, nil
	}
	return display.Screen{Width: columns(c), Color: colors(c, when)}, true, nil
}

// AtTerminal reports whether a person reads the output: on a terminal, or in a pager of
// this program or of git.
func (c *Invocation) AtTerminal() bool {
	return terminal.Is(c.Env.Stdout) || gitTrue(c.Env.Getenv("GIT_PAGER_IN_USE"))
}

// gitTrue reports whether git reads an environment variable as true.
func gitTrue(value string) bool { return value != "" && !IsOff(value) }

// colors reports whether output is coloured, by git's settings and NO_COLOR.
func colors(c *Invocation, when string) bool {
	if when == "always" || when == "never" {
		return when == "always"
	}
	for _, key := range []string{"color.checkpoint", "color.ui"} {
		if e, set := gitstore.LastEntry(c.Store.Config(), key); set {
			if IsOff(e.Value) || e.Value == "never" {
				return false
			}
			break
		}
	}
	kind := c.Env.Getenv("TERM")
	return c.Env.Getenv("NO_COLOR") == "" && kind != "" && kind != "dumb"
}

// columns returns the width of the terminal.
func columns(c *Invocation) int {
	if n, err := strconv.Atoi(strings.TrimSpace(c.Env.Getenv("COLUMNS"))); err == nil && n > 0 {
		return n
	}
	return cmp.Or(widthOf(c.Env.Stdout), 80)
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
