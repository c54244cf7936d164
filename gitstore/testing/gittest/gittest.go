// Package gittest creates real git repositories for tests.
//
// Each repository is in a temporary directory that the test removes. It has a separate
// HOME, no global or system configuration, the C locale, no GIT_* variables of the parent
// process, and a fixed identity. Its clock starts at Epoch and advances one minute with
// each Commit. Equal calls return equal hashes on all machines.
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
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// Epoch is the date of the first commit of each repository.
var Epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Identity of authors and committers.
const (
	Name  = "Ann Author"
	Email = "ann@example.com"
)

// A Repo is a test repository with worktree.
type Repo struct {
	Dir string // root of the worktree
	t   testing.TB
	env []string
	now time.Time
}

// empty is the repository that New returns.
var empty = NewTemplate(nil)

// New returns an empty repository on branch main.
func New(t testing.TB) *Repo {
	t.Helper()
	return empty.New(t)
}

// At returns a Repo for dir: a repository, linked worktree or plain directory. If dir is
// missing, At does not create it. It creates home, which becomes HOME.
func At(t testing.TB, dir, home string) *Repo {
	t.Helper()
	mkdir(t, home)
	return &Repo{Dir: dir, t: t, env: Env(home), now: Epoch}
}

// In returns a Repo for another directory with the same environment.
func (r *Repo) In(dir string) *Repo {
	c := *r
	c.env = r.Env()
	c.Dir = dir
	return &c
}

// Git runs git in the worktree and returns its output without the last newline. If git
// fails, Git ends the test.
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

// Run runs git and returns its error, for tests in which git may fail. The error contains
// git's stderr.
func (r *Repo) Run(stdin []byte, args ...string) ([]byte, error) {
	return r.RunContext(context.Background(), stdin, args...)
}

// RunContext is Run with a context. Its method value is a GitFunc for packages of the
// store.
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

// A CommandError reports a failed git command with its stderr.
type CommandError struct {
	Err    error
	Stderr string
}

func (e *CommandError) Error() string { return e.Err.Error() + ": " + e.Stderr }
func (e *CommandError) Unwrap() error { return e.Err }

// Write writes content to the file at a slash-separated path and creates its directories.
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

// Path returns the file system path of a path in the worktree.
func (r *Repo) Path(path string) string {
	return filepath.Join(r.Dir, filepath.FromSlash(path))
}

// Commit commits the index, even if it has no changes, and returns the commit's hash. It
// runs no hooks.
func (r *Repo) Commit(message string) string {
	r.t.Helper()
	r.Git("commit", "-q", "--no-verify", "--allow-empty", "-m", message)
	r.now = r.now.Add(time.Minute)
	return r.Head()
}

// Head returns the hash of the HEAD commit. It reads the refs' files, and asks git if the
// refs have another form.
func (r *Repo) Head() string {
	r.t.Helper()
	name, _ := os.ReadFile(filepath.Join(r.Dir, ".git", "HEAD"))
	if ref, ok := strings.CutPrefix(string(name), "ref: "); ok {
		hash, _ := os.ReadFile(filepath.Join(r.Dir, ".git", filepath.FromSlash(strings.TrimSpace(ref))))
		if h := strings.TrimSpace(string(hash)); plumbing.IsHash(h) && r.plain() {
			return h
		}
	}
	return r.Git("rev-parse", "HEAD")
}

// plain reports whether the commands of r use the repository in r.Dir.
func (r *Repo) plain() bool {
	return !slices.ContainsFunc(r.env, func(kv string) bool { return strings.HasPrefix(kv, "GIT_DIR=") })
}

// Hash stores content as a blob and returns its hash.
func (r *Repo) Hash(content string) string {
	r.t.Helper()
	return strings.TrimSpace(string(r.Pipe([]byte(content), "hash-object", "-w", "--stdin")))
}

// GitPath returns the absolute path of a file in the git directory, from `git rev-parse
// --git-path`.
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
	// On macOS the temporary directory is behind a symlink, and git prints the real path.
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
