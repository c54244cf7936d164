// Package gittest makes real git repositories for tests.
//
// Every repository lives in a directory of its own that the test removes,
// with a HOME of its own, no global or system configuration, the C locale,
// no GIT_* variable of the surrounding process, a fixed identity and a clock
// that starts at Epoch and moves one minute with every Commit. So the same
// calls give the same hashes on every machine.
//
//	r := gittest.New(t)
//	r.Write("a/b.txt", "text\n")
//	r.Git("add", "-A")
//	head := r.Commit("first")
package gittest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Epoch is the date of the first commit of every repository.
var Epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Identity of every author and committer.
const (
	Name  = "Ann Author"
	Email = "ann@example.com"
)

// Repo is a git repository with a worktree.
type Repo struct {
	Dir string // the root of the worktree
	t   testing.TB
	env []string
	now time.Time
}

// New makes an empty repository on branch main.
func New(t testing.TB) *Repo {
	t.Helper()
	root := tempDir(t)
	r := At(t, filepath.Join(root, "repo"), filepath.Join(root, "home"))
	mkdir(t, r.Dir)
	r.Git("init", "-q")
	// git init -b needs 2.28.
	r.Git("symbolic-ref", "HEAD", "refs/heads/main")
	r.Git("config", "user.name", Name)
	r.Git("config", "user.email", Email)
	r.Git("config", "gc.auto", "0")
	r.Git("config", "core.autocrlf", "false")
	return r
}

// At is a helper for the repository (or linked worktree, or plain directory)
// at dir, which it does not create. home becomes HOME and is created.
func At(t testing.TB, dir, home string) *Repo {
	t.Helper()
	mkdir(t, home)
	return &Repo{Dir: dir, t: t, env: Env(home), now: Epoch}
}

// In is the same helper for another directory, with the same environment.
func (r *Repo) In(dir string) *Repo {
	c := *r
	c.env = r.Env()
	c.Dir = dir
	return &c
}

// Git runs git in the worktree and returns its output without the last
// newline. A failure ends the test.
func (r *Repo) Git(args ...string) string {
	r.t.Helper()
	return strings.TrimSuffix(string(r.Pipe(nil, args...)), "\n")
}

// Pipe runs git with stdin and returns its output unchanged.
func (r *Repo) Pipe(stdin []byte, args ...string) []byte {
	r.t.Helper()
	out, err := r.Run(stdin, args...)
	if err != nil {
		r.t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// Run runs git where a failure is part of the test. The error holds what git
// wrote to stderr.
func (r *Repo) Run(stdin []byte, args ...string) ([]byte, error) {
	return r.RunContext(context.Background(), stdin, args...)
}

// RunContext is Run with a context; as a method value it is the function
// that packages of the store take to run git.
func (r *Repo) RunContext(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.Dir
	cmd.Env = r.Env()
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = &CommandError{Err: err, Stderr: strings.TrimSpace(stderr.String())}
	}
	return out, err
}

// CommandError is a git that failed, with its words.
type CommandError struct {
	Err    error
	Stderr string
}

func (e *CommandError) Error() string { return e.Err.Error() + ": " + e.Stderr }
func (e *CommandError) Unwrap() error { return e.Err }

// Write puts content into the file at path, which uses slashes, and makes
// its directories.
func (r *Repo) Write(path, content string) {
	r.t.Helper()
	file := r.Path(path)
	mkdir(r.t, filepath.Dir(file))
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// Read returns the content of the file at path.
func (r *Repo) Read(path string) string {
	r.t.Helper()
	data, err := os.ReadFile(r.Path(path))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

// Path is the place of a path of the worktree in the file system.
func (r *Repo) Path(path string) string {
	return filepath.Join(r.Dir, filepath.FromSlash(path))
}

// Commit commits what is staged, even if that is nothing, and returns the
// hash of the commit. Hooks do not run.
func (r *Repo) Commit(message string) string {
	r.t.Helper()
	r.Git("commit", "-q", "--no-verify", "--allow-empty", "-m", message)
	r.now = r.now.Add(time.Minute)
	return r.Git("rev-parse", "HEAD")
}

// Hash stores content as a blob and returns its hash.
func (r *Repo) Hash(content string) string {
	r.t.Helper()
	return strings.TrimSpace(string(r.Pipe([]byte(content), "hash-object", "-w", "--stdin")))
}

// GitPath is the absolute path of a file of the git directory, as
// `git rev-parse --git-path` knows it.
func (r *Repo) GitPath(name string) string {
	r.t.Helper()
	p := r.Git("rev-parse", "--git-path", name)
	if !filepath.IsAbs(p) {
		p = filepath.Join(r.Dir, p)
	}
	return p
}

func tempDir(t testing.TB) string {
	t.Helper()
	// macOS keeps its temporary directory behind a symlink; git prints the
	// real path.
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func mkdir(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
}
