package share

import (
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
)

// A Request holds the parameters of a fetch, a push, a sync, or of OpenRemote.
type Request struct {
	Remote  string
	Issues  []checkpoint.Issue // empty for all issues: of the remote (fetch), here (push) or both (sync)
	Timeout time.Duration      // per connection; 0 for no timeout
	Quiet   bool               // do not prompt for a password

	DryRun   bool                  // report the results without a change; ignored by OpenRemote
	Progress func(done, total int) // receives the number of finished issues, may be nil

	// Archived includes archives in a sync or in OpenRemote. Otherwise a sync pushes an
	// archive only with a chain that marks checkpoints as archived, and fetches no archive.
	Archived bool

	// May is called before a push or a sync exposes an issue's commits; nil allows all
	// pushes. If it returns an error, the issue fails with this error and no ref of it moves.
	May func(checkpoint.Issue, chain.Outgoing) error
	// Harmless reports whether May would accept the given commits, which may belong to
	// several issues. Then May is not called. Nil means never.
	Harmless func(chain.Outgoing) bool

	// Meanwhile is called once before a sync reads local refs, preferably while the remote
	// prepares its answer. It may be nil.
	Meanwhile func()
	// Budget is the timeout of a whole sync, 0 for none; unfinished issues fail.
	Budget time.Duration
}
