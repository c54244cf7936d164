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

// ErrNoSource reports that no file exists for the issue. Callers treat this as a warning,
// since the issue only cannot be compared.
var ErrNoSource = errors.New("no issue file")

// places are the default paths of an issue file; the first existing file wins.
var places = []string{
	".checkpoint/issues/{issue}.yaml",
	".checkpoint/issues/{issue}.yml",
	".checkpoint/issues/{issue}.json",
	".claude/ci-filebase/issues/{issue}.yaml",
}

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

// CheckPattern returns an error if an issue file pattern leaves the worktree or contains
// an unknown placeholder. Patterns use slashes on every system.
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

// absent reports whether an error means that a file does not exist. ENOTDIR, a file in
// place of a parent directory, also counts.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
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
