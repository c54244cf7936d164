package commands

import (
	"context"
	"fmt"
	"os"
	"strings"

	"git-checkpoint/gitstore"
)

// leadSession is the file in which a pipeline's lead keeps its session id.
const leadSession = ".pipeline/lead-session.id"

// keepGoing is the status by which an agent's stop hook makes it go on.
const keepGoing = 2

// sessionStop keeps the lead of a pipeline that is not complete from ending its
// turn. No other session is held up, nor is the lead twice in a row.
func (c *call) sessionStop([]string) error {
	if gitstore.TakeGlance().None() {
		return nil
	}
	in := c.sessionInput()
	if in.SessionID == "" || in.StopActive {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.ctx, hookTime)
	defer cancel()
	c.ctx = ctx
	if err := c.open(); err != nil {
		return err
	}
	issue, err := c.inferIssue()
	if err != nil || !c.settings.Bool("enabled") {
		return nil
	}
	cp, err := c.store.Newest(c.ctx, issue)
	if err != nil {
		return err
	}
	r, err := c.store.SoundRecord(cp)
	if err != nil {
		return err
	}
	if done, ok := r.Doc().Lookup("pipeline.complete"); !ok || done != false || in.SessionID != first(c.lead(), r.Session()) {
		return nil
	}
	return &blocked{keepGoing, fmt.Errorf("issue %s: the pipeline is not complete: git checkpoint resume says where to go on", issue)}
}

// lead is the session that the pipeline's lead wrote down, "" for none.
func (c *call) lead() string {
	root, err := os.OpenRoot(c.store.Root())
	if err != nil {
		return ""
	}
	defer root.Close()
	info, err := root.Stat(leadSession)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1024 {
		return ""
	}
	data, _ := root.ReadFile(leadSession)
	return strings.TrimSpace(string(data))
}
