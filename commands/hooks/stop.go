package hooks

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/gitstore"
)

// leadSession is the file in which the lead agent of a pipeline stores its session id.
const leadSession = ".pipeline/lead-session.id"

// keepGoing is the exit status of a stop hook that makes an agent continue.
const keepGoing = 2

// sessionStop makes the lead session of an incomplete pipeline continue. Other sessions
// may stop, and so may the lead if a stop hook has already made it continue.
func sessionStop(c *invoke.Invocation, _ []string) error {
	if gitstore.ReadHookPrecheck().HasNoCheckpoints() {
		return nil
	}
	in := readSessionInput(c)
	if in.SessionID == "" || in.StopActive {
		return nil
	}
	done, on, err := openQuickly(c)
	defer done()
	if err != nil || !on {
		return err
	}
	noteSession(c, in.SessionID)
	issue, ok := handedIssue(c)
	if !ok {
		return nil
	}
	_, r, err := c.Store.NewestRecord(c.Ctx, issue)
	if err != nil {
		return err
	}
	if done, ok := r.Doc().Lookup("pipeline.complete"); !ok || done != false || in.SessionID != cmp.Or(lead(c), r.Session()) {
		return nil
	}
	return &blocked{keepGoing, fmt.Errorf("issue %s: the pipeline is not complete: git checkpoint resume says where to go on", issue)}
}

// lead returns the session id of the pipeline's lead, or "" if the file is missing.
func lead(c *invoke.Invocation) string {
	f, err := invoke.OpenPlain(c, leadSession)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, 1024))
	return strings.TrimSpace(string(data))
}
