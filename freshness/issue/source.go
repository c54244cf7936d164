package issue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/trace"
)

// ErrNoSource reports that no file exists for the issue. Callers treat this as a warning,
// since the issue only cannot be compared.
var ErrNoSource = errors.New("no issue file")

// FromFile reads an issue file from any path given by the user, including a pipe.
func FromFile(name string) (*Issue, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read issue file: %w", err)
	}
	defer f.Close()
	return read(f, name)
}

// File reads the file of an issue below the root of a worktree. If pattern is empty, it
// reads the first existing file of
//
//	.checkpoint/issues/<issue>.yaml, .yml, .json
//	.claude/ci-filebase/issues/<issue>.yaml
//
// Patterns may contain {issue} and {issue_number}, which both expand to the issue as
// written in its ref name. Neither pattern nor symlinks may lead outside the worktree. If
// no file exists, File returns ErrNoSource.
func File(root, issue, pattern string) (*Issue, error) {
	candidates, err := expand(issue, pattern)
	if err != nil {
		return nil, err
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("read issue file: %w", err)
	}
	defer dir.Close()
	for _, name := range candidates {
		found, err := fromRoot(dir, name)
		isAbsent := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) // a file in place of a folder
		if !isAbsent {
			return found, err
		}
	}
	return nil, fmt.Errorf("issue %s: %w: looked for %s", issue, ErrNoSource, strings.Join(candidates, ", "))
}

var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{[^{}]*\}`) })

// checkPattern returns an error if an issue file pattern leaves the worktree or contains
// an unknown placeholder. Patterns use slashes on every system.
func checkPattern(pattern string) error {
	refuse := func(why string) error { return fmt.Errorf("issue file pattern %q: %s", pattern, why) }
	for _, p := range placeholder().FindAllString(pattern, -1) {
		if p != "{issue}" && p != "{issue_number}" {
			return refuse("want {issue} or {issue_number}, got " + p)
		}
	}
	switch {
	case strings.ContainsRune(pattern, 0):
		return refuse("contains NUL")
	case path.IsAbs(pattern) || filepath.IsAbs(pattern):
		return refuse("want a path inside the worktree, not an absolute one")
	case slices.Contains(strings.FieldsFunc(pattern, func(r rune) bool { return r == '/' || r == '\\' }), ".."):
		return refuse("want a path inside the worktree, without ..")
	case !filepath.IsLocal(filepath.FromSlash(pattern)):
		return refuse("want a path inside the worktree")
	}
	return nil
}

// A Command is a program that prints an issue file in JSON. A shell runs Line, as git
// runs commands from its configuration. The issue is a separate argument, so the shell
// does not split or expand it.
type Command struct {
	Line   string
	Dir    string
	Env    []string  // nil for the environment of this process
	Stderr io.Writer // nil discards output
}

// afterKill limits the wait for a killed program to close its output.
const afterKill = 100 * time.Millisecond

// Issue runs the command and returns the parsed issue. If the context ends, it kills the
// command and its child processes. Errors contain neither the command line nor its
// output, because both may contain tokens.
func (c Command) Issue(ctx context.Context, key string) (*Issue, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// "$@" passes the issue also if the line is `a b` or ends with a comment.
	defer trace.Begin(trace.Process, "issue_command").End()
	cmd := exec.CommandContext(ctx, "sh", "-c", c.Line+` "$@"`, "issue_command", key)
	cmd.Dir, cmd.Env, cmd.Stderr, cmd.WaitDelay = c.Dir, c.Env, c.Stderr, afterKill
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = startTree(cmd)
	}
	if err != nil {
		return nil, errors.New("issue_command: there is no shell to run it")
	}
	// A child process may have escaped the kill.
	defer context.AfterFunc(ctx, func() { _ = out.Close() })()
	data, readErr := io.ReadAll(io.LimitReader(out, MaxBytes+1))
	large := len(data) > MaxBytes
	if large {
		cancel() // otherwise the program would block on a full pipe
	}
	err = cmd.Wait()
	switch {
	case large:
		return nil, fmt.Errorf("issue_command: prints more than %d MiB", MaxBytes>>20)
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, ctx.Err()
	case ctx.Err() != nil:
		return nil, fmt.Errorf("issue_command: timeout: %w", ctx.Err())
	case err != nil:
		how := "did not end well"
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			how = exit.ProcessState.String()
		}
		return nil, fmt.Errorf("issue_command: %s", how)
	case readErr != nil:
		return nil, errors.New("issue_command: its output cannot be read")
	}
	found, err := parseFile(data)
	if err != nil {
		return nil, fmt.Errorf("issue_command: its output: %w", err)
	}
	found.Source = "issue_command"
	return found, nil
}

func read(f io.Reader, name string) (*Issue, error) {
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read issue file: %s: %w", name, err)
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("read issue file: %s: larger than %d MiB", name, MaxBytes>>20)
	}
	issue, err := parseFile(data)
	if err != nil {
		return nil, fmt.Errorf("read issue file: %s: %w", name, err)
	}
	issue.Source = name
	return issue, nil
}

// places are the default paths of an issue file; the first existing file wins.
var places = []string{
	".checkpoint/issues/{issue}.yaml",
	".checkpoint/issues/{issue}.yml",
	".checkpoint/issues/{issue}.json",
	".claude/ci-filebase/issues/{issue}.yaml",
}

// IsFile reports whether a path relative to the root is a file of the issue: a default path, or
// that of pattern.
func IsFile(name, issue, pattern string) bool {
	paths, err := expand(issue, pattern)
	return err == nil && slices.Contains(paths, name)
}

func expand(issue, pattern string) ([]string, error) {
	key, err := checkpoint.ParseIssue(issue)
	if err != nil {
		return nil, err
	}
	patterns := places
	if pattern != "" {
		if err := checkPattern(pattern); err != nil {
			return nil, err
		}
		patterns = []string{pattern}
	}
	r := strings.NewReplacer("{issue}", key.RefName(), "{issue_number}", key.RefName())
	var out []string
	for _, p := range patterns {
		out = append(out, path.Clean(r.Replace(p)))
	}
	return out, nil
}

// fromRoot opens regular files only, because opening a pipe blocks until a writer
// appears.
func fromRoot(dir *os.Root, name string) (*Issue, error) {
	info, err := dir.Stat(filepath.FromSlash(name))
	if err != nil {
		return nil, fmt.Errorf("read issue file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read issue file: %s: not a regular file", name)
	}
	f, err := dir.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, fmt.Errorf("read issue file: %w", err)
	}
	defer f.Close()
	return read(f, name)
}
