package hook

// An Agent is a program whose hooks save and resume sessions.
//
// All three agents store hooks as hooks.<event>: [{"hooks": [{"type": "command", ...}]}]
// in a JSON file. Claude Code reads .claude/settings.json. Codex reads .codex/hooks.json,
// or equivalent tables in .codex/config.toml. Gemini reads .gemini/settings.json with
// timeouts in milliseconds. At session start, agents pass the hook's output to the model:
// Claude Code and Codex pass plain text, whereas Gemini requires
// hookSpecificOutput.additionalContext in one JSON object.
type Agent struct {
	Name   string
	File   string // settings file, relative to the project or the user's home directory
	TOML   string // alternative TOML file for hooks
	Events []AgentEvent
	JSON   bool // accepts only JSON output
	Budget int  // milliseconds for reading files at session end
}

// An AgentEvent maps an agent's event to a hook of this program.
type AgentEvent struct {
	Name    string // agent's event name
	Hook    string // hook name: session-start, pre-compact or session-end
	Timeout int    // in the agent's unit
}

var agents = []Agent{
	{
		Name: "claude", File: ".claude/settings.json", Budget: 10_000,
		Events: []AgentEvent{{"SessionStart", "session-start", 10}, {"PreCompact", "pre-compact", 30}, {"SessionEnd", "session-end", 30}},
	},
	{ // Codex allows 3 seconds at session end
		Name: "codex", File: ".codex/hooks.json", TOML: ".codex/config.toml", Budget: 1500,
		Events: []AgentEvent{{"SessionStart", "session-start", 10}, {"PreCompact", "pre-compact", 30}, {"SessionEnd", "session-end", 3}},
	},
	{
		Name: "gemini", File: ".gemini/settings.json", JSON: true, Budget: 10_000,
		Events: []AgentEvent{{"SessionStart", "session-start", 10_000}, {"PreCompress", "pre-compact", 30_000}, {"SessionEnd", "session-end", 30_000}},
	},
}

// Agents returns the names of supported agents.
func Agents() []string {
	var names []string
	for _, a := range agents {
		names = append(names, a.Name)
	}
	return names
}

// AgentNamed returns the agent called name, or nil.
func AgentNamed(name string) *Agent {
	for i := range agents {
		if agents[i].Name == name {
			return &agents[i]
		}
	}
	return nil
}

// Command returns the agent's shell command for an event. Without git-checkpoint on PATH
// the command succeeds silently, so that it does not disturb other users of the project.
func (a *Agent) Command(e AgentEvent) string {
	return "command -v git-checkpoint >/dev/null 2>&1 || exit 0; " + calls + e.Hook + " " + a.Name
}

func (a *Agent) group(e AgentEvent) Group {
	return Group{Hooks: []Command{{Type: "command", Command: a.Command(e), Timeout: e.Timeout}}}
}

// Install adds the agent's hooks to the text of its settings file and changes nothing
// else. exists is false if the file does not exist.
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

// Installed returns the agent's events with a hook in a settings file.
func (a *Agent) Installed(text string) []string {
	var events []string
	for _, e := range a.Events {
		if HasSetting(text, e.Name) {
			events = append(events, e.Name)
		}
	}
	return events
}
