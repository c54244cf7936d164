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
	"git-checkpoint/gitstore/gitcmd"
)

// page sends what is printed from now on through the user's pager, as git log
// does, and returns what ends it. Git has started one where pager.checkpoint
// says so.
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
		return func() {} // a pager that is not there must not keep anything from being seen
	}
	shown := c.out.w
	c.out.w = in
	return func() { c.endPage(cmd, in, shown) }
}

// endPage waits until the person has seen enough. Who leaves the pager early
// wants no more: that is no failure.
func (c *Invocation) endPage(cmd *exec.Cmd, in io.Closer, shown io.Writer) {
	in.Close()
	_ = cmd.Wait() // its exit status says nothing about the result
	c.out.w = shown
	if leftPager(c.out.err) {
		c.out.err = nil
	}
}

// pageText shows a text in the pager on a terminal that questions are asked
// at, or writes it there.
func (c *Invocation) pageText(tty io.Writer, text string) error {
	if std, ok := tty.(stdTty); ok {
		if cmd := c.pager(std.out); cmd != nil {
			cmd.Stdin = strings.NewReader(text)
			if cmd.Start() == nil {
				_ = cmd.Wait() // who leaves it early wants no more
				return nil
			}
		}
	}
	_, err := io.WriteString(tty, text)
	return err
}

// leftPager reports an error that only says that nobody reads any more.
func leftPager(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed)
}

// pager is what to page with on a terminal, ready to start, nil for nothing.
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

// pagerProgram is the user's choice by git's rules, "" for none.
func (c *Invocation) pagerProgram() string {
	entries := c.store.Config()
	program, set := lookup(c.env.Environ, "GIT_PAGER")
	if e, ours := gitcmd.LastEntry(entries, "pager.checkpoint"); !set && ours {
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

// noProgram reports a pager that is not there. The shell would start all the
// same, and what it was given would be lost; what only the shell can find is
// left to it.
func noProgram(program string) bool {
	if strings.ContainsAny(program, "|&;<>()$`\\\"'*?[#~=%\n") {
		return false
	}
	_, err := exec.LookPath(strings.Fields(program)[0])
	return errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist)
}

func valueOf(entries []config.GitEntry, key string) string {
	e, _ := gitcmd.LastEntry(entries, key)
	return e.Value
}

// isTrue reports a word that git takes for true.
func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

// lookup is one of the environment, and whether it is set at all: an empty GIT_PAGER
// switches paging off.
func lookup(vars []string, name string) (string, bool) {
	for i := len(vars) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(vars[i], name+"="); ok {
			return value, true
		}
	}
	return "", false
}
