package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"git-checkpoint/commands/atomicfile"
	"git-checkpoint/commands/config"
	"git-checkpoint/commands/hook/install"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/layout"
)

// Exit codes are part of the contract: codes are added, but never changed.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitNone        = 3
	exitStartFresh  = 4
	exitNeedsAnswer = 5
	exitInvalid     = 6
	exitVersion     = 7
	exitRefused     = 8
	exitStale       = 9
	exitRepository  = 10
	exitRemote      = 11
	exitPartial     = 12
	exitSecrets     = 13
	exitLimit       = 14
	exitInterrupted = 130
)

// A failure is an error with its exit code, its kind and, if there is a next step, the
// command to run.
type failure struct {
	code int
	kind string
	hint string
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// ExitCode returns the error's exit code.
func (f *failure) ExitCode() int { return f.code }

// Hint returns the next command, or "".
func (f *failure) Hint() string { return f.hint }

// withHint returns the failure with another hint.
func (f *failure) withHint(hint string) *failure {
	with := *f
	with.hint = hint
	return &with
}

// fail returns a failure with the kind of its exit code.
func fail(code int, hint, format string, args ...any) error {
	return &failure{code: code, kind: kinds[code], hint: hint, err: fmt.Errorf(format, args...)}
}

// failAs returns a failure with the exit code of another program.
func failAs(code int, format string, args ...any) error {
	return &failure{code: code, kind: kinds[exitFailure], err: fmt.Errorf(format, args...)}
}

func usagef(format string, args ...any) error { return fail(exitUsage, "", format, args...) }

// A silent error ends the program with a code and without a message, because the output
// is complete.
type silent struct{ code int }

func (s silent) Error() string { return fmt.Sprintf("exit %d", s.code) }

// ExitCode returns the exit code.
func (s silent) ExitCode() int { return s.code }

// kinds maps exit codes to their names in JSON.
var kinds = map[int]string{
	exitFailure: "failure", exitUsage: "usage", exitNone: "none", exitStartFresh: "start_fresh",
	exitNeedsAnswer: "needs_answer", exitInvalid: "invalid", exitVersion: "version", exitRefused: "refused",
	exitStale: "stale", exitRepository: "repository", exitRemote: "remote", exitPartial: "partial", exitSecrets: "secrets", exitLimit: "limit", exitInterrupted: "interrupted",
}

// classify returns the failure of an error: code, kind and hint.
func classify(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f.hinted()
	}
	code, hint := codeOf(err)
	var none *gitstore.NoneError
	if errors.As(err, &none) {
		err = none // the contract fixes this text without caller context
	}
	return &failure{code: code, kind: kinds[code], hint: hint, err: err}
}

// hinted returns the failure with a hint about a full disk, if it has no hint of its own.
// Missing write permission gets no hint here, because the file may be outside of the
// repository.
func (f *failure) hinted() *failure {
	if f.hint != "" || f.code != exitFailure || !diskFull(f) {
		return f
	}
	return f.withHint(freeing(f))
}

const (
	freeSpace = "free some space, then run the command again"
	freeOnly  = "free some space" // if the change is made already: repeating the command would make a second change
)

// freeing returns the hint for an error about a full disk.
func freeing(err error) string {
	if errors.As(err, new(*gitstore.DoneError)) {
		return freeOnly
	}
	return freeSpace
}

// diskFull reports whether a write failed for lack of space, in this process or in git.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || strings.Contains(err.Error(), "No space left on device")
}

// codeOf maps errors to exit codes and hints.
func codeOf(err error) (code int, hint string) {
	var (
		none        *gitstore.NoneError
		missing     *gitstore.NotFoundError
		ambiguous   *gitstore.AmbiguousError
		damaged     *gitstore.CorruptError
		refused     *gitstore.RefusedError
		unsupported *gitstore.UnsupportedError
		newer       *checkpoint.VersionError
		syntax      *checkpoint.SyntaxError
		setting     *config.SettingError
		taken       *gitstore.TakenError
		foreign     *layout.InvalidError
		unknown     *layout.UnknownDocumentError
		generation  *layout.VersionError
		remote      *gitstore.RemoteError
		secret      *secretsError
		lacked      *gitstore.LackedError
		promised    *gitstore.PromisedError
		limit       *progress.PlanLimitError
		stands      *progress.RefusedError
		approval    *progress.ApprovalError
		noPhase     *progress.UnknownError
		task        *taskError
		hooks       *install.HookError
		agent       *install.SettingsError
		tooOld      *gitstore.GitTooOldError
		pushed      *gitstore.PushedError
	)
	switch {
	case errors.Is(err, context.Canceled):
		return exitInterrupted, ""
	case errors.As(err, &none):
		return exitNone, "git checkpoint save " + issueArg(none.Issue)
	case errors.As(err, &missing):
		return exitNone, "git checkpoint list " + issueArg(missing.Issue)
	case errors.As(err, &ambiguous):
		return exitUsage, ""
	case errors.As(err, &newer):
		return exitVersion, "upgrade git-checkpoint"
	case errors.As(err, &generation):
		return exitVersion, "upgrade git-checkpoint"
	case errors.As(err, &foreign):
		return exitInvalid, mendThen(foreign.File)
	case errors.As(err, &unknown) && unknown.Layout != "" && unknown.File != "":
		return exitInvalid, "git checkpoint import " + quoteArg(unknown.File) + " --dry-run" // tries every layout
	case errors.As(err, &unknown):
		return exitInvalid, "git checkpoint help import"
	case errors.As(err, &taken):
		return exitRefused, fmt.Sprintf("git checkpoint show %s %s", quoteArg(string(taken.Issue)), quoteArg(string(taken.ID)))
	case errors.As(err, &refused):
		return exitRefused, refused.Hint
	case errors.As(err, &hooks):
		return exitRefused, hooks.Hint
	case errors.As(err, &agent):
		return exitUsage, "git checkpoint hooks install --manual --agent " + agent.Agent
	case errors.As(err, &limit):
		return exitLimit, alternatives(limit.Issue, limit.Instead...)
	case errors.As(err, &stands):
		return exitRefused, alternatives(stands.Issue, stands.Instead...)
	case errors.As(err, &approval):
		return exitNeedsAnswer, alternatives(approval.Issue, progress.Way{"phase", "approve", approval.Phase})
	case errors.As(err, &noPhase):
		return exitUsage, alternatives(noPhase.Issue, noPhase.Instead...)
	case errors.As(err, &task):
		return task.code()
	case errors.As(err, &secret):
		return exitSecrets, "git checkpoint scan " + quoteArg(string(secret.issue)) // names the checkpoints to drop
	case errors.As(err, &remote):
		return exitRemote, remote.Hint
	case errors.Is(err, gitstore.ErrNoRemote):
		return exitRemote, "git remote add origin <url>"
	case errors.As(err, &lacked):
		return exitRemote, "git checkpoint sync " + issueArg(lacked.Issue)
	case errors.As(err, &promised):
		return exitRemote, "git checkpoint sync"
	case errors.As(err, &damaged):
		return exitInvalid, cmp.Or(damaged.Hint, "git checkpoint verify")
	case errors.As(err, &tooOld):
		return exitRepository, "upgrade git"
	case errors.As(err, &unsupported), errors.Is(err, gitstore.ErrNotRepository):
		return exitRepository, ""
	case errors.As(err, &setting):
		return exitUsage, setting.Hint
	case errors.As(err, &syntax):
		return exitUsage, ""
	case errors.Is(err, gitstore.ErrMoved), errors.Is(err, atomicfile.ErrChanged):
		return exitRefused, "run the command again"
	case errors.As(err, &pushed):
		return exitFailure, "git checkpoint sync " + issueArg(pushed.Issue)
	case diskFull(err):
		return exitFailure, freeing(err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return exitFailure, "make the repository writable, then run the command again"
	}
	return exitFailure, ""
}

// mendThen returns the hint for a document that breaks rules.
func mendThen(file string) string {
	if file == "" {
		return "mend the document, then run the command again"
	}
	return "mend " + quoteArg(file) + ", then run the command again"
}

// alternatives returns possible commands after a refused step, joined with "or".
func alternatives(issue checkpoint.Issue, ways ...progress.Way) string {
	commands := make([]string, len(ways))
	for i, way := range ways {
		words, name := cutName(way)
		if issue != "" {
			words = append(words, "--issue", string(issue))
		}
		commands[i] = "git checkpoint"
		for _, word := range append(words, name...) {
			commands[i] += " " + quoteArg(word)
		}
	}
	return strings.Join(commands, " or ")
}

// cutName separates a phase or task name that begins with "-" from a command. The caller
// puts the name after all flags, behind "--".
func cutName(way progress.Way) (words, name []string) {
	if len(way) < 3 || way[0] == "finish" || !strings.HasPrefix(way[2], "-") {
		return slices.Clone(way), nil
	}
	return slices.Concat(way[:2], way[3:]), []string{"--", way[2]}
}
