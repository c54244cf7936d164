package retention

// A Reason says why checkpoints went to the archive.
type Reason string

// Why checkpoints go to the archive. How long they stay there is decided by
// the reason.
const (
	ReasonCompleted Reason = "completed" // the work is done
	ReasonFailed    Reason = "failed"    // it went wrong for good
	ReasonAbandoned Reason = "abandoned" // somebody started over
	ReasonAged      Reason = "aged"      // the newest of the chain was too old
	ReasonAsked     Reason = "asked"     // somebody said so
)
