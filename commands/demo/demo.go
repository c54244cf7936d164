// Package demo has the command demo, which shows the program at work.
package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"

	"github.com/urfave/cli/v2"
)

// Command declares git checkpoint demo.
var Command = invoke.Command{
	Name: "demo", Usage: "show a save, a kill -9 and a resume on another clone", Max: 0, Category: "Setup",
	Description: "Runs this program in temporary clones of the current repository, or of a new one: work is\n" +
		"saved, the process is killed in the middle, and another clone goes on. Each command is\n" +
		"printed with its output. It takes a few seconds. Nothing outside the temporary directory\n" +
		"changes, and --keep leaves it in place.",
	Examples: []string{"git checkpoint demo"},
	New:      invoke.Bind((*options).flags, run),
}

// options are the flags of demo.
type options struct{ keep bool }

func (o *options) flags() []cli.Flag {
	return []cli.Flag{&cli.BoolFlag{Name: "keep", Usage: "leave the temporary directory in place, and print its name", Destination: &o.keep}}
}

// A show runs commands in a temporary directory and prints them.
type show struct {
	c   *invoke.Invocation
	dir string // temporary directory
	at  string // clone in which commands run
	env []string
}

func run(c *invoke.Invocation, o *options) (err error) {
	if c.Line.JSON {
		return failure.Usagef("demo: the output is a text for people: omit --json")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "git-checkpoint-demo-*")
	if err != nil {
		return err
	}
	if o.keep {
		defer c.Infof("kept: %s", dir)
	} else {
		defer func() {
			for range 20 { // a process of the killed job can still write for a moment
				if os.RemoveAll(dir) == nil {
					return
				}
				time.Sleep(100 * time.Millisecond)
			}
		}()
	}
	s := &show{c: c, dir: dir, at: dir}
	if err := s.prepare(self); err != nil {
		return err
	}
	for _, act := range []func() error{s.work, s.killed, s.goesOn} {
		if err := act(); err != nil {
			return err
		}
	}
	s.say("The work is here again, files and all. Next: git checkpoint help")
	return nil
}

// source returns the root of the current repository if it has a commit, or "".
func source(ctx context.Context) string {
	store, err := gitstore.Open(ctx, gitstore.Options{})
	if err != nil {
		return ""
	}
	defer store.Close()
	if _, err := store.Git().Output(ctx, "rev-parse", "--verify", "--quiet", "HEAD"); err != nil {
		return ""
	}
	return store.Root()
}

// prepare makes this program git's subcommand, a repository that both clones share, and the first
// clone.
func (s *show) prepare(self string) error {
	bin := filepath.Join(s.dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		return err
	}
	name := filepath.Join(bin, "git-checkpoint"+filepath.Ext(self))
	if err := os.Symlink(self, name); err != nil {
		if err := os.Link(self, name); err != nil {
			return fmt.Errorf("demo: %w", err)
		}
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "GIT_") {
			s.env = append(s.env, v)
		}
	}
	s.env = append(s.env,
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"GIT_AUTHOR_NAME=You", "GIT_AUTHOR_EMAIL=you@example.com", "GIT_COMMITTER_NAME=You", "GIT_COMMITTER_EMAIL=you@example.com",
		"GIT_DEFAULT_HASH="+gitstore.ObjectFormat,
		"GIT_CONFIG_COUNT=4", "GIT_CONFIG_KEY_0=checkpoint.issue-source", "GIT_CONFIG_VALUE_0=none",
		"GIT_CONFIG_KEY_1=advice.detachedHead", "GIT_CONFIG_VALUE_1=false", "GIT_CONFIG_KEY_2=commit.gpgSign", "GIT_CONFIG_VALUE_2=false",
		"GIT_CONFIG_KEY_3=core.hooksPath", "GIT_CONFIG_VALUE_3="+filepath.Join(s.dir, "no-hooks"), // the user's hooks can do anything
		"GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0")
	hub, laptop := filepath.Join(s.dir, "hub.git"), filepath.Join(s.dir, "laptop")
	if from := source(s.c.Ctx); from != "" {
		if s.quietly("git", "clone", "-q", "--bare", "--single-branch", from, hub) == nil && s.quietly("git", "clone", "-q", hub, laptop) == nil && s.isFree(laptop) {
			return nil
		}
		if err := s.c.Ctx.Err(); err != nil {
			return err
		}
		s.c.Infof("in a new repository: clones of this one fail, or have or ignore %s or the branch %s", strings.Join(files, ", "), branch)
		for _, dir := range []string{hub, laptop} {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
		}
	}
	first := filepath.Join(s.dir, "first")
	for _, words := range [][]string{
		{"git", "init", "-q", first},
		{"git", "-C", first, "commit", "-q", "--allow-empty", "-m", "first"},
		{"git", "clone", "-q", "--bare", first, hub},
		{"git", "clone", "-q", hub, laptop},
	} {
		if err := s.quietly(words...); err != nil {
			return err
		}
	}
	return nil
}

// branch and files are names that the demo creates.
const branch = "feature/issue-42"

var files = []string{"notes.txt", "staged.txt", "parser.txt"}

// isFree reports whether a clone has neither branch nor files, and does not ignore the files.
func (s *show) isFree(clone string) bool {
	in := func(words ...string) error { return s.quietly(append([]string{"git", "-C", clone}, words...)...) }
	if in("rev-parse", "--verify", "--quiet", "refs/heads/"+branch) == nil {
		return false
	}
	for _, name := range files {
		if _, err := os.Lstat(filepath.Join(clone, name)); err == nil || in("check-ignore", "--quiet", name) == nil {
			return false
		}
	}
	return true
}

// work saves a checkpoint of a changed, a staged and a new file.
func (s *show) work() error {
	s.say("On one machine: work on issue 42, on a branch of its own.")
	s.at = filepath.Join(s.dir, "laptop")
	if err := s.commands("git switch -q -c "+branch, "echo 'step 1 is done' > notes.txt", "echo staged > staged.txt && git add staged.txt"); err != nil {
		return err
	}
	return s.commands("git checkpoint save -m 'step 1' --resume-from 'step 2: the parser'", "git status --short", "git checkpoint push")
}

// killed runs a job under `run` and kills it without a warning.
func (s *show) killed() error {
	s.say("A long job, saved every second, is killed with kill -9 in the middle.")
	const job = "git checkpoint run --every 1s --push -- sh -c 'for n in 1 2 3 4 5 6 7 8 9; do echo part $n >> parser.txt; sleep 1; done'"
	s.c.Printf("$ %s\n", job)
	cmd := s.command("sh", "-c", "exec "+job)
	apart(cmd)
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return err
	}
	parts := func() int {
		data, _ := os.ReadFile(filepath.Join(s.at, "parser.txt"))
		return strings.Count(string(data), "\n")
	}
	for end := time.Now().Add(15 * time.Second); parts() < 4 && time.Now().Before(end) && s.c.Ctx.Err() == nil; {
		time.Sleep(50 * time.Millisecond)
	}
	time.Sleep(500 * time.Millisecond) // the save of this second
	killAll(cmd)
	_ = cmd.Wait() // it was killed
	s.c.Printf("killed after part %d\n", parts())
	return s.c.Ctx.Err()
}

// goesOn resumes in another clone.
func (s *show) goesOn() error {
	s.say("On another machine: a new clone, and one command.")
	s.at = s.dir
	if err := s.quietly("git", "clone", "-q", "hub.git", "desktop"); err != nil {
		return err
	}
	s.at = filepath.Join(s.dir, "desktop")
	return s.commands("git checkpoint resume 42 --yes", "git status --short --branch", "tail -n 1 parser.txt", "git checkpoint list")
}

func (s *show) say(text string) { s.c.Printf("\n# %s\n", text) }

// commands runs commands of a shell, and prints each with its output.
func (s *show) commands(list ...string) error {
	for _, text := range list {
		s.c.Printf("$ %s\n", text)
		if err := s.command("sh", "-c", text).Run(); err != nil {
			return fmt.Errorf("demo: %s: %w", text, err)
		}
	}
	return nil
}

func (s *show) command(words ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.c.Ctx, words[0], words[1:]...)
	cmd.Dir, cmd.Env = s.at, s.env
	cmd.Stdout, cmd.Stderr = s.c.Out, s.c.Out
	return cmd
}

// quietly runs a command and prints only its error.
func (s *show) quietly(words ...string) error {
	cmd := s.command(words...)
	cmd.Stdout, cmd.Stderr = nil, nil
	out, err := cmd.CombinedOutput()
	if err != nil {
		return errors.New("demo: " + strings.Join(words, " ") + ": " + view.Clean(strings.TrimSpace(string(out))))
	}
	return nil
}
