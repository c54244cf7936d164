package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A world is a remote and its clones. Each actor is a worktree in which steps are taken.
type world struct {
	dir, program string
	rand         *rand.Rand
	actors       []*actor
	env          []string
	log          []string
	acts         int // commands whose result was checked
	edits        int // numbers the contents, so that each is unique
}

// An actor is a worktree. All work on issue 42.
type actor struct {
	name, dir string
	forks     int
}

const issue = "42"

// tracked are the paths of the first commit.
var tracked = []string{"a", "b", "dir/c", "dir/deep/d", "win.crlf", "text.flt", "run.sh"}

// others are paths that begin untracked, the last one ignored.
var others = []string{"new1", "dir/new2", "fresh/new3", "x.log"}

func newWorld(ctx context.Context, dir, program string, seed uint64) (*world, error) {
	w := &world{dir: dir, program: program, rand: rand.New(rand.NewPCG(seed, 40))}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return w, err
	}
	w.env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+filepath.Join(dir, "config"))
	config := "[user]\n\tname = World\n\temail = world@localhost\n[init]\n\tdefaultBranch = main\n" +
		"[advice]\n\tdetachedHead = false\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n" +
		"[checkpoint]\n\tpublish-commits = true\n[filter \"turn\"]\n\tclean = tr a-m n-z\n\tsmudge = tr n-z a-m\n"
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600); err != nil {
		return w, err
	}
	first := &actor{name: "first", dir: filepath.Join(dir, "first")}
	if err := w.git(ctx, &actor{dir: dir}, "init", "--quiet", "--bare", "remote.git"); err != nil {
		return w, err
	}
	if err := w.git(ctx, &actor{dir: dir}, "clone", "--quiet", "remote.git", "first"); err != nil {
		return w, err
	}
	files := map[string]string{".gitattributes": "*.crlf text eol=crlf\n*.flt filter=turn\n", ".gitignore": "*.log\n"}
	for _, path := range tracked {
		files[path] = w.content(path, "")
	}
	for path, text := range files {
		if err := w.write(first, path, text); err != nil {
			return w, err
		}
	}
	for _, args := range [][]string{
		{"add", "."},
		{"update-index", "--chmod=+x", "run.sh"},
		{"commit", "--quiet", "-m", "first"},
		{"push", "--quiet", "origin", "HEAD:main"},
		{"checkout", "--quiet", "--", "."},
		{"worktree", "add", "--quiet", "-b", "beside", "../beside"},
	} {
		if err := w.git(ctx, first, args...); err != nil {
			return w, err
		}
	}
	w.actors = []*actor{first, {name: "beside", dir: filepath.Join(dir, "beside")}}
	for _, name := range []string{"second", "third"} {
		if err := w.git(ctx, &actor{dir: dir}, "clone", "--quiet", "remote.git", name); err != nil {
			return w, err
		}
		w.actors = append(w.actors, &actor{name: name, dir: filepath.Join(dir, name)})
	}
	return w, nil
}

// content returns five lines, of which one is new. Its letters are between a and m, for
// which the filter of text.flt has an inverse.
func (w *world) content(path, old string) string {
	lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(old, "\r\n", "\n"), "\n"), "\n")
	if len(lines) != 5 {
		lines = []string{"1", "2", "3", "4", "5"}
	}
	w.edits++
	lines[w.rand.IntN(5)] = fmt.Sprintf("edge %d", w.edits)
	end := "\n"
	if strings.HasSuffix(path, ".crlf") {
		end = "\r\n"
	}
	return strings.Join(lines, end) + end
}

func (w *world) write(a *actor, path, text string) error {
	name := filepath.Join(a.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o644)
}

// command returns a command of an actor.
func (w *world) command(ctx context.Context, a *actor, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = a.dir, w.env
	return cmd
}

// git runs git, and notes its step.
func (w *world) git(ctx context.Context, a *actor, args ...string) error {
	out, err := w.command(ctx, a, "git", args...).CombinedOutput()
	w.note(a, "git "+strings.Join(args, " "), err)
	if err != nil {
		return fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// ask returns what git prints, without its last newline.
func (w *world) ask(ctx context.Context, a *actor, args ...string) (string, error) {
	out, err := w.command(ctx, a, "git", args...).Output()
	return strings.TrimSuffix(string(out), "\n"), err
}

// checkpoint runs the program. It returns standard output, standard error, and the exit code.
func (w *world) checkpoint(ctx context.Context, a *actor, args ...string) (out, said string, code int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	cmd := w.command(ctx, a, w.program, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		err = nil
	}
	code = cmd.ProcessState.ExitCode()
	w.note(a, fmt.Sprintf("git-checkpoint %s: %d", strings.Join(args, " "), code), err)
	if code == 70 || strings.Contains(stderr.String(), "panic:") {
		err = fmt.Errorf("git-checkpoint %s: exit code %d: %s", strings.Join(args, " "), code, stderr.String())
	}
	return stdout.String(), stderr.String(), code, err
}

func (w *world) note(a *actor, step string, err error) {
	if err != nil {
		step += " (" + err.Error() + ")"
	}
	w.log = append(w.log, a.name+": "+step)
}

// A look is everything that undo has to give back.
type look struct {
	files  map[string]string // mode and content of each file and link
	index  string            // entries with stages and flags
	head   string            // branch and commit
	chains string            // checkpoints of each chain and archive
}

// look reads the worktree of an actor.
func (w *world) look(ctx context.Context, a *actor) (look, error) {
	l := look{files: map[string]string{}}
	err := filepath.WalkDir(a.dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git":
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		rel, _ := filepath.Rel(a.dir, name)
		l.files[filepath.ToSlash(rel)] = fmt.Sprintf("%o %s", info.Mode().Perm(), text)
		return err
	})
	if err != nil {
		return l, err
	}
	if l.index, err = w.ask(ctx, a, "ls-files", "--stage", "-v"); err != nil {
		return l, err
	}
	if l.head, err = w.ask(ctx, a, "rev-parse", "--symbolic-full-name", "HEAD", "HEAD^0"); err != nil {
		return l, err
	}
	l.chains, err = w.chains(ctx, a)
	return l, err
}

// chains returns the checkpoints of each chain and archive of an actor, newest first. Facts have
// the time of their operation, so they are not compared.
func (w *world) chains(ctx context.Context, a *actor) (string, error) {
	refs, err := w.ask(ctx, a, "for-each-ref", "--format=%(refname)", "refs/checkpoints/", "refs/checkpoints-archive/")
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, ref := range strings.Fields(refs) {
		ids, err := w.ask(ctx, a, "log", "--first-parent", "--format=%(trailers:key=Checkpoint-Id,valueonly)", ref)
		if err != nil {
			return "", err
		}
		if list := strings.Fields(ids); len(list) > 0 {
			fmt.Fprintln(&text, ref, list)
		}
	}
	return text.String(), nil
}

// differs describes the first difference of two looks, or is empty.
func (l look) differs(to look, chains bool) string {
	for _, path := range slices.Sorted(maps.Keys(l.files)) {
		if got, ok := to.files[path]; !ok {
			return fmt.Sprintf("%s is gone, was %q", path, l.files[path])
		} else if got != l.files[path] {
			return fmt.Sprintf("%s is %q, was %q", path, got, l.files[path])
		}
	}
	for _, path := range slices.Sorted(maps.Keys(to.files)) {
		if _, ok := l.files[path]; !ok {
			return fmt.Sprintf("%s is new: %q", path, to.files[path])
		}
	}
	switch {
	case l.index != to.index:
		return fmt.Sprintf("index:\n%s\nwas:\n%s", to.index, l.index)
	case l.head != to.head:
		return fmt.Sprintf("HEAD: %s, was %s", to.head, l.head)
	case chains && l.chains != to.chains:
		return fmt.Sprintf("chains:\n%s\nwere:\n%s", to.chains, l.chains)
	}
	return ""
}

// paths returns those that differ between two looks.
func (l look) paths(to look) (written, removed []string) {
	for path, text := range to.files {
		if l.files[path] != text {
			written = append(written, path)
		}
	}
	for path := range l.files {
		if _, ok := to.files[path]; !ok {
			removed = append(removed, path)
		}
	}
	slices.Sort(written)
	slices.Sort(removed)
	return written, removed
}
