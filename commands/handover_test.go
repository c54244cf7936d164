package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// buildFor builds the program for an object format.
func buildFor(t *testing.T, format, path string) {
	t.Helper()
	args := []string{"build", "-o", path}
	if format == "sha256" {
		args = append(args, "-tags", "sha256")
	}
	out, err := exec.Command("go", append(args, "..")...).CombinedOutput()
	require.NoErrorf(t, err, "%s", out)
}

// handedOver is a repository of one object format, on PATH the program for the other.
type handedOver struct {
	*history
	t *testing.T
}

// checkpoint runs the program with text on its standard input, and returns both streams.
func (h handedOver) checkpoint(input string, args ...string) (string, int) {
	h.t.Helper()
	cmd := exec.Command("git", append([]string{"checkpoint"}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = h.dir, h.env, strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		require.NotNil(h.t, cmd.ProcessState, "%v", err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// In a repository of the other object format, the program runs the one for that format.
func TestHandOver(t *testing.T) {
	gittest.Slow(t)
	built := t.TempDir()
	for _, format := range []string{"sha1", "sha256"} {
		buildFor(t, format, filepath.Join(built, format))
	}
	for program, format := range map[string]string{"sha1": "sha256", "sha256": "sha1"} {
		for i, place := range []string{"bin", "libexec/git-checkpoint", "libexec/git-core", "libexec"} {
			if i%2 != gittest.Day()%2 && !gittest.Torture() {
				continue
			}
			t.Run(format+" in "+place, func(t *testing.T) {
				prefix := t.TempDir()
				install(t, filepath.Join(built, program), filepath.Join(prefix, "bin", "git-checkpoint"))
				install(t, filepath.Join(built, format), filepath.Join(prefix, filepath.FromSlash(place), "git-checkpoint-"+format))
				h := handedOver{&history{t: t, dir: t.TempDir(), env: cleanEnv(t, filepath.Join(prefix, "bin"))}, t}
				h.git("init", "-q", "-b", "main", "--object-format="+format, ".")
				h.use()
				h.leaveProject(program)
			})
		}
	}
}

func install(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o777))
	require.NoError(t, os.Link(from, to))
}

// use runs commands that read standard input before they open the repository, that
// change the directory, and that run another command.
func (h handedOver) use() {
	h.write("sub/a.txt", "one\n")
	h.git("add", "-A")
	h.succeed("", "save", "42")

	state := "workflow_state:\n  current_phase: review\nnote: " + strings.Repeat("long ", 20_000) + "\n"
	h.succeed(state, "save", "42", "--state", "-")
	assert.Contains(h.t, h.succeed("", "-C", "sub", "list", "42"), "manual in review")
	assert.Contains(h.t, h.succeed("", "list", "42", "-C", "sub"), "manual in review")
	assert.Contains(h.t, h.succeed("", "completion", "words", "--", "-C", "sub", "list", "4"), "42\t")

	h.write("sub/a.txt", "two\n")
	h.env = append(h.env, "GIT_CHECKPOINT_ISSUE=42")
	h.succeed(`{"session_id":"9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d","hook_event_name":"SessionEnd"}`, "hook", "session-end")
	assert.Contains(h.t, h.succeed("", "show", "42"), "9b1deb4d")

	noTemp := h
	noTemp.history = &history{t: h.t, dir: h.dir, env: append(slices.Clone(h.env), "TMPDIR="+filepath.Join(h.dir, "missing"))}
	h.write("sub/a.txt", "three\n")
	noTemp.succeed(`{"session_id":"3b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d","hook_event_name":"SessionEnd"}`, "hook", "session-end")
	assert.Contains(h.t, h.succeed("", "show", "42"), "3b1deb4d")
	out, code := h.checkpoint("input of the command\n", "run", "--", "sh", "-c", "cat; exit 7")
	assert.Equal(h.t, 7, code)
	assert.Contains(h.t, out, "input of the command\n")
	assert.Contains(h.t, h.succeed("", "verify"), "0 errors, 0 warnings")
}

// leaveProject ends sessions of an agent that has changed to a nested repository of the
// other object format. They are saved in the agent's project.
func (h handedOver) leaveProject(program string) {
	inner := h
	inner.history = &history{t: h.t, dir: filepath.Join(h.dir, "nested"), env: h.env}
	require.NoError(h.t, os.Mkdir(inner.dir, 0o777))
	inner.git("init", "-q", "-b", "issue-9", "--object-format="+program, ".")
	inner.endSession(h, "1b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d")
	h.endSession(inner, "2b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d")
}

// endSession ends a session of an agent whose project is another repository.
func (h handedOver) endSession(project handedOver, session string) {
	h.t.Helper()
	project.write("a.txt", session+"\n")
	project.git("add", "a.txt")
	h.history = &history{t: h.t, dir: h.dir, env: append(slices.Clone(h.env), "CLAUDE_PROJECT_DIR="+project.dir)}
	h.succeed(`{"session_id":"`+session+`","hook_event_name":"SessionEnd"}`, "hook", "session-end")
	assert.Contains(h.t, project.succeed("", "show", "42"), session)
}

func (h handedOver) succeed(input string, args ...string) string {
	h.t.Helper()
	out, code := h.checkpoint(input, args...)
	require.Zerof(h.t, code, "git checkpoint %v: %s", args, out)
	return out
}

// A program whose name is that of one format starts no other program, or two of them
// would start each other without end.
func TestHandOverEnds(t *testing.T) {
	gittest.Slow(t)
	prefix := t.TempDir()
	plain := filepath.Join(prefix, "git-checkpoint")
	buildFor(t, gitstore.ObjectFormat, plain)
	install(t, plain, filepath.Join(prefix, "git-checkpoint-"+otherFormat)) // built without the right tag
	h := handedOver{&history{t: t, dir: t.TempDir(), env: cleanEnv(t, prefix)}, t}
	h.git("init", "-q", "--object-format="+otherFormat, ".")
	out, code := h.checkpoint("", "list")
	assert.Equal(t, 10, code)
	assert.Contains(t, out, "unsupported repository: ")
	assert.Contains(t, out, "hint: go build ")
}
