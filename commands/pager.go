package commands

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"git-checkpoint/commands/config"
	"git-checkpoint/commands/terminal"
	"git-checkpoint/gitstore"
)

// page redirects the output to the user's pager, as git log does. The returned function
// ends the pager. If pager.checkpoint is set, git has started the pager already.
func (c *Invocation) page() (end func()) {
	if c.json {
		return func() {}
	}
	cmd := c.pager(c.env.Stdout)
	if cmd == nil {
		return func() {}
	}
	in, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return func() {} // without a pager the output goes to the terminal
	}
	shown := c.out.w
	c.out.w = in
	return func() { c.endPage(cmd, in, shown) }
}

// endPage waits until the user closes the pager. A pager that is closed early is no
// error.
func (c *Invocation) endPage(cmd *exec.Cmd, in io.Closer, shown io.Writer) {
	in.Close()
	_ = cmd.Wait() // the pager's exit status does not concern the result
	c.out.w = shown
	if leftPager(c.out.err) {
		c.out.err = nil
	}
}

// pageText shows a text in the pager if the dialog's terminal is the standard terminal.
// Otherwise it writes the text to the terminal.
func (c *Invocation) pageText(tty io.Writer, text string) error {
	if std, ok := tty.(stdTty); ok {
		if cmd := c.pager(std.out); cmd != nil {
			cmd.Stdin = strings.NewReader(text)
			if cmd.Start() == nil {
				_ = cmd.Wait() // closing the pager early is no error
				return nil
			}
		}
	}
	_, err := io.WriteString(tty, text)
	return err
}

// leftPager reports whether a write failed because the reader is gone.
func leftPager(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed)
}

// pager returns the pager command for a terminal, not yet started. It returns nil if
// there is no terminal or no pager.
func (c *Invocation) pager(out io.Writer) *exec.Cmd {
	kind := c.env.Getenv("TERM")
	if !terminal.Is(out) || kind == "" || kind == "dumb" {
		return nil
	}
	program := c.pagerProgram()
	if program == "" || noProgram(program) {
		return nil
	}
	cmd := exec.Command("sh", "-c", program)
	cmd.Stdout, cmd.Stderr = out, c.env.Stderr
	cmd.Env = append(slices.Clone(c.env.Environ), "GIT_PAGER_IN_USE=true")
	for name, usual := range map[string]string{"LESS": "FRX", "LV": "-c"} {
		if c.env.Getenv(name) == "" {
			cmd.Env = append(cmd.Env, name+"="+usual)
		}
	}
	return cmd
}

// pagerProgram returns the pager by git's rules, or "" for no pager.
func (c *Invocation) pagerProgram() string {
	entries := c.store.Config()
	program, set := lookup(c.env.Environ, "GIT_PAGER")
	if e, ours := gitstore.LastEntry(entries, "pager.checkpoint"); !set && ours {
		if off(e.Value) {
			return ""
		}
		if program, set = e.Value, !isTrue(e.Value); !set {
			program = ""
		}
	}
	if !set {
		program = cmp.Or(valueOf(entries, "core.pager"), c.env.Getenv("PAGER"), "less")
	}
	if program = strings.TrimSpace(program); program == "cat" {
		return ""
	}
	return program
}

// noProgram reports whether a plain pager program is missing. In that case the shell
// would start anyway, and the output would be lost. Command lines with shell syntax are
// not checked.
func noProgram(program string) bool {
	if strings.ContainsAny(program, "|&;<>()$`\\\"'*?[#~=%\n") {
		return false
	}
	_, err := exec.LookPath(strings.Fields(program)[0])
	return errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist)
}

func valueOf(entries []config.GitEntry, key string) string {
	e, _ := gitstore.LastEntry(entries, key)
	return e.Value
}

// isTrue reports whether git reads a value as true.
func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

// lookup returns an environment variable and whether it is set. An empty GIT_PAGER
// disables the pager, so set and empty differ.
func lookup(vars []string, name string) (string, bool) {
	for i := len(vars) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(vars[i], name+"="); ok {
			return value, true
		}
	}
	return "", false
}
