package commands

import (
	"fmt"
	"io"
	"strings"

	"git-checkpoint/gitstore"
)

// leadSession is the file in which a pipeline's lead keeps its session id.
const leadSession = ".pipeline/lead-session.id"

// keepGoing is the status by which an agent's stop hook makes it go on.
const keepGoing = 2

// sessionStop keeps the lead of a pipeline that is not complete from ending its
// turn. No other session is held up, nor is the lead twice in a row.
func (c *Invocation) sessionStop([]string) error {
	if gitstore.ReadHookPrecheck().HasNoCheckpoints() {
		return nil
	}
	in := c.sessionInput()
	if in.SessionID == "" || in.StopActive {
		return nil
	}
	done, on, err := c.openQuickly()
	defer done()
	if err != nil || !on {
		return err
	}
	c.noteSession(in.SessionID)
	issue, ok := c.handedIssue()
	if !ok {
		return nil
	}
	_, r, err := c.store.NewestRecord(c.ctx, issue)
	if err != nil {
		return err
	}
	if done, ok := r.Doc().Lookup("pipeline.complete"); !ok || done != false || in.SessionID != first(c.lead(), r.Session()) {
		return nil
	}
	return &blocked{keepGoing, fmt.Errorf("issue %s: the pipeline is not complete: git checkpoint resume says where to go on", issue)}
}

// lead is the session that the pipeline's lead wrote down, "" for none.
func (c *Invocation) lead() string {
	f, err := c.openPlain(leadSession)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, 1024))
	return strings.TrimSpace(string(data))
}
