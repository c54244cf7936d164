package work

import (
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/sessions"
)

// AgentOf returns the agent of a session, or "" if this clone has no record of it.
func AgentOf(c *invoke.Invocation, session string) string {
	found, _ := sessions.Read(c.Store.Notes, session)
	return found.Agent
}

// SessionName returns the first digits of a session's id and its agent, such as
// "0d5a0e0e (claude)".
func SessionName(c *invoke.Invocation, session string) string {
	name := session[:min(len(session), 8)]
	if agent := AgentOf(c, session); agent != "" {
		name += " (" + agent + ")"
	}
	return name
}
