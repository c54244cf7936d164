package hooks

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/sessions"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/story"
)

// agentName returns the agent that calls a hook, or "".
func agentName(args []string) string {
	if len(args) == 0 || hook.AgentNamed(args[0]) == nil {
		return ""
	}
	return args[0]
}

// sessionSave saves the state of a session to its issue and from its worktree, if it has
// changed.
func sessionSave(c *invoke.Invocation, trigger string, args []string) error {
	in, agent := readSessionInput(c), agentName(args)
	s, known, err := openSession(c, in)
	if err != nil {
		return err
	}
	if !c.Settings.Bool("enabled") {
		return nil
	}
	sessions.Ran(c.Store.Notes, agent, c.Line.Args[0], c.Env.Now())
	issue, why, err := sessionIssue(c, in, agent, s, known)
	if err != nil {
		return err
	}
	if issue == "" && why == "" {
		return nil
	}
	if issue == "" {
		notify(c, "%s: nothing is saved: %s", c.Line.Args[0], why)
		return nil
	}
	line := []string{"save", "--trigger", trigger, "--quiet"}
	if c.Store.HasIssue(c.Ctx, issue) || c.Line.Args[0] == hook.Prompt || len(c.Store.CommitsSince(c.Ctx, s.Head, true)) == 0 {
		line = append(line, "--if-changed") // the first checkpoint is compared with HEAD, and has the commits of the session
	}
	var turn *invoke.Turn
	if c.Line.Args[0] == hook.Prompt {
		at := sessions.Session{ID: in.SessionID, Agent: agent, Issue: issue, Root: c.Store.Root()}
		turn = &invoke.Turn{Hand: true, Agent: sessions.AtWork(c.Store.Notes, at, time.Now())}
		line = append(line, "--message="+view.HandNote(turn.Agent))
		at.Head = c.Store.HeadMark(c.Ctx)
		_ = sessions.BeginTurn(c.Store.Notes, at) // an error can make the changes of this turn "by hand"
	} else {
		turn = turnOf(c, in, agent, trigger)
		if trigger == hook.Turn {
			if begun := sessions.Begun(c.Store.Notes, in.SessionID); begun.Root == c.Store.Root() {
				turn.Commits = c.Store.CommitsSince(c.Ctx, begun.Head, false)
			}
		}
		if trigger != "interval" {
			sessions.EndTurn(c.Store.Notes, in.SessionID)
		}
		turn.Counted = countedBefore(c, issue, in.SessionID, turn.UsageOf)
		if note := view.Truncate(view.Clean(view.FirstLine(turn.Request)), noteWidth); trigger == hook.Turn && note != "" {
			line = append(line, "--message="+note)
		}
		if sessions.IsID(in.SessionID) {
			line = append(line, "--session", in.SessionID)
		}
	}
	var said bytes.Buffer
	env := *c.Env
	env.Stdin, env.Stdout, env.Stderr = strings.NewReader(""), io.Discard, &said
	env.Environ, env.InHook, env.Turn, env.Like = slices.Concat(sessionBounds(c), env.Environ), true, turn, c.Store
	c.RunLine(c.Ctx, &env, append(line, "--issue="+string(issue)))
	if problem := view.FirstLine(said.String()); problem != "" { // an error, or a warning in spite of --quiet
		notify(c, "%s", strings.TrimPrefix(problem, "git-checkpoint: "))
	}
	return nil
}

// sessionBounds returns variables that keep a save within the seconds that an agent
// allows. Variables from the user's environment follow them and take precedence.
func sessionBounds(c *invoke.Invocation) []string {
	bounds, agent := []string{"GIT_CHECKPOINT_TIMEOUTS_ISSUE=1"}, &hook.Agent{Budget: 1500}
	if len(c.Line.Args) > 1 {
		agent = cmp.Or(hook.AgentNamed(c.Line.Args[1]), agent)
	}
	if c.Settings.IsDefault("limits.capture_ms") {
		bounds = append(bounds, fmt.Sprintf("GIT_CHECKPOINT_LIMITS_CAPTURE_MS=%d", agent.Budget))
	}
	if c.Line.Args[0] == "pre-compact" && agent.CompactsOften && c.Settings.IsDefault("min_interval") {
		bounds = append(bounds, "GIT_CHECKPOINT_MIN_INTERVAL=60") // it compacts many times in a session
	}
	return bounds
}

// sessionStop makes the lead session of an incomplete pipeline continue. Other sessions
// may stop, and so may the lead if a stop hook has already made it continue.
func sessionStop(c *invoke.Invocation, _ []string) error {
	in := readSessionInput(c)
	if in.SessionID == "" || in.StopActive {
		return nil
	}
	done, on, err := openQuickly(c, c.Open)
	defer done()
	if err != nil || !on {
		return err
	}
	issue, r, err := ledBy(c, in.SessionID)
	if err != nil || r == nil {
		return err
	}
	if complete, ok := r.Doc().Lookup("pipeline.complete"); !ok || complete != false || progress.Over(r) {
		return nil
	}
	const keepGoing = 2
	return &blocked{keepGoing, fmt.Errorf("issue %s: the pipeline is not complete: git checkpoint resume %s says where to go on", issue, view.IssueArg(issue))}
}

// ledBy returns the issue and the record of the pipeline that a session leads: the issue
// of the branch, or the newest lead's state on this branch if the lead's file names the
// session. It returns nil if the session leads no pipeline.
func ledBy(c *invoke.Invocation, session string) (checkpoint.Issue, *checkpoint.Record, error) {
	file, _, _ := invoke.ReadPlain(c.Store.Root(), ".pipeline/lead-session.id", 1024)
	named := strings.TrimSpace(string(file))
	issue, ok := handedIssue(c)
	if ok {
		p, r, err := c.Store.PointRecord(c.Ctx, issue)
		if err != nil {
			return "", nil, err
		}
		if _, knowsEnd := r.Doc().Lookup("pipeline.complete"); knowsEnd {
			if session != cmp.Or(named, r.Session()) && (named != "" || session != work.LastSession(c, p.Checkpoint, r).ID) {
				r = nil
			}
			return issue, r, nil
		}
	}
	if session != named {
		return "", nil, nil
	}
	var state *checkpoint.Record // the newest lead's
	issues, err := issuesOfBranch(c, 0)
	for _, i := range issues {
		_, r, err := c.Store.PointRecord(c.Ctx, i)
		if err == nil && story.IsLead(r) && (state == nil || r.CreatedAt().After(state.CreatedAt())) {
			issue, state = i, r
		}
	}
	return issue, state, err
}
