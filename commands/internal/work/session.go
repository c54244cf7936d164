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
