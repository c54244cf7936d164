package invoke

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"
)

// A program reads repositories of one object format. In a repository of the other format,
// Open replaces the process by the program for that format, git-checkpoint-sha256 or
// git-checkpoint-sha1, with the same arguments, environment and standard streams.

// otherPrograms are the names of the programs by git's name of their object format.
var otherPrograms = map[string]string{"sha1": "git-checkpoint-sha1", "sha256": "git-checkpoint-sha256"}

// handOver runs the program for the format of an ObjectFormatError. It returns only if
// the program cannot run, or with an failure.Silent if this system cannot replace a process.
// Other errors are returned unchanged.
func (c *Invocation) handOver(err error) error {
	format, ok := errors.AsType[*gitstore.ObjectFormatError](err)
	if !ok || c.Env.Argv == nil || otherPrograms[format.Format] == "" {
		return err
	}
	name := otherPrograms[format.Format]
	self, exeErr := os.Executable()
	if exeErr != nil {
		return failure.Errorf(failure.Repository, "", "%w: find %s: %w", err, name, exeErr)
	}
	dir := filepath.Dir(self)
	build := "go build "
	if format.Format == "sha256" {
		build += "-tags sha256 "
	}
	build += "-o " + view.QuoteArg(filepath.Join(dir, name)) + " ."
	// The program for one format hands over to no other, so two wrongly built programs do not loop.
	if own := strings.TrimSuffix(filepath.Base(c.Env.Argv[0]), ".exe"); own == otherPrograms["sha1"] || own == otherPrograms["sha256"] {
		hint := "git checkpoint " + c.Line.Name
		if own == name { // built for the wrong format
			hint = build
		}
		return failure.Errorf(failure.Repository, hint, "%w", err)
	}
	paths := findBeside(name, self, c.calledPath())
	if len(paths) == 0 {
		return failure.Errorf(failure.Repository, build, "%w: there is no %s in %s", err, name, dir)
	}
	ended := c.replaceByFirst(paths)
	if _, ok := errors.AsType[failure.Silent](ended); ok {
		return ended
	}
	return failure.Errorf(failure.Repository, build, "%w: %w", err, ended)
}

// calledPath returns the path by which this process was called, or "" if it is unknown. It
// can be a symlink, which os.Executable resolves on Linux.
func (c *Invocation) calledPath() string {
	argv0 := c.Env.Argv[0]
	switch {
	case filepath.Base(argv0) == argv0:
		path, err := exec.LookPath(argv0)
		if err != nil {
			return ""
		}
		return path
	case filepath.IsAbs(argv0):
		return argv0
	}
	return filepath.Join(c.Line.startDir, argv0)
}

// replaceByFirst replaces this process by the first program that can run. If no program can
// run, it returns the error of the first program.
func (c *Invocation) replaceByFirst(paths []string) error {
	if c.Line.startDir != "" {
		if err := os.Chdir(c.Line.startDir); err != nil {
			return err
		}
	}
	var failed error
	for _, path := range paths {
		ended := replaceBy(path, append([]string{path}, c.Env.Argv[1:]...), c.input.read())
		if _, ok := errors.AsType[failure.Silent](ended); ok {
			return ended
		}
		failed = cmp.Or(failed, ended)
	}
	return failed
}

// findBeside returns the paths at which a program is installed beside this program, which
// has the paths self. The directory of a symlink counts after that of its target.
func findBeside(name string, self ...string) []string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	var found, dirs []string
	for _, path := range self {
		if path != "" {
			dirs = append(dirs, filepath.Dir(Resolved(path)), filepath.Dir(path))
		}
	}
	for _, dir := range dirs {
		for _, rel := range []string{".", "../libexec/git-checkpoint", "../libexec/git-core", "../libexec"} {
			path := filepath.Join(dir, filepath.FromSlash(rel), name)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !slices.Contains(found, path) {
				found = append(found, path)
			}
		}
	}
	return found
}

// Chdir changes to the directory of -C, unless it is "".
func (c *Invocation) Chdir(dir string) error {
	if dir == "" {
		return nil
	}
	if c.Line.startDir == "" {
		c.Line.startDir, _ = os.Getwd() // the other program interprets -C again
	}
	if err := os.Chdir(dir); err != nil {
		return failure.Usagef("-C: %w", err)
	}
	return nil
}

// Input returns standard input. The bytes that are read before the repository is open are
// kept for the program of another object format.
func (c *Invocation) Input() io.Reader {
	if c.Store != nil || c.Env.Argv == nil {
		return c.Env.Stdin
	}
	if c.input == nil {
		c.input = &inputCopy{}
	}
	return io.TeeReader(c.Env.Stdin, c.input)
}

// An inputCopy holds the bytes that were read from standard input. A hook may read it in
// a goroutine that it no longer waits for.
type inputCopy struct {
	mu   sync.Mutex
	data []byte
}

func (k *inputCopy) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.data = append(k.data, p...)
	return len(p), nil
}

// read returns the bytes, or nil if nothing was read.
func (k *inputCopy) read() []byte {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return bytes.Clone(k.data)
}
