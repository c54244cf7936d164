package commands

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/manual"
)

// writeMan writes the man pages and returns their paths.
func writeMan(c *invoke.Invocation) (string, error) {
	if len(c.Args) > 0 {
		return "", exit.Usagef("help: --man takes no command: it writes all pages")
	}
	dir, err := manDir(c)
	if err != nil {
		return "", err
	}
	tool := declared(c.Commands)
	tool.Date = cmp.Or(tool.Date, c.Env.Now().UTC().Format(time.DateOnly))
	var names strings.Builder
	for _, p := range manual.Pages(tool) {
		name := filepath.Join(dir, filepath.FromSlash(p.File()))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return "", fmt.Errorf("help: --man: %w", err)
		}
		if err := os.WriteFile(name, p.Roff(), 0o666); err != nil {
			return "", fmt.Errorf("help: --man: %w", err)
		}
		fmt.Fprintln(&names, name)
	}
	return names.String(), nil
}

// manDir returns the directory of --man. By default it is share/man beside the directory
// of git-checkpoint on PATH.
func manDir(c *invoke.Invocation) (string, error) {
	if dir := c.Flags.String("man"); dir != invoke.LeftOut {
		return dir, nil
	}
	program, err := exec.LookPath(progName)
	if err != nil {
		return "", exit.Errorf(exit.Usage, "git checkpoint help --man=DIR", "help: --man: %w", err)
	}
	if program, err = filepath.Abs(program); err != nil {
		return "", fmt.Errorf("help: --man: %w", err)
	}
	return filepath.Join(filepath.Dir(filepath.Dir(program)), "share", "man"), nil
}
