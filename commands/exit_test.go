package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"git-checkpoint/commands/internal/config"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		err  error
		code int
		kind string
		hint string
	}{
		{"anything", errors.New("x"), 1, "failure", ""},
		{"usage", failure.Usagef("x"), 2, "usage", ""},
		{"none", &gitstore.NoneError{Issue: "42"}, 3, "none", "git checkpoint save 42"},
		{"none, a key like a flag", &gitstore.NoneError{Issue: "--all"}, 3, "none", "git checkpoint save --issue=--all"},
		{"none, an odd key", &gitstore.NoneError{Issue: "a b"}, 3, "none", "git checkpoint save --issue 'a b'"},
		{"not found", &gitstore.NotFoundError{Issue: "42", Name: "x"}, 3, "none", "git checkpoint list 42"},
		{"ambiguous", &gitstore.AmbiguousError{Name: "x"}, 2, "usage", ""},
		{"corrupt", &gitstore.CorruptError{Object: "x", Err: errors.New("y")}, 6, "invalid", "git checkpoint verify"},
		{"corrupt by its syntax", &gitstore.CorruptError{Object: "x", Err: &checkpoint.SyntaxError{Line: 1}}, 6, "invalid", "git checkpoint verify"},
		{"newer", &checkpoint.VersionError{Version: "2.0"}, 7, "version", "upgrade git-checkpoint"},
		{"a document's generation", &layout.VersionError{Version: "9"}, 7, "version", "upgrade git-checkpoint"},
		{"a document's rules", &layout.InvalidError{}, 6, "invalid", "fix the document, then run the command again"},
		{"a file's rules", &layout.InvalidError{File: "a b.json"}, 6, "invalid", "fix 'a b.json', then run the command again"},
		{"no document", &layout.UnknownDocumentError{}, 6, "invalid", "git checkpoint help import"},
		{"no document of a layout", &layout.UnknownDocumentError{Layout: "crunch", File: "a b.json"}, 6, "invalid", "git checkpoint import 'a b.json' --dry-run"},
		{"an id that is taken", &gitstore.TakenError{Issue: "42", ID: "x"}, 8, "refused", "git checkpoint show 42 x"},
		{"refused", &gitstore.RefusedError{Reason: "x", Hint: "git y"}, 8, "refused", "git y"},
		{"moved", gitstore.ErrMoved, 8, "refused", "run the command again"},
		{"unsupported", &gitstore.UnsupportedError{Feature: "x"}, 10, "repository", ""},
		{"no repository", gitstore.ErrNotRepository, 10, "repository", ""},
		{"syntax", &checkpoint.SyntaxError{Line: 1, Column: 2, Msg: "x"}, 2, "usage", ""},
		{"setting", &config.SettingError{File: "x", Msg: "y", Hint: "git config z"}, 2, "usage", "git config z"},
		{"nothing to undo", gitstore.ErrNothingToUndo, 1, "failure", ""},
		{"interrupted", context.Canceled, 130, "interrupted", ""},
		{"disk full", &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, 1, "failure", "free some space, then run the command again"},
		{"disk full, where the command says so", failure.Errorf(failure.Failure, "", "web: --export: %w", syscall.ENOSPC), 1, "failure", "free some space, then run the command again"},
		{"disk full, where git says so", errors.New("git: fatal: write error: No space left on device"), 1, "failure", "free some space, then run the command again"},
		{"disk full, and the change is made", &gitstore.DoneError{Err: syscall.ENOSPC}, 1, "failure", "free some space"},
		{"disk full, and the change of a command is made", failure.Errorf(failure.Failure, "", "x: %w", &gitstore.DoneError{Err: syscall.ENOSPC}), 1, "failure", "free some space"},
		{"no permission, where the command says so", failure.Errorf(failure.Failure, "", "x: %w", fs.ErrPermission), 1, "failure", ""},
		{"no permission", &os.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}, 1, "failure", "make the repository writable, then run the command again"},
		{"a limit", &progress.RefusedError{Code: failure.Limit, Issue: "a b", Reason: "x", Instead: []progress.Way{{"phase", "skip", "the end"}, {"finish"}}}, 14, "limit", "git checkpoint phase skip 'the end' --issue 'a b'\ngit checkpoint finish --issue 'a b'"},
		{"a step that is refused", &progress.RefusedError{Code: failure.Refused, Reason: "x", Instead: []progress.Way{{"phase", "start", "3", "--force"}}}, 8, "refused", "git checkpoint phase start 3 --force"},
		{"a phase like a flag", &progress.RefusedError{Code: failure.Limit, Issue: "42", Instead: []progress.Way{{"phase", "replan", "-x", "--force"}, {"finish", "--status", "failed"}}}, 14, "limit", "git checkpoint phase replan --force --issue 42 -- -x\ngit checkpoint finish --status failed --issue 42"},
		{"an approval", &progress.RefusedError{Code: failure.NeedsAnswer, Issue: "42", Instead: []progress.Way{{"phase", "approve", "3"}}}, 5, "needs_answer", "git checkpoint phase approve 3 --issue 42"},
		{"no such phase", &progress.RefusedError{Code: failure.Usage, Issue: "42", Instead: []progress.Way{{"phase", "next"}}}, 2, "usage", "git checkpoint phase next --issue 42"},
		{"no such task", work.TaskFailure("42", "", &tasks.UnknownError{ID: "T 1"}), 2, "usage", "git checkpoint task list --issue 42\ngit checkpoint task add 'T 1' --issue 42"},
		{"a task that runs", work.TaskFailure("42", "", &tasks.TransitionError{ID: "T1", Why: "x", Running: true}), 8, "refused", "git checkpoint task list --ready --issue 42"},
		{"a task like a flag", work.TaskFailure("42", "", &tasks.TransitionError{ID: "--x", Why: "x", Running: true, Live: true}), 8, "refused", "git checkpoint task list --ready --issue 42\ngit checkpoint task recover --force --issue 42 -- --x"},
		{"a task that waits", work.TaskFailure("42", "", &tasks.TransitionError{ID: "T1", Why: "x"}), 8, "refused", "git checkpoint task list --issue 42"},
		{"a task to approve", work.TaskFailure("42", "", &tasks.TransitionError{ID: "T1", Why: "x", Awaited: true}), 8, "refused", "git checkpoint phase approve T1 --issue 42"},
		{"attempts", work.TaskFailure("42", "", &tasks.TaskLimitError{ID: "T1"}), 14, "limit", "git checkpoint task start T1 --force --issue 42\ngit checkpoint finish --status failed --issue 42"},
		{"a paused story", work.TaskFailure("42", "T1", &story.LimitError{Story: "42"}), 14, "limit", "git checkpoint task start T1 --force --issue 42\ngit checkpoint finish --status failed --issue 42"},
		{"a paused story without tasks", work.TaskFailure("42", "", &story.LimitError{Story: "42"}), 14, "limit", "git checkpoint finish --status failed --issue 42"},
		{"tasks in a cycle", work.TaskFailure("42", "", &tasks.CycleError{IDs: []string{"a", "a"}}), 6, "invalid", "git checkpoint resume --fallback --issue 42"},
		{"another error of a task", work.TaskFailure("42", "", errors.New("x")), 1, "failure", ""},
		{"needs an answer", failure.Errorf(failure.NeedsAnswer, "h", "x"), 5, "needs_answer", "h"},
		{"partial", failure.Errorf(failure.Partial, "", "x"), 12, "partial", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := failure.Classify(fmt.Errorf("one: %w", fmt.Errorf("two: %w", c.err)))
			assert.Equal(t, c.code, f.Code)
			assert.Equal(t, c.kind, f.Kind)
			assert.Equal(t, c.hint, f.Hint)
		})
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	hostile := failure.Errorf(failure.Refused, "git x", "save: a\x1b[31m\nb")
	for _, c := range []struct {
		name string
		err  error
		json bool
		code int
		want string
	}{
		{"nothing", nil, false, 0, ""},
		{"silent", failure.Silent{Code: 4}, true, 4, ""},
		{"text", hostile, false, 8, "git-checkpoint: save: a\\x1b[31m\nb\nhint: git x\n"},
		{"no hint", errors.New("x"), false, 1, "git-checkpoint: x\n"},
		{"json", hostile, true, 8, `{"version":1,"type":"error","code":8,"kind":"refused","message":"save: a\u001b[31m\nb","hint":"git x","details":[]}` + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stderr bytes.Buffer
			assert.Equal(t, c.code, report(&invoke.Env{Stderr: &stderr}, c.json, c.err))
			assert.Equal(t, c.want, stderr.String())
		})
	}
}

// Every exit code has a unique name.
func TestKinds(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for _, code := range failure.Codes() {
		kind := failure.Kind(code)
		require.NotEmpty(t, kind, code)
		require.NotContains(t, seen, kind)
		seen[kind] = code
	}
	for code := failure.Failure; code <= failure.Limit; code++ {
		assert.Contains(t, failure.Codes(), code)
	}
}
