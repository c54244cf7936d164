// Command growth prints how a repository grows if an agent saves each turn. Each turn
// changes some files. It compares three ways to store the same states:
//
//   - git checkpoint save --trigger turn
//   - one commit per turn on a branch, and git gc at the end
//   - one commit and one ref per turn, without packing
//
// Usage:
//
//	go run ./testdata/bench/growth [-turns 1000] [-changed 3] [-files 300]
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	turns := flag.Int("turns", 1000, "number of turns")
	changed := flag.Int("changed", 3, "files that each turn changes")
	files := flag.Int("files", 300, "files of the repository")
	flag.Parse()
	if err := run(*turns, *changed, *files); err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
}

func run(turns, changed, files int) error {
	dir, err := os.MkdirTemp("", "growth-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "bin", "git-checkpoint")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, out)
	}
	fmt.Printf("%d turns, %d of %d files changed in each\n\n", turns, changed, files)
	fmt.Printf("%-32s %7s %7s %9s %9s %9s %9s\n", "", "loose", "packs", "objects", "bytes", "ms/turn", "slowest")
	var saved, commits measurement
	for _, way := range []struct {
		name  string
		turn  func(r *repository, n int) error
		after func(r *repository) error
		to    *measurement
	}{
		{"git checkpoint save", saveTurn, nothing, &saved},
		{"commits, then git gc", commitTurn, func(r *repository) error { return r.git("gc", "--quiet") }, &commits},
		{"a ref per turn, not packed", refTurn, nothing, &measurement{}},
	} {
		r := &repository{dir: filepath.Join(dir, strings.Fields(way.name)[1]), program: program, random: rand.New(rand.NewPCG(1, 2))}
		m, err := measure(r, turns, changed, files, way.turn, way.after)
		if err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
		if way.to == &saved {
			m.perTurn++ // the record, a blob
		}
		*way.to = m
		fmt.Printf("%-32s %7d %7d %9d %9d %9.1f %9.0f\n", way.name, m.loose, m.packs, m.objects, m.bytes, m.mean, m.slowest)
	}
	fmt.Printf("\nloose objects: %d (limit 1500)\nbytes: %.2f times those of the commits (limit 2)\nnew objects besides file contents: %.1f a turn (limit 8)\n",
		saved.loose, float64(saved.bytes)/float64(commits.bytes), saved.perTurn)
	if saved.loose >= 1500 || saved.bytes > 2*commits.bytes || saved.perTurn > 8 {
		return errors.New("a limit is exceeded")
	}
	return nil
}

func nothing(*repository) error { return nil }

// A measurement describes an objects directory after all turns.
type measurement struct {
	loose, packs, objects int
	bytes                 int64
	mean, slowest         float64 // milliseconds of a turn
	perTurn               float64 // new objects of a turn, without file contents
}

// A repository is a generated repository for one way of storing turns.
type repository struct {
	dir, program string
	random       *rand.Rand
}

func (r *repository) run(name string, args ...string) error {
	_, err := r.output(nil, name, args...)
	return err
}

func (r *repository) git(args ...string) error { return r.run("git", args...) }

func (r *repository) output(env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = r.dir
	cmd.Env = append(append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"), env...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, problems.String())
	}
	return strings.TrimSpace(out.String()), nil
}

func measure(r *repository, turns, changed, files int, turn func(*repository, int) error, after func(*repository) error) (m measurement, err error) {
	if err := r.generate(files); err != nil {
		return m, err
	}
	before, err := r.contents()
	if err != nil {
		return m, err
	}
	for n := range turns {
		if err := r.edit(changed, files); err != nil {
			return m, err
		}
		began := time.Now()
		if err := turn(r, n); err != nil {
			return m, err
		}
		m.slowest = max(m.slowest, float64(time.Since(began).Microseconds())/1000)
		m.mean += float64(time.Since(began).Microseconds()) / 1000 / float64(turns)
	}
	if err := after(r); err != nil {
		return m, err
	}
	if err := m.newObjects(r, before, turns); err != nil {
		return m, err
	}
	return m, m.count(filepath.Join(r.dir, ".git", "objects"))
}

// generate creates a repository with one commit, in a pack.
func (r *repository) generate(files int) error {
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return err
	}
	for n := range files {
		var text strings.Builder
		for line := range 40 + r.random.IntN(160) {
			fmt.Fprintf(&text, "line %d of file %d: %x\n", line, n, r.random.Uint64())
		}
		if err := r.write(r.path(n), text.String()); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"config", "checkpoint.issue-source", "none"},
		{"config", "gc.autoDetach", "false"}, // so that all packing has ended when the files are counted
		{"add", "-A"},
		{"commit", "-qm", "first"},
		{"gc", "-q"},
	} {
		if err := r.git(args...); err != nil {
			return err
		}
	}
	return nil
}

func (r *repository) path(n int) string {
	return filepath.Join(r.dir, fmt.Sprintf("dir%d", n%10), fmt.Sprintf("file%d.txt", n))
}

func (r *repository) write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// edit changes a line in some files of one directory, as an agent does in a turn.
func (r *repository) edit(changed, files int) error {
	first := r.random.IntN(files)
	for n := range changed {
		path := r.path((first + 10*n) % files)
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines := strings.SplitAfter(string(data), "\n")
		lines[r.random.IntN(len(lines)-1)] = fmt.Sprintf("a changed line: %x\n", r.random.Uint64())
		if err := r.write(path, strings.Join(lines, "")); err != nil {
			return err
		}
	}
	return nil
}

func saveTurn(r *repository, _ int) error {
	return r.run(r.program, "save", "42", "--trigger", "turn")
}

func commitTurn(r *repository, n int) error {
	if err := r.git("add", "-A"); err != nil {
		return err
	}
	return r.git("-c", "gc.auto=0", "commit", "-qm", fmt.Sprintf("turn %d", n))
}

// refTurn stores a turn like programs that keep a hidden ref per turn.
func refTurn(r *repository, n int) error {
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(r.dir, ".git", "turn-index")}
	if _, err := r.output(index, "git", "add", "-A"); err != nil {
		return err
	}
	tree, err := r.output(index, "git", "write-tree")
	if err != nil {
		return err
	}
	commit, err := r.output(nil, "git", "commit-tree", tree, "-p", "HEAD", "-m", fmt.Sprintf("turn %d", n))
	if err != nil {
		return err
	}
	return r.git("update-ref", fmt.Sprintf("refs/turns/%d", n), commit)
}

// contents returns the number of objects, and of those that are no contents of the
// repository's files. Records are no contents.
func (r *repository) contents() (c struct{ all, others int }, err error) {
	out, err := r.output(nil, "git", "cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)", "--buffer")
	if err != nil {
		return c, err
	}
	for line := range strings.Lines(out) {
		c.all++
		if !strings.HasPrefix(line, "blob") {
			c.others++
		}
	}
	return c, nil
}

// newObjects counts the objects that the turns have added.
func (m *measurement) newObjects(r *repository, before struct{ all, others int }, turns int) error {
	now, err := r.contents()
	m.objects = now.all - before.all
	m.perTurn = float64(now.others-before.others) / float64(turns)
	return err
}

// count counts the files of an objects directory, and their bytes.
func (m *measurement) count(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		m.bytes += info.Size()
		switch {
		case len(filepath.Base(filepath.Dir(path))) == 2:
			m.loose++
		case strings.HasSuffix(path, ".pack"):
			m.packs++
		}
		return nil
	})
}
