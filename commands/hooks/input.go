package hooks

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/terminal"
)

// A sessionInput is the JSON object that an agent writes to a hook's standard input:
//
//	{"session_id": "...", "cwd": "...", "hook_event_name": "SessionStart", ...}
//
// Cursor calls the id conversation_id, and antigravity conversationId. Both name the
// directories of the project.
type sessionInput struct {
	SessionID  string   `json:"session_id"`
	Transcript string   `json:"transcript_path"`  // "" if the agent has no transcript
	Prompt     string   `json:"prompt"`           // of the turn that ends, if the agent gives it
	Answer     string   `json:"prompt_response"`  // last message of the agent in that turn, likewise
	Source     string   `json:"source"`           // of SessionStart: startup, resume, clear or compact
	StopActive bool     `json:"stop_hook_active"` // the agent continues because of a stop hook
	Projects   []string `json:"workspace_roots"`  // directories of the project, if the agent gives them

	Turn     string            `json:"turn"`     // id of the request, from a plugin
	Messages []json.RawMessage `json:"messages"` // since the request, from a plugin
}

// UnmarshalJSON also reads the names that other agents give to the fields. The package
// json ignores the case of names, so that sessionId matches sessionID too. A field of
// another type, such as a prompt with parts, stays empty and is returned as an error.
func (in *sessionInput) UnmarshalJSON(data []byte) error {
	type plain sessionInput
	var names struct {
		plain
		SessionID      string   `json:"sessionId"`
		ConversationID string   `json:"conversation_id"`
		Conversation   string   `json:"conversationId"`
		Transcript     string   `json:"transcriptPath"`
		Answer         string   `json:"last_assistant_message"`
		Projects       []string `json:"workspacePaths"`
	}
	err := json.Unmarshal(data, &names) // with an error of a type, the other fields are set
	*in = sessionInput(names.plain)
	in.SessionID = cmp.Or(in.SessionID, names.SessionID, names.ConversationID, names.Conversation)
	in.Transcript = cmp.Or(in.Transcript, names.Transcript)
	in.Answer = cmp.Or(in.Answer, names.Answer)
	in.Projects = slices.DeleteFunc(append(in.Projects, names.Projects...), func(dir string) bool { return !filepath.IsAbs(dir) })
	in.Projects = in.Projects[:min(len(in.Projects), maxPlaces)]
	return err
}

// readSessionInput decodes the object. The agent may leave the input open after the object, and need
// not close an unused pipe. If the input is invalid or late, StopActive is set, so that a stop hook
// does not block the agent.
func readSessionInput(c *invoke.Invocation) sessionInput {
	if c.Env.Stdin == nil || terminal.Is(c.Env.Stdin) {
		return sessionInput{}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	r := bufio.NewReader(io.LimitReader(c.Input(), 16<<20))
	in, _, err := invoke.Await(ctx, 0, func() (in sessionInput, err error) {
		if start, _ := r.Peek(3); string(start) == "\ufeff" { // some programs of Windows begin a text so
			_, _ = r.Discard(3)
		}
		err = json.NewDecoder(r).Decode(&in)
		return in, err
	})
	in.StopActive = in.StopActive || err != nil
	return in
}
