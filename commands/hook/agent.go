package hook

import "path"

// An Agent is a program whose sessions are saved and resumed by its hooks.
//
// All three keep them as hooks.<event>: [{"hooks": [{"type": "command", ...}]}]
// in a JSON file: Claude Code in .claude/settings.json, Codex in
// .codex/hooks.json or as the same tables in .codex/config.toml, Gemini in
// .gemini/settings.json, with time-outs in milliseconds. A session's start
// hands what the hook prints to the model: as it is for the first two, as
// hookSpecificOutput.additionalContext of one JSON object for Gemini, which
// takes nothing else.
type Agent struct {
	Name   string
	File   string // of the project, and of the user below the home folder
	TOML   string // where the hooks may be instead
	Events []AgentEvent
	JSON   bool // reads JSON alone
	Budget int  // for reading files at a session's end, in milliseconds
}

// An AgentEvent is one of an agent's events, and what it is here.
type AgentEvent struct {
	Name    string // the agent's
	Hook    string // ours: session-start, pre-compact or session-end
	Timeout int    // in the agent's unit
}

var agents = []Agent{
	{
		Name: "claude", File: ".claude/settings.json", Budget: 10_000,
		Events: []AgentEvent{{"SessionStart", "session-start", 10}, {"PreCompact", "pre-compact", 30}, {"SessionEnd", "session-end", 30}},
	},
	{ // which allows a session's end 3 seconds
		Name: "codex", File: ".codex/hooks.json", TOML: ".codex/config.toml", Budget: 1500,
		Events: []AgentEvent{{"SessionStart", "session-start", 10}, {"PreCompact", "pre-compact", 30}, {"SessionEnd", "session-end", 3}},
	},
	{
		Name: "gemini", File: ".gemini/settings.json", JSON: true, Budget: 10_000,
		Events: []AgentEvent{{"SessionStart", "session-start", 10_000}, {"PreCompress", "pre-compact", 30_000}, {"SessionEnd", "session-end", 30_000}},
	},
}

// Agents are the names of those that are known.
func Agents() []string {
	var names []string
	for _, a := range agents {
		names = append(names, a.Name)
	}
	return names
}

// AgentNamed finds an agent, nil for none.
func AgentNamed(name string) *Agent {
	for i := range agents {
		if agents[i].Name == name {
			return &agents[i]
		}
	}
	return nil
}

// Folder is the agent's folder.
func (a *Agent) Folder() string { return path.Dir(a.File) }

// Command is what the agent runs at an event. Someone who works on the same
// project without this program notices nothing.
func (a *Agent) Command(e AgentEvent) string {
	return "command -v git-checkpoint >/dev/null 2>&1 || exit 0; " + calls + e.Hook + " " + a.Name
}

func (a *Agent) group(e AgentEvent) Group {
	return Group{Hooks: []Command{{Type: "command", Command: a.Command(e), Timeout: e.Timeout}}}
}

// Install adds the agent's hooks to the text of its settings file, which may
// not exist. Nothing else in it changes.
func (a *Agent) Install(text string, exists bool) (string, error) {
	for _, e := range a.Events {
		var err error
		if text, err = AddSetting(text, exists, e.Name, a.group(e)); err != nil {
			return "", err
		}
		exists = true
	}
	return text, nil
}

// Installed lists the agent's events that a settings file has hooks for.
func (a *Agent) Installed(text string) []string {
	var events []string
	for _, e := range a.Events {
		if HasSetting(text, e.Name) {
			events = append(events, e.Name)
		}
	}
	return events
}
