package invoke

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"git-checkpoint/commands/internal/terminal"
	"git-checkpoint/gitstore"
)

// Page redirects the output to the user's pager, as git log does. The returned function
// ends the pager. If pager.checkpoint is set, git has started the pager already.
func (c *Invocation) Page() (end func()) {
	if c.Line.JSON {
		return func() {}
	}
	cmd := pager(c, c.Env.Stdout)
	if cmd == nil {
		return func() {}
	}
	in, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return func() {} // without a pager the output goes to the terminal
	}
	shown := c.Out.W
	c.Out.W = in
	return func() {
		in.Close()
		_ = cmd.Wait() // the pager's exit status does not concern the result
		c.Out.W = shown
		if LeftPager(c.Out.Err) {
			c.Out.Err = nil
		}
	}
}

// PageText shows a text in the pager if the dialog's terminal is the standard terminal.
// Otherwise it writes the text to the terminal.
func (c *Invocation) PageText(tty io.Writer, text string) error {
	if std, ok := tty.(stdTty); ok {
		if cmd := pager(c, std.out); cmd != nil {
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

// LeftPager reports whether a write failed because the reader is gone.
func LeftPager(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed)
}

// pager returns the pager command for a terminal, not yet started. It returns nil if
// there is no terminal or no pager.
func pager(c *Invocation, out io.Writer) *exec.Cmd {
	kind := c.Env.Getenv("TERM")
	if !terminal.Is(out) || kind == "" || kind == "dumb" {
		return nil
	}
	program := c.pagerProgram()
	if program == "" {
		return nil
	}
	// If a plain program is missing, the shell would start anyway, and the output would be lost.
	if !strings.ContainsAny(program, "|&;<>()$`\\\"'*?[#~=%\n") {
		if _, err := exec.LookPath(strings.Fields(program)[0]); errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	cmd := exec.Command("sh", "-c", program)
	cmd.Stdout, cmd.Stderr = out, c.Env.Stderr
	cmd.Env = append(slices.Clone(c.Env.Environ), "GIT_PAGER_IN_USE=true")
	for name, usual := range map[string]string{"LESS": "FRX", "LV": "-c"} {
		if c.Env.Getenv(name) == "" {
			cmd.Env = append(cmd.Env, name+"="+usual)
		}
	}
	return cmd
}

// pagerProgram returns the pager by git's rules, or "" for no pager.
func (c *Invocation) pagerProgram() string {
	args := []string{"var", "GIT_PAGER"}
	if e, ours := gitstore.LastEntry(c.Store.Config(), "pager.checkpoint"); ours {
		if IsOff(e.Value) {
			return ""
		}
		if !slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(e.Value)) {
			args = append([]string{"-c", "core.pager=" + e.Value}, args...)
		}
	}
	program, err := c.Store.Git().Line(c.Ctx, args...)
	if program = strings.TrimSpace(program); err != nil || program == "cat" {
		return ""
	}
	return program
}
