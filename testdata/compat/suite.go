package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"
)

const (
	testLimit       = 5 * time.Minute // for a test of git
	maxRepositories = 40              // of a test that are compared
)

// A suite is git's own test suite, and the script that compares git-checkpoint with git in
// the repositories that a test leaves behind.
type suite struct {
	dir   string   // built source of git
	tests []string // files in the folder t
	git   version
	bin   string // folder of git-checkpoint
	check script
}

// A tally counts the results of a suite in repositories of one format.
type tally struct {
	mu                                                     sync.Mutex
	repositories, restored, refused, unsuitable, different int
}

// runSuite runs git's tests, and compares git-checkpoint with git in each repository that
// they leave behind.
func runSuite(o options, work string) error {
	scripts, err := readScripts(regexp.MustCompile(""), "suite")
	if err != nil {
		return err
	}
	s := &suite{bin: o.bin, check: scripts[0]}
	if s.dir, err = filepath.Abs(o.suite); err != nil {
		return err
	}
	if s.git, err = wrap(filepath.Join(s.dir, "bin-wrappers"), filepath.Join(work, "git")); err != nil {
		return err
	}
	paths, err := filepath.Glob(filepath.Join(s.dir, "t", "t[0-9]*.sh"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		if name := filepath.Base(path); o.run.MatchString(name) {
			s.tests = append(s.tests, name)
		}
	}
	if len(s.tests) == 0 {
		return errors.New("no test of git has such a name")
	}
	fmt.Println("| git | objects | refs | tests | repositories | restored | refused by git too | unsuitable | differences |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	different := 0
	for _, c := range formats(s.git) {
		if o.objects != "" && o.objects != c.objects || o.refs != "" && o.refs != c.refs {
			continue
		}
		t := s.run(c, work)
		fmt.Printf("| %s | %s | %s | %d | %d | %d | %d | %d | %d |\n", s.git.name, c.objects, c.refs,
			len(s.tests), t.repositories, t.restored, t.refused, t.unsuitable, t.different)
		different += t.different
	}
	if different > 0 {
		return fmt.Errorf("%d repositories differ", different)
	}
	return nil
}

// run runs all tests with one format of repositories.
func (s *suite) run(c cell, work string) *tally {
	t, todo := &tally{}, make(chan string)
	var running sync.WaitGroup
	for n := range runtime.NumCPU() {
		dir := filepath.Join(work, fmt.Sprint("suite", n))
		running.Go(func() {
			for name := range todo {
				s.test(c, t, name, dir)
			}
		})
	}
	for _, name := range s.tests {
		todo <- name
	}
	close(todo)
	running.Wait()
	return t
}

// test runs one test of git in dir, and checks its repositories. The result of the test
// does not matter.
func (s *suite) test(c cell, t *tally, name, dir string) {
	root := filepath.Join(dir, "root")
	if err := errors.Join(remove(dir), os.MkdirAll(root, 0o777)); err != nil {
		t.differs(c, name, err.Error(), nil)
		return
	}
	defer func() { _ = remove(dir) }()
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "./"+name, "--debug", "--root="+root)
	cmd.Dir, cmd.WaitDelay = filepath.Join(s.dir, "t"), time.Second
	cmd.Env = append(os.Environ(), "GIT_TEST_DEFAULT_HASH="+c.objects, "GIT_TEST_DEFAULT_REF_FORMAT="+c.refs)
	_ = cmd.Run()
	trash := filepath.Join(root, "trash directory."+strings.TrimSuffix(name, ".sh"))
	for _, repository := range repositories(trash) {
		s.compare(c, t, trash, repository, filepath.Join(dir, "work"))
	}
}

// compare runs the script for one repository.
func (s *suite) compare(c cell, t *tally, trash, repository, work string) {
	path := []string{s.git.dir, s.bin, "/usr/local/bin", "/usr/bin", "/bin"}
	out, err := s.check.run(work, path, s.git.minorVariable(), "TRASH="+trash, "REPOSITORY="+repository)
	if err != nil && !isSkipped(err) {
		t.differs(c, filepath.Join(filepath.Base(trash), repository), err.Error(), out)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err != nil:
		t.unsuitable++
		return
	case said(out, "note") == "refused":
		t.refused++
	case said(out, "note") == "restored":
		t.restored++
	}
	t.repositories++
}

// differs counts and prints a difference between git and git-checkpoint.
func (t *tally) differs(c cell, where, why string, out []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.repositories++
	t.different++
	fmt.Fprintf(os.Stderr, "%s, %s: %s: %s\n%s", c.objects, c.refs, where, why, lastLines(out, 20))
}

// repositories returns the folders below dir with a .git, relative to dir.
func repositories(dir string) []string {
	var found []string
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case e.Name() == ".git":
			if name, err := filepath.Rel(dir, filepath.Dir(path)); err == nil {
				found = append(found, name)
			}
			if e.IsDir() {
				return fs.SkipDir
			}
		case e.IsDir() && strings.HasSuffix(e.Name(), ".git"):
			return fs.SkipDir // a bare repository
		}
		return nil
	})
	return found[:min(len(found), maxRepositories)]
}
