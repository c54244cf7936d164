package issue

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"git-checkpoint/gitstore/checkpoint"
)

// ErrNoSource says that there is no file for the issue: it cannot be compared,
// which is a warning and not a failure.
var ErrNoSource = errors.New("no issue file")

// places are where an issue's file is looked for, the first that is there wins.
var places = []string{
	".checkpoint/issues/{issue}.yaml",
	".checkpoint/issues/{issue}.yml",
	".checkpoint/issues/{issue}.json",
	".claude/ci-filebase/issues/{issue}.yaml",
}

// FromFile reads the issue file that the user named: any path, a pipe too.
func FromFile(name string) (*Issue, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read issue file: %w", err)
	}
	defer f.Close()
	return read(f, name)
}

// File reads the file of an issue below the root of a worktree: the one that
// the pattern names, else the first of .checkpoint/issues/<issue>.yaml, .yml,
// .json and .claude/ci-filebase/issues/<issue>.yaml. In a pattern, {issue} and
// {issue_number} stand for the issue as it is written in its ref. Neither the
// pattern nor a symbolic link may lead out of the worktree. Without a file the
// error is ErrNoSource.
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
		if !absent(err) {
			return found, err
		}
	}
	return nil, fmt.Errorf("issue %s: %w: looked for %s", issue, ErrNoSource, strings.Join(candidates, ", "))
}

func expand(issue, pattern string) ([]string, error) {
	key, err := checkpoint.ParseIssue(issue)
	if err != nil {
		return nil, err
	}
	patterns := places
	if pattern != "" {
		if err := CheckPattern(pattern); err != nil {
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

var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{[^{}]*\}`) })

// CheckPattern refuses a pattern for issue files that leaves the worktree or
// has a placeholder that is not known. Patterns have slashes on every system.
func CheckPattern(pattern string) error {
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
	case slices.Contains(strings.FieldsFunc(pattern, isSeparator), ".."):
		return refuse("want a path inside the worktree, without ..")
	case !filepath.IsLocal(filepath.FromSlash(pattern)):
		return refuse("want a path inside the worktree")
	}
	return nil
}

func isSeparator(r rune) bool { return r == '/' || r == '\\' }

// absent reports whether an error says only that there is no such file; a file
// in place of a directory says so too.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// fromRoot opens a regular file only: opening a pipe would wait for its writer.
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

func read(f io.Reader, name string) (*Issue, error) {
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read issue file: %s: %w", name, err)
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("read issue file: %s: larger than %d MiB", name, MaxBytes>>20)
	}
	issue, err := ParseFile(data)
	if err != nil {
		return nil, fmt.Errorf("read issue file: %s: %w", name, err)
	}
	issue.Source = name
	return issue, nil
}
