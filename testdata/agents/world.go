package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A world is the place of one cell: a home directory, a repository with a checkpoint, and
// a model server. Nothing in it outlives the cell.
type world struct {
	ctx    context.Context
	agent  *agent
	server *server
	dir    string // parent of everything else
	home   string
	repo   string
	cwd    string // directory in which the agent is started
	env    []string
	output strings.Builder // of the agent
}

// issue is the issue of the branch on which agents work.
const issue = "42"

// timeout limits one run of an agent.
const timeout = 240 * time.Second

// newWorld creates a world. programs are the folders of the agent's programs, and binary
// is the path of git-checkpoint.
func newWorld(ctx context.Context, a *agent, parent string, programs []string, binary string) (*world, error) {
	dir, err := os.MkdirTemp(parent, a.name+"-*")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	w := &world{ctx: ctx, agent: a, dir: dir, home: filepath.Join(dir, "home"), repo: filepath.Join(dir, "repo")}
	w.cwd = w.repo
	bin := filepath.Join(dir, "bin")
	if w.server, err = startServer(); err != nil {
		return nil, err
	}
	for _, folder := range []string{w.home, w.repo, bin} {
		if err := os.Mkdir(folder, 0o777); err != nil {
			return w, err
		}
	}
	// the hooks are recorded by a program in front of git-checkpoint
	script := fmt.Sprintf("#!/bin/sh\necho \"$*\" >>'%s'\nexec '%s' \"$@\"\n", w.log(), binary)
	if err := os.WriteFile(filepath.Join(bin, "git-checkpoint"), []byte(script), 0o777); err != nil {
		return w, err
	}
	path := append(append([]string{bin}, programs...), os.Getenv("PATH"))
	w.env = []string{
		"HOME=" + w.home, "PATH=" + strings.Join(path, ":"), "TERM=xterm-256color", "LANG=C.UTF-8", "SHELL=/bin/sh", "NO_COLOR=1", "CI=",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + dir, "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com",
		"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com",
	}
	return w, w.createRepository()
}

// createRepository creates a repository with a commit, and an issue with a checkpoint of an
// hour ago.
func (w *world) createRepository() error {
	return w.commands(
		"git init -q -b main",
		"echo one >a.txt",
		"git add a.txt",
		"git commit -qm first",
		"git config checkpoint.issue-source none",
		"git switch -qc feature/issue-"+issue+"-x",
		"GIT_CHECKPOINT_NOW="+time.Now().UTC().Add(-time.Hour).Format(time.RFC3339)+" git checkpoint save -m 'half way with the parser'",
		": >"+w.log(),
	)
}

// close ends the server and all processes of the world, and removes its files.
func (w *world) close(keep bool) {
	w.server.close()
	endProcesses(w.home)
	if !keep {
		os.RemoveAll(w.dir)
	}
}

// log is the file with the calls of git-checkpoint, one a line.
func (w *world) log() string { return filepath.Join(w.dir, "calls") }

// place is the directory of the linked worktree.
func (w *world) place() string { return filepath.Join(w.dir, "linked") }

func (w *world) set(name, value string) { w.env = append(w.env, name+"="+value) }

// install prepares the agent and installs its hooks. It returns the error of the first
// step that fails.
func (w *world) install(flags ...string) error {
	line := "git checkpoint hooks install --agent " + w.agent.name
	for _, f := range flags {
		line += " " + f
	}
	return w.commands(line)
}

// commands runs shell commands in the repository.
func (w *world) commands(lines ...string) error {
	for _, line := range lines {
		if _, err := w.shell(line); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) shell(line string) (string, error) {
	cmd := exec.CommandContext(w.ctx, "sh", "-c", line)
	cmd.Dir, cmd.Env = w.repo, w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", line, err, lastLine(string(out)))
	}
	return strings.TrimSpace(string(out)), nil
}

// run runs the agent to its end, and returns its output. An exit code of the agent is no
// error, because it need not mean that a hook failed.
func (w *world) run(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(w.ctx, timeout)
	defer cancel()
	cmd := w.command(ctx, args)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	fmt.Fprintf(&w.output, "$ %s %s\n%s%v\n", w.agent.name, strings.Join(args, " "), out, err)
	if ctx.Err() != nil {
		return "", fmt.Errorf("%s did not end within %s", w.agent.name, timeout)
	}
	return string(out), nil
}

func (w *world) command(ctx context.Context, args []string) *exec.Cmd {
	program := w.agent.name
	for _, v := range w.env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			for _, dir := range strings.Split(path, ":") {
				if _, err := os.Stat(filepath.Join(dir, program)); err == nil {
					program = filepath.Join(dir, program)
					break
				}
			}
		}
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = w.cwd, w.env
	return cmd
}

// ran returns the number of calls of a hook.
func (w *world) ran(hooks ...string) int {
	data, _ := os.ReadFile(w.log())
	n := 0
	for line := range strings.Lines(string(data)) {
		for _, hook := range hooks {
			if strings.HasPrefix(line, "hook "+hook+" ") {
				n++
			}
		}
	}
	return n
}

// has reports whether the newest checkpoint of an issue has an untracked file.
func (w *world) has(issue, file string) bool {
	_, err := w.shell("git cat-file -e refs/checkpoints/" + issue + ":state/" + file)
	return err == nil
}

// countedTokens reports whether the tokens of the issue are those that the server has answered.
func (w *world) countedTokens() bool {
	out, err := w.shell("git checkpoint status " + issue + " --json")
	var status struct {
		Tokens struct {
			Input, Output int
			CacheRead     int `json:"cache_read"`
			CacheWrite    int `json:"cache_write"`
		}
	}
	if err != nil || json.Unmarshal([]byte(out), &status) != nil {
		return false
	}
	in, answered := w.server.tokens()
	t := status.Tokens
	fmt.Fprintf(&w.output, "tokens: %+v of %d in and %d out\n", t, in, answered)
	near := func(have, want int) bool { return 100*max(have-want, want-have) <= want }
	return t.Output > 0 && near(t.Input+t.CacheRead+t.CacheWrite, in) && near(t.Output, answered)
}

// triggers returns the triggers of the issue's checkpoints, the newest first.
func (w *world) triggers() []string {
	out, err := w.shell("git checkpoint list " + issue + " --json")
	var list struct {
		Checkpoints []struct{ Trigger string }
	}
	if err != nil || json.Unmarshal([]byte(out), &list) != nil {
		return nil
	}
	var all []string
	for _, c := range list.Checkpoints {
		all = append(all, c.Trigger)
	}
	return all
}

// told reports whether a request since the first n has the data of a checkpoint.
func (w *world) told(n int) bool { return w.sent(n, "begin checkpoint data") > 0 }

// sent returns the number of requests since the first n that contain a text.
func (w *world) sent(n int, text string) int {
	found := 0
	for _, body := range w.server.requests(n) {
		if strings.Contains(body, text) {
			found++
		}
	}
	return found
}

// until waits for a condition, and reports whether it came true.
func until(within time.Duration, condition func() bool) bool {
	for end := time.Now().Add(within); !condition(); {
		if time.Now().After(end) {
			return false
		}
		time.Sleep(100 * time.Millisecond)
	}
	return true
}
