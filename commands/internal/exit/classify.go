package exit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"git-checkpoint/commands/internal/atomicfile"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/layout"
)

// Classify returns the failure of an error: code, kind and hint.
func Classify(err error) *Error {
	var f *Error
	if errors.As(err, &f) {
		return f.hinted()
	}
	code, hint := codeOf(err)
	var none *gitstore.NoneError
	if errors.As(err, &none) {
		err = none // the contract fixes this text without caller context
	}
	return &Error{Code: code, Kind: Kinds[code], Hint: hint, err: err}
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
		tooOld      *gitstore.GitTooOldError
		pushed      *gitstore.PushedError
	)
	switch {
	case errors.Is(err, context.Canceled):
		return Interrupted, ""
	case errors.As(err, &none):
		return None, "git checkpoint save " + phrase.IssueArg(none.Issue)
	case errors.As(err, &missing):
		return None, "git checkpoint list " + phrase.IssueArg(missing.Issue)
	case errors.As(err, &ambiguous):
		return Usage, ""
	case errors.As(err, &newer):
		return Version, "upgrade git-checkpoint"
	case errors.As(err, &generation):
		return Version, "upgrade git-checkpoint"
	case errors.As(err, &foreign):
		return Invalid, phrase.MendThen(foreign.File)
	case errors.As(err, &unknown) && unknown.Layout != "" && unknown.File != "":
		return Invalid, "git checkpoint import " + phrase.QuoteArg(unknown.File) + " --dry-run" // tries every layout
	case errors.As(err, &unknown):
		return Invalid, "git checkpoint help import"
	case errors.As(err, &taken):
		return Refused, fmt.Sprintf("git checkpoint show %s %s", phrase.QuoteArg(string(taken.Issue)), phrase.QuoteArg(string(taken.ID)))
	case errors.As(err, &refused):
		return Refused, refused.Hint
	case errors.As(err, &limit):
		return Limit, phrase.Alternatives(limit.Issue, limit.Instead...)
	case errors.As(err, &stands):
		return Refused, phrase.Alternatives(stands.Issue, stands.Instead...)
	case errors.As(err, &approval):
		return NeedsAnswer, phrase.Alternatives(approval.Issue, progress.Way{"phase", "approve", approval.Phase})
	case errors.As(err, &noPhase):
		return Usage, phrase.Alternatives(noPhase.Issue, noPhase.Instead...)
	case errors.As(err, &own):
		return own.ExitCode(), own.ExitHint()
	case errors.As(err, &remote):
		return Remote, remote.Hint
	case errors.Is(err, gitstore.ErrNoRemote):
		return Remote, "git remote add origin <url>"
	case errors.As(err, &lacked):
		return Remote, "git checkpoint sync " + phrase.IssueArg(lacked.Issue)
	case errors.As(err, &promised):
		return Remote, "git checkpoint sync"
	case errors.As(err, &damaged):
		return Invalid, cmp.Or(damaged.Hint, "git checkpoint verify")
	case errors.As(err, &tooOld):
		return Repository, "upgrade git"
	case errors.As(err, &unsupported), errors.Is(err, gitstore.ErrNotRepository):
		return Repository, ""
	case errors.As(err, &syntax):
		return Usage, ""
	case errors.Is(err, gitstore.ErrMoved), errors.Is(err, atomicfile.ErrChanged):
		return Refused, "run the command again"
	case errors.As(err, &pushed):
		return Failure, "git checkpoint sync " + phrase.IssueArg(pushed.Issue)
	case diskFull(err):
		return Failure, freeing(err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return Failure, "make the repository writable, then run the command again"
	}
	return Failure, ""
}
