package hook

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// An Agent is a program whose hooks save and resume sessions.
//
// Most agents read hooks from a JSON file of settings. Claude Code's form of them is the
// default: hooks.<event>: [{"hooks": [{"type": "command", ...}]}]. opencode and pi have no
// such settings, and load a plugin file instead.
//
// At session start, agents pass the hook's output to the model: Qwen Code and droid pass
// plain text. The others read a field of one JSON object. Claude Code has two fields,
// because Copilot reads the settings of Claude Code. Codex rejects the second one.
type Agent struct {
	Name    string
	Program string // file name of its program
	File    string // settings or plugin file in a project
	Home    string // the same in the user's home directory, "" if unknown
	Moves   []Move // environment variables that move the files in the home directory; the first one that is set counts
	Local   string // unshared settings file in a project, or ""
	Plugin  string // text of the plugin file, "" for an agent with settings
	Events  []AgentEvent
	JSON    []string // fields of the JSON object that it reads at session start, nil for plain text
	Budget  int      // milliseconds for reading files at session end
	Allow   *Permission

	Resume string   // command that continues a session, without its id
	Start  []string // command that starts a session with a first request, without the request; nil if unknown
	Reads  string   // another agent whose settings in the project it reads too, or ""

	Off      []Switch // settings that switch its hooks off
	OffFiles []string // files with these settings, the strongest first: absolute, below the home directory ("~/"), or in the project

	Untrusted string // usual reason if no hook has ever run, "" for that of most agents

	WritesLate    bool // the end of a turn can be missing in its transcript when the hook of the turn runs
	CompactsOften bool // fires its event of pre-compact before each request to the model

	// Differences from Claude Code's form of settings:
	Section    string // member of the root that has the events, "" for hooks
	Flat       bool   // an event has commands, without groups
	CommandKey string // member of a command that has its text, "" for command
	TimeoutKey string // member of a command that has its timeout, "" for timeout
	Versioned  bool   // the root has the member version: 1
}

// An AgentEvent maps an agent's event to a hook of this program.
type AgentEvent struct {
	Name    string // agent's event name
	Hook    string // hook name: session-start, prompt, turn, interrupt, pre-compact or session-end
	Timeout int    // in the agent's unit
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

// command returns the agent's shell command for an event. The command always succeeds:
// without git-checkpoint on PATH, so that it does not disturb other users of the project,
// and after a crash, because status 2 stops a turn or a compaction.
func (a *Agent) command(e AgentEvent) string {
	return "command -v git-checkpoint >/dev/null 2>&1 || exit 0; " + calls + e.Hook + " " + a.Name + " || exit 0"
}

// WithoutTurns returns a copy of the agent without the events of turns.
func (a *Agent) WithoutTurns() *Agent {
	copied := *a
	copied.Events = slices.DeleteFunc(slices.Clone(a.Events), func(e AgentEvent) bool { return e.Hook == Turn || e.Hook == Prompt })
	return &copied
}

// NeverRan returns the usual reasons if no hook of the agent has ever run.
func (a *Agent) NeverRan() string {
	text := "start " + a.Program + " at the root of the worktree, trust the folder, and have git-checkpoint on its PATH"
	if a.Home != "" {
		text += "; hooks of --global run in subdirectories and other worktrees too"
	}
	return cmp.Or(a.Untrusted, text)
}

// Names of the hooks at the end of a turn, and at its beginning.
const (
	Turn   = "turn"
	Prompt = "prompt"
)

// Install adds the agent's hooks to the text of its settings file and changes nothing
// else. exists is false if the file does not exist. An event with a command that calls its hook
// stays as it is. In a file without a value, such as a single newline, an object on one line is
// inserted before the existing text.
func (a *Agent) Install(text string, exists bool) (string, error) {
	blank := strings.TrimPrefix(text, byteOrderMark)
	settings, empty := text, strings.TrimSpace(blank) == ""
	if empty {
		settings = "{}"
	}
	for _, e := range a.Events {
		root, err := parseJSON(settings)
		if err != nil {
			return "", err
		}
		if a.calls(root, e) {
			continue
		}
		if settings, err = addElement(settings, []string{a.section(), e.Name}, a.entry(e)); err != nil {
			return "", err
		}
	}
	if empty && a.Versioned {
		settings = strings.TrimSuffix(settings, "}") + `, "version": 1}`
	}
	switch {
	case !exists:
		return pretty(json.RawMessage(settings), "", "  ", "\n") + "\n", nil
	case empty:
		return text[:len(text)-len(blank)] + settings + blank, nil
	}
	return settings, nil
}

// Installed returns the agent's events with a hook in a settings file.
func (a *Agent) Installed(text string) (events []string) {
	root, err := parseJSON(text)
	if err != nil {
		return nil
	}
	for _, e := range a.Events {
		if a.calls(root, e) {
			events = append(events, e.Name)
		}
	}
	return events
}

// calls reports whether a command of the event calls its hook, whoever wrote the command.
func (a *Agent) calls(root *hujson.Value, e AgentEvent) bool {
	commands := elements(find(root, a.section(), e.Name))
	if !a.Flat {
		groups := commands
		commands = nil
		for i := range groups {
			commands = append(commands, elements(find(&groups[i], "hooks"))...)
		}
	}
	return slices.ContainsFunc(commands, func(command hujson.Value) bool { return strings.Contains(a.commandText(&command), calls+e.Hook) })
}

// commandText returns the text of a command in a settings file, or "".
func (a *Agent) commandText(command *hujson.Value) string {
	return textAt(command, cmp.Or(a.CommandKey, "command"))
}

// entry returns an event's entry in JSON: a command, in a group unless the agent has none.
func (a *Agent) entry(e AgentEvent) json.RawMessage {
	command := fmt.Sprintf(`{"type":"command",%q:%s,%q:%d}`, cmp.Or(a.CommandKey, "command"), pretty(a.command(e), "", "", ""), cmp.Or(a.TimeoutKey, "timeout"), e.Timeout)
	if !a.Flat {
		command = `{"hooks":[` + command + `]}`
	}
	return json.RawMessage(command)
}

func (a *Agent) section() string { return cmp.Or(a.Section, "hooks") }

// Uninstall removes all commands written by install, at any position, and preserves all
// other bytes. gone reports that the file did not exist before the install, and that nothing else
// is in it. before holds earlier contents of the file, newest first; they show which containers
// existed before the install.
func (a *Agent) Uninstall(text string, before ...string) (rest string, gone bool) {
	original, known := a.originalOf(before)
	for _, installed := range []*Agent{a, a.WithoutTurns()} {
		for _, exists := range []bool{original != "", true} { // the original "" is a missing file, or an empty one
			if again, err := installed.Install(original, exists); err == nil && again == text && (known || !exists) {
				return original, !exists
			}
		}
	}
	root, err := parseJSON(text)
	was, _ := parseJSON(original) // nil if there is no original
	if err != nil || !a.removeOwn(root, was) {
		return text, false
	}
	if rest = root.String(); strings.TrimSpace(original) == "" && strings.TrimSpace(strings.TrimPrefix(rest, byteOrderMark)) == "{}" {
		return "", true
	}
	return rest, false
}

// originalOf returns the newest text without commands of install, if there is one.
func (a *Agent) originalOf(texts []string) (original string, known bool) {
	for _, text := range texts {
		if root, err := parseJSON(text); err != nil || !a.removeOwn(root, nil) {
			return text, true
		}
	}
	return "", false
}

// removeOwn removes the commands of install, and the containers that become empty unless the
// original has them. It reports whether there were such commands.
func (a *Agent) removeOwn(root, original *hujson.Value) (removed bool) {
	section := find(root, a.section())
	if section == nil || section.Value.Kind() != '{' {
		return false
	}
	isOwn := func(command *hujson.Value) bool { return isOwnCommand(a.commandText(command)) }
	for _, m := range slices.Clone(section.Value.(*hujson.Object).Members) {
		event := m.Name.Value.(hujson.Literal).String()
		entries, found := find(section, event), false
		for k, entry := range slices.Backward(elements(entries)) {
			own := a.Flat && isOwn(&entry)
			if list := find(&entry, "hooks"); !a.Flat {
				for n, command := range slices.Backward(elements(list)) {
					if isOwn(&command) {
						removeItem(list, n)
						found, own = true, isEmpty(list)
					}
				}
			}
			if own {
				removeItem(entries, k)
				found = true
			}
		}
		if found {
			prune(root, original, []string{a.section(), event})
			removed = true
		}
	}
	if removed && a.Versioned && count(root) == 1 && memberAt(root, "version") == 0 && find(original, "version") == nil {
		removeItem(root, 0)
	}
	return removed
}

// Check returns an error with line and column if a settings file is unparsable. Agents run no hook of
// such a file.
func (a *Agent) Check(text string) error {
	if a.Plugin != "" || strings.TrimSpace(text) == "" {
		return nil
	}
	_, err := parseJSON(text)
	return err
}

// Mentions reports whether a text calls this program.
func Mentions(text string) bool { return strings.Contains(text, calls) }

// agents are the supported agents, the most used ones first.
var agents = []Agent{
	{
		Name: "claude", Program: "claude", Resume: "claude --resume", Start: []string{"claude"}, JSON: []string{"hookSpecificOutput", "additionalContext"}, File: ".claude/settings.json", Home: ".claude/settings.json", Local: ".claude/settings.local.json",
		Budget: 10_000, Events: claudeEvents,
		Allow: &Permission{Path: []string{"permissions", "allow"}, Rule: "Bash(git checkpoint:*)"},
		Moves: []Move{{"CLAUDE_CONFIG_DIR", ".claude"}},
		Off:   []Switch{allHooksOff, {"allowManagedHooksOnly", "true", true}},
		OffFiles: []string{
			"/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json", `C:\Program Files\ClaudeCode\managed-settings.json`,
			".claude/settings.local.json", ".claude/settings.json", "~/.claude/settings.json",
		},
	},
	{ // Codex allows 3 seconds at an interrupt and at session end
		Name: "codex", Program: "codex", Resume: "codex resume", Start: []string{"codex"}, JSON: []string{"hookSpecificOutput"}, File: ".codex/hooks.json", Home: ".codex/hooks.json", Budget: 1500,
		Untrusted: "start codex, trust the project, and trust the hooks in /hooks; codex exec skips hooks that are not trusted",
		Events: []AgentEvent{
			{"SessionStart", "session-start", 10},
			{"UserPromptSubmit", Prompt, 30},
			{"Stop", Turn, 30},
			{"Interrupt", "interrupt", 3},
			{"PreCompact", "pre-compact", 30},
			{"SessionEnd", "session-end", 3},
		},
		Allow:    &Permission{File: ".codex/rules/git-checkpoint.rules", Text: "prefix_rule(pattern = [\"git\", \"checkpoint\"], decision = \"allow\")\n"},
		Moves:    []Move{{"CODEX_HOME", ".codex"}},
		Off:      []Switch{{"features.hooks", "false", false}, {"features.codex_hooks", "false", false}},
		OffFiles: []string{"/etc/codex/requirements.toml", ".codex/config.toml", "~/.codex/config.toml"},
	},
	{ // timeouts in milliseconds
		Name: "gemini", Program: "gemini", Resume: "gemini --resume", Start: []string{"gemini", "-i"}, File: ".gemini/settings.json", Home: ".gemini/settings.json", JSON: []string{"hookSpecificOutput"}, Budget: 10_000, CompactsOften: true,
		Events:   []AgentEvent{{"SessionStart", "session-start", 10_000}, {"BeforeAgent", Prompt, 30_000}, {"AfterAgent", Turn, 30_000}, {"PreCompress", "pre-compact", 30_000}, {"SessionEnd", "session-end", 30_000}},
		Allow:    &Permission{Path: []string{"tools", "allowed"}, Rule: "run_shell_command(git checkpoint)"},
		Moves:    []Move{{"GEMINI_CLI_HOME", ""}},
		Off:      []Switch{{"hooksConfig.enabled", "false", false}, {"hooks.enabled", "false", false}, {"tools.enableHooks", "false", false}, {"hooksConfig.disabled", listed, false}, {"hooks.disabled", listed, false}},
		OffFiles: []string{"/etc/gemini-cli/settings.json", "/Library/Application Support/GeminiCli/settings.json", ".gemini/settings.json", "~/.gemini/settings.json"},
	},
	{
		Name: "copilot", WritesLate: true, Program: "copilot", Resume: "copilot --resume", Start: []string{"copilot", "-i"}, Reads: "claude", File: ".github/hooks/git-checkpoint.json", Home: ".copilot/hooks/git-checkpoint.json", JSON: []string{"additionalContext"}, Budget: 10_000,
		Flat: true, CommandKey: "bash", TimeoutKey: "timeoutSec", Versioned: true, Events: claudeEvents,
		Moves:    []Move{{"COPILOT_HOME", ".copilot"}},
		Off:      []Switch{allHooksOff},
		OffFiles: []string{".github/copilot/settings.local.json", ".github/copilot/settings.json", ".github/hooks/git-checkpoint.json", "~/.copilot/settings.json", "~/.copilot/config.json", "~/.copilot/hooks/git-checkpoint.json"},
	},
	{
		Name: "cursor", Program: "cursor-agent", Resume: "cursor-agent --resume", Start: []string{"cursor-agent"}, File: ".cursor/hooks.json", Home: ".cursor/hooks.json", JSON: []string{"additional_context"}, Budget: 10_000,
		Flat: true, Versioned: true,
		Events: []AgentEvent{{"sessionStart", "session-start", 10}, {"beforeSubmitPrompt", Prompt, 30}, {"stop", Turn, 30}, {"preCompact", "pre-compact", 30}, {"sessionEnd", "session-end", 30}},
		Moves:  []Move{{"CURSOR_CONFIG_DIR", ".cursor"}},
	},
	{
		Name: "qwen", Program: "qwen", Resume: "qwen --resume", Start: []string{"qwen", "-i"}, File: ".qwen/settings.json", Home: ".qwen/settings.json", Budget: 10_000, Events: claudeEvents,
		Moves:    []Move{{"QWEN_HOME", ".qwen"}},
		Off:      []Switch{allHooksOff, {"hooksConfig.enabled", "false", false}, {"hooksConfig.disabled", listed, false}},
		OffFiles: []string{"/etc/qwen-code/settings.json", "/Library/Application Support/QwenCode/settings.json", ".qwen/settings.json", "~/.qwen/settings.json"},
	},
	{
		Name: "droid", Program: "droid", Resume: "droid --resume", Start: []string{"droid"}, File: ".factory/settings.json", Home: ".factory/settings.json", Budget: 10_000, Events: claudeEvents,
		Moves:    []Move{{"FACTORY_HOME_OVERRIDE", ""}},
		Off:      []Switch{{"hooksDisabled", "true", false}},
		OffFiles: []string{".factory/settings.local.json", ".factory/settings.json", "~/.factory/settings.json"},
	},
	{ // no session end and no compaction
		Name: "antigravity", Program: "agy", File: ".agents/hooks.json", JSON: []string{"injectSteps"}, Budget: 10_000,
		Section: "git-checkpoint", Flat: true,
		Events:   []AgentEvent{{"SessionStart", "session-start", 10}, {"Stop", Turn, 30}},
		Off:      []Switch{{"git-checkpoint.enabled", "false", false}},
		OffFiles: []string{".agents/hooks.json"},
	},
	{
		Name: "opencode", Program: "opencode", Resume: "opencode --session", Start: []string{"opencode", "--prompt"}, File: ".opencode/plugins/git-checkpoint.js", Home: ".config/opencode/plugins/git-checkpoint.js",
		Plugin: opencodePlugin, Budget: 10_000,
		Moves: []Move{{"OPENCODE_CONFIG_DIR", ".config/opencode"}, {"XDG_CONFIG_HOME", ".config"}},
	},
	{
		Name: "pi", Program: "pi", Resume: "pi --session", Start: []string{"pi"}, File: ".pi/extensions/git-checkpoint.ts", Home: ".pi/agent/extensions/git-checkpoint.ts",
		Plugin: piPlugin, Budget: 10_000,
		Moves:    []Move{{"PI_CODING_AGENT_DIR", ".pi/agent"}},
		Off:      []Switch{{"extensions", listed, false}},
		OffFiles: []string{".pi/settings.json", "~/.pi/agent/settings.json"},
	},
}

var claudeEvents = []AgentEvent{{"SessionStart", "session-start", 10}, {"UserPromptSubmit", Prompt, 30}, {"Stop", Turn, 30}, {"PreCompact", "pre-compact", 30}, {"SessionEnd", "session-end", 30}}
