package standing

import (
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/sessions"
	"git-checkpoint/gitstore/checkpoint"
)

// AddSession adds the session that a person or an agent can continue to a JSON record.
func AddSession(c *invoke.Invocation, s *output.Status, r *checkpoint.Record) {
	s.SessionID = r.Session()
	if found, ok := sessions.Of(c.Store.Notes, r.Session(), ""); ok {
		s.SessionID, s.SessionAgent, s.SessionTranscript, s.SessionCommand = found.ID, found.Agent, found.Transcript, found.Command()
	}
}

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

// SessionText describes the session of a checkpoint. It returns "" if this clone has no record of
// the session.
func SessionText(c *invoke.Invocation, r *checkpoint.Record) string {
	if found, ok := sessions.Of(c.Store.Notes, r.Session(), ""); ok {
		return found.Text()
	}
	return ""
}

// ShowSession prints the session of a checkpoint, if this clone has its record.
func ShowSession(c *invoke.Invocation, r *checkpoint.Record) {
	if text := SessionText(c, r); text != "" {
		c.Printf("Session: %s\n", output.Clean(text))
	}
}
