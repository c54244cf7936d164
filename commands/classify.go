package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"git-checkpoint/commands/atomicfile"
	"git-checkpoint/commands/config"
	"git-checkpoint/commands/hook/install"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/layout"
)

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

// A coded error has an exit code and a hint. An error type of a command implements it.
type coded interface {
	error
	ExitCode() int
	ExitHint() string
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
		lacked      *gitstore.LackedError
		promised    *gitstore.PromisedError
		limit       *progress.PlanLimitError
		stands      *progress.RefusedError
		approval    *progress.ApprovalError
		noPhase     *progress.UnknownError
		own         coded
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
	case errors.As(err, &own):
		return own.ExitCode(), own.ExitHint()
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
