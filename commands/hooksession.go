package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"git-checkpoint/commands/hook"
	"git-checkpoint/commands/output"
	"git-checkpoint/commands/terminal"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
)

// An agent gives a hook one JSON object on standard input:
//
//	{"session_id": "...", "cwd": "...", "hook_event_name": "SessionStart", ...}
type sessionInput struct {
	SessionID  string `json:"session_id"`
	StopActive bool   `json:"stop_hook_active"` // it goes on because a stop hook said so
}

const maxInput = 1 << 20

// inputTime bounds the wait for it: an agent need not close what it does not
// use, and no session may hang on that.
const inputTime = time.Second

func (c *Invocation) sessionInput() sessionInput {
	if c.env.Stdin == nil || terminal.Is(c.env.Stdin) {
		return sessionInput{}
	}
	return readSession(c.env.Stdin, inputTime)
}

// readSession reads the object, which may come without an end of the input
// behind it. What is not understood, or not there in time, holds nobody up.
func readSession(r io.Reader, within time.Duration) sessionInput {
	got := make(chan sessionInput, 1)
	go func() {
		var in sessionInput
		if json.NewDecoder(io.LimitReader(r, maxInput)).Decode(&in) != nil {
			in.StopActive = true
		}
		got <- in
	}()
	select {
	case in := <-got:
		return in
	case <-time.After(within):
		return sessionInput{StopActive: true}
	}
}

// sessionStart hands a new session the newest checkpoint of its issue, as
// data: anyone who can push a ref can write it.
func (c *Invocation) sessionStart(args []string) error {
	in := c.sessionInput()
	if gitstore.ReadHookPrecheck().HasNoCheckpoints() && in.SessionID == "" {
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
	r, err := c.newest(issue)
	if err != nil {
		return err
	}
	if standingOf(r.record, r.verdict).complete {
		return nil
	}
	return c.handOver(promptFor(r, c.env.Now(), 0)+nextStep(r), args)
}

// nextStep is how the files come back. What a person has to decide no agent is
// told to answer.
func nextStep(r *resumption) string {
	switch issue := quoteArg(string(r.cp.Issue)); r.verdict.Action {
	case freshness.Resume, freshness.ProceedWithWarning:
		return "To put the files back: git checkpoint resume " + issue + " --yes\n"
	case freshness.PromptUser:
		return "A person has to decide first: git checkpoint resume " + issue + "\n"
	default:
		return "It cannot be resumed as it is: git checkpoint status " + issue + "\n"
	}
}

// handOver prints a text in the way the agent reads it.
func (c *Invocation) handOver(text string, args []string) error {
	if len(args) > 0 {
		if a := hook.AgentNamed(args[0]); a != nil && a.JSON {
			return output.WriteContext(c.out, "SessionStart", text)
		}
	}
	c.print("%s", text)
	return nil
}

// sessionSave saves what a session leaves behind, if that is anything new. A
// session that goes on is where the worktree is.
func (c *Invocation) sessionSave(trigger string, ends bool) error {
	in := c.sessionInput()
	if err := c.open(); err != nil {
		return err
	}
	if !c.settings.Bool("enabled") {
		return nil
	}
	if !ends {
		c.noteSession(in.SessionID)
	}
	issue, why, err := c.sessionIssue(in.SessionID)
	if err != nil {
		return err
	}
	if issue == "" {
		if why != "" {
			c.notify("%s: nothing is saved: %s", c.args[0], why)
		}
		return nil
	}
	args := []string{"save", "--trigger", trigger, "--if-changed", "--quiet"}
	if c.store.Root() != "" {
		args = append(args, "--worktree", "--untracked")
	}
	if isSession(in.SessionID) {
		args = append(args, "--session", in.SessionID)
	}
	var said bytes.Buffer
	env := *c.env
	env.Stdin, env.Stdout, env.Stderr = strings.NewReader(""), io.Discard, &said
	env.Environ = slices.Concat(c.sessionBounds(), env.Environ)
	if code := runLine(c.ctx, &env, c.commands, append(args, "--", string(issue))); code != exitOK {
		c.notify("%s", strings.TrimPrefix(firstLine(said.String()), "git-checkpoint: "))
	}
	return nil
}

// sessionBounds keep a save within the seconds that an agent allows: what the
// user has set in the environment comes after, and wins.
func (c *Invocation) sessionBounds() []string {
	bounds := []string{"GIT_CHECKPOINT_ISSUE_TIMEOUT=1"}
	if c.settings.IsDefault("storage.budget_ms") {
		budget := 1500
		if len(c.args) > 1 && hook.AgentNamed(c.args[1]) != nil {
			budget = hook.AgentNamed(c.args[1]).Budget
		}
		bounds = append(bounds, fmt.Sprintf("GIT_CHECKPOINT_STORAGE_BUDGET_MS=%d", budget))
	}
	return bounds
}

func isSession(s string) bool {
	return regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`).MatchString(s)
}

// event saves when a workflow's event of that name is broadcast, as crunch's
// agents do; other events are none of ours.
func (c *Invocation) event(args []string) error {
	if len(args) == 0 || args[0] != "CHECKPOINT" {
		return nil
	}
	return c.sessionSave("manual", false)
}
