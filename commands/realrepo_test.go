package commands

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// history is a repository with files of real Go modules and several hundred commits.
type history struct {
	t   *testing.T
	dir string
	env []string
}

func (h *history) run(name string, args ...string) (string, int) {
	h.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = h.dir, h.env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState == nil {
		require.NoError(h.t, err)
	}
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		h.t.Logf("%s %v: exit %d: %s", name, args, code, stderr.String())
		return string(out), code
	}
	return string(out), 0
}

func (h *history) git(args ...string) string {
	h.t.Helper()
	out, code := h.run("git", args...)
	require.Zerof(h.t, code, "git %v", args)
	return out
}

// feed runs git with text on its standard input.
func (h *history) feed(text string, args ...string) {
	h.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = h.dir, h.env, strings.NewReader(text)
	out, err := cmd.CombinedOutput()
	require.NoErrorf(h.t, err, "git %v: %s", args, out)
}

func (h *history) write(path, text string) {
	h.t.Helper()
	full := filepath.Join(h.dir, filepath.FromSlash(path))
	require.NoError(h.t, os.MkdirAll(filepath.Dir(full), 0o777))
	require.NoError(h.t, os.WriteFile(full, []byte(text), 0o666))
}

// cleanEnv returns an environment without git's variables, with the program on PATH.
func cleanEnv(t *testing.T, bin string) []string {
	env := slices.DeleteFunc(os.Environ(), func(s string) bool {
		return strings.HasPrefix(s, "GIT_") || strings.HasPrefix(s, "PATH=") || strings.HasPrefix(s, "HOME=") || strings.HasPrefix(s, "CI=")
	})
	home := t.TempDir()
	global := filepath.Join(home, ".gitconfig")
	require.NoError(t, os.WriteFile(global, []byte("[maintenance]\n\tautoDetach = false\n"), 0o666))
	return append(env, "HOME="+home, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"GIT_CONFIG_GLOBAL="+global, "GIT_CONFIG_NOSYSTEM=1", "GIT_DEFAULT_HASH="+gitstore.ObjectFormat, "LC_ALL=C",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com")
}

// buildTool builds the program for a test.
func buildTool(t *testing.T) (dir string) {
	dir = t.TempDir()
	buildFor(t, gitstore.ObjectFormat, filepath.Join(dir, "git-checkpoint"))
	return dir
}

// newHistory commits the files of required modules and of the standard library, and then
// commits changes to them.
func newHistory(t *testing.T, commits int) *history {
	h := &history{t: t, dir: t.TempDir(), env: cleanEnv(t, buildTool(t))}
	h.git("init", "-q", "-b", "main")
	total := 0
	list := func(args ...string) string {
		out, err := exec.Command("go", args...).Output()
		require.NoErrorf(t, err, "go %v", args)
		return strings.TrimSpace(string(out))
	}
	for _, module := range []string{"github.com/go-git/go-git/v5", "golang.org/x/sys"} {
		from := list("list", "-m", "-f", "{{.Dir}}", module)
		require.NotEmptyf(t, from, "%s is not in the module cache", module)
		total += copyModule(t, from, filepath.Join(h.dir, filepath.Base(filepath.Dir(module)), filepath.Base(module)))
	}
	for _, folder := range []string{"crypto", "net"} {
		total += copyModule(t, filepath.Join(list("env", "GOROOT"), "src", folder), filepath.Join(h.dir, "std", folder))
	}
	require.Greater(t, total, 1500, "too few files for a real repository")
	h.git("add", "-A")
	h.git("commit", "-qm", "the files")
	files := strings.Fields(h.git("ls-files", "*.go"))
	source := rand.New(rand.NewPCG(1, 2))
	var stream strings.Builder
	for n := range commits {
		path := files[source.IntN(len(files))]
		text := fmt.Sprintf("package changed\n\n// change %d\n", n)
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter Ann <ann@example.com> %d +0000\ndata <<END\nchange %d\nEND\n", 1767225600+n*60, n)
		if n == 0 {
			stream.WriteString("from refs/heads/main^0\n")
		}
		fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", path, len(text), text)
	}
	h.feed(stream.String(), "fast-import", "--quiet")
	h.git("reset", "-q", "--hard")
	return h
}

func copyModule(t *testing.T, from, to string) (files int) {
	require.NoError(t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.Contains(path, ".git") && filepath.Base(path) != ".gitignore" {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		dest := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(dest), 0o777); err != nil {
			return err
		}
		return os.WriteFile(dest, data, 0o666)
	}))
	return files
}

// stageWork stages one change of every kind.
func (h *history) stageWork() {
	files := strings.Fields(h.git("ls-files", "*.go"))
	h.write(files[10], "package changed\n")
	h.write("docs/a name with spaces.txt", "new\n")
	h.write("docs/line\nbreak.txt", "odd\n")
	require.NoError(h.t, os.Symlink("../"+files[11], filepath.Join(h.dir, "docs", "link")))
	h.git("rm", "-q", files[20])
	h.git("mv", files[30], "docs/moved.go")
	require.NoError(h.t, os.Chmod(filepath.Join(h.dir, files[40]), 0o777))
	h.git("add", "-A")
}

// TestRealHistory runs the life cycle of a checkpoint in a repository with history. The
// checkpoint survives its branch and a gc. Without the branch, resume needs --force. A
// new clone that fetched only the checkpoint ref can resume too.
func TestRealHistory(t *testing.T) {
	gittest.Slow(t)
	h := newHistory(t, 100)
	h.git("switch", "-q", "-c", "feature/issue-42-work")
	h.write("work.txt", "on the branch\n")
	h.git("add", "work.txt")
	h.git("commit", "-qm", "begin")
	h.stageWork()
	staged := h.git("ls-files", "-s", "-z")
	id := strings.TrimSpace(h.git("checkpoint", "save", "--phase", "implementing", "--trigger", "batch_complete", "--batch", "2"))

	h.write("work.txt", "edited later\n")
	h.git("commit", "-qam", "finish")
	h.git("switch", "-q", "main")
	h.git("branch", "-qD", "feature/issue-42-work")
	h.git("gc", "-q", "--prune=now")

	_, code := h.run("git", "checkpoint", "status", "42", "--check")
	assert.Equal(t, failure.StartFresh, code)
	out, code := h.run("git", "checkpoint", "resume", "42", "--force")
	assert.Zero(t, code)
	assert.Equal(t, "batch_3_task_1", lastLine(out))
	h.git("fsck", "--full")

	clone := &history{t: t, dir: filepath.Join(t.TempDir(), "clone"), env: h.env}
	h.git("clone", "-q", "--single-branch", "--branch", "main", "file://"+h.dir, clone.dir)
	clone.git("fetch", "-q", "origin", "refs/checkpoints/42:refs/checkpoints/42")
	clone.git("switch", "-q", "-c", "again", "refs/checkpoints/42^2^")
	_, code = clone.run("git", "checkpoint", "resume", "42", "--yes")
	assert.Zero(t, code)
	assert.NotEqual(t, "again", clone.git("branch", "--show-current"), "it switches to the branch of the checkpoint")
	out, code = clone.run("git", "checkpoint", "resume", "42", "--branch", "again", "--yes")
	assert.Zero(t, code)
	assert.Equal(t, "batch_3_task_1", lastLine(out))
	assert.Equal(t, staged, clone.git("ls-files", "-s", "-z"), "staged files and modes")
	assert.Empty(t, clone.git("diff"), "the worktree is what is staged")
	clone.git("fsck", "--full")
	assert.Contains(t, clone.git("checkpoint", "list", "42"), id)

	// Later commits are never reverted.
	clone.git("commit", "-qm", "the staged work")
	clone.write("docs/moved.go", "package later\n")
	clone.git("commit", "-qam", "later")
	before := clone.git("rev-parse", "HEAD^{tree}")
	_, code = clone.run("git", "checkpoint", "resume", "42", "--branch", "again", "--yes")
	assert.Zero(t, code)
	assert.Empty(t, clone.git("status", "--porcelain"))
	assert.Equal(t, before, clone.git("rev-parse", "HEAD^{tree}"))
	report := clone.git("checkpoint", "verify", "42")
	assert.Contains(t, report, "0 errors")
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}
