package hook

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// An Agent is a program whose hooks save and resume sessions.
//
// Most agents read hooks from a JSON file of settings. Claude Code's form of them is the
// default: hooks.<event>: [{"hooks": [{"type": "command", ...}]}]. Codex also reads
// equivalent tables in .codex/config.toml. opencode and pi have no such settings, and load
// a plugin file instead.
//
// At session start, agents pass the hook's output to the model: Qwen Code and droid pass
// plain text. The others read a field of one JSON object. Claude Code has two fields,
// because Copilot reads the settings of Claude Code. Codex rejects the second one.
type Agent struct {
	Name    string
	Program string // file name of its program
	File    string // settings or plugin file in a project
	Home    string // the same in the user's home directory, "" if unknown
	Local   string // unshared settings file in a project, or ""
	TOML    string // alternative TOML file for hooks
	Plugin  string // text of the plugin file, "" for an agent with settings
	Events  []AgentEvent
	JSON    []string // fields of the JSON object that it reads at session start, nil for plain text
	Budget  int      // milliseconds for reading files at session end
	Allow   *Permission

	Resume string   // command that continues a session, without its id
	Start  []string // command that starts a session with a first request, without the request; nil if unknown
	Reads  string   // another agent whose settings in the project it reads too, or ""

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

// Permits returns the names of the agents that can be permitted to run git checkpoint.
func Permits() (names []string) {
	for _, a := range agents {
		if a.Allow != nil {
			names = append(names, a.Name)
		}
	}
	return names
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

// TurnEvent returns the name of the event at the end of a turn, or "" for a plugin.
func (a *Agent) TurnEvent() string {
	for _, e := range a.Events {
		if e.Hook == Turn {
			return e.Name
		}
	}
	return ""
}

// HookOf returns the hook of an event, or the event itself if no hook is known.
func (a *Agent) HookOf(event string) string {
	for _, e := range a.Events {
		if e.Name == event {
			return e.Hook
		}
	}
	return event
}

// NeverRan returns the usual reasons if no hook of the agent has ever run.
func (a *Agent) NeverRan() string {
	text := "start " + a.Program + " at the root of the worktree, trust the folder, and have git-checkpoint on its PATH"
	switch {
	case a.TOML != "":
		return "start " + a.Program + ", trust the project, and trust the hooks in /hooks; codex exec skips hooks that are not trusted"
	case a.Home != "":
		text += "; hooks of --global run in subdirectories and other worktrees too"
	}
	return text
}

// Names of the hooks at the end of a turn, and at its beginning.
const (
	Turn   = "turn"
	Prompt = "prompt"
)

// Install adds the agent's hooks to the text of its settings file and changes nothing
// else. exists is false if the file does not exist.
func (a *Agent) Install(text string, exists bool) (string, error) {
	for _, e := range a.Events {
		var err error
		if text, err = a.addSetting(text, exists, e); err != nil {
			return "", err
		}
		exists = true
	}
	return text, nil
}

// Installed returns the agent's events with a hook in a settings file.
func (a *Agent) Installed(text string) (events []string) {
	root, err := parseJSON(text)
	i := root.member(text, a.section())
	if err != nil || i < 0 {
		return nil
	}
	for _, e := range a.Events {
		if j := root.items[i].member(text, e.Name); j >= 0 && a.commandIn(text, root.items[i].items[j], e.isCalled) != nil {
			events = append(events, e.Name)
		}
	}
	return events
}

const byteOrderMark = "\ufeff"

// addSetting adds the hook of an event to a settings file and preserves all other bytes.
// If the event already has a command that calls the hook, nothing is added.
//
// exists is false if the file does not exist. In a file without a value, such as a single
// newline, an object on one line is inserted before the existing text.
func (a *Agent) addSetting(text string, exists bool, e AgentEvent) (string, error) {
	section, entry := a.section(), a.entry(e)
	all := map[string]any{section: map[string][]json.RawMessage{e.Name: {entry}}}
	if a.Versioned {
		all["version"] = 1
	}
	if !exists {
		return pretty("", all, "", "  ", "\n") + "\n", nil
	}
	if blank := strings.TrimPrefix(text, byteOrderMark); strings.TrimSpace(blank) == "" {
		return text[:len(text)-len(blank)] + compact("", all) + blank, nil
	}
	root, err := parseJSON(text)
	if err != nil {
		return "", err
	}
	if root.kind != '{' {
		return "", syntaxError(errJSON, text, root.start)
	}
	i := root.member(text, section)
	if i < 0 {
		return addItem(text, root, section, map[string][]json.RawMessage{e.Name: {entry}}), nil
	}
	hooks := root.items[i]
	if hooks.kind != '{' {
		return "", syntaxError(fmt.Errorf("%s is not an object", section), text, hooks.start)
	}
	j := hooks.member(text, e.Name)
	if j < 0 {
		return addItem(text, hooks, e.Name, []json.RawMessage{entry}), nil
	}
	entries := hooks.items[j]
	if entries.kind != '[' {
		return "", syntaxError(fmt.Errorf("%s.%s is not an array", section, e.Name), text, entries.start)
	}
	if a.commandIn(text, entries, e.isCalled) != nil {
		return text, nil
	}
	return addItem(text, entries, "", entry), nil
}

// entry returns an event's entry in JSON: a command, in a group unless the agent has none.
func (a *Agent) entry(e AgentEvent) json.RawMessage {
	command := fmt.Sprintf(`{"type":"command",%s,%s}`, compact(cmp.Or(a.CommandKey, "command"), a.command(e)), compact(cmp.Or(a.TimeoutKey, "timeout"), e.Timeout))
	if !a.Flat {
		command = `{"hooks":[` + command + `]}`
	}
	return json.RawMessage(command)
}

func (a *Agent) section() string { return cmp.Or(a.Section, "hooks") }

// Uninstall removes all commands written by install, at any position, and preserves all
// other bytes. gone reports that the file was created by install and is now empty. before
// holds earlier contents of the file, newest first; they show which containers existed
// before the install.
func (a *Agent) Uninstall(text string, before ...string) (rest string, gone bool) {
	root, err := parseJSON(text)
	if err != nil || a.ownPlace(text, root) == nil {
		return text, false
	}
	for _, installed := range []*Agent{a, a.WithoutTurns()} {
		if rest, gone, found := installed.installedFrom(text, before); found {
			return rest, gone
		}
	}
	was := a.originalOf(before)
	blank := was != nil && was.text != "" || was == nil && !strings.Contains(text[root.start:root.end], "\n")
	for empty := false; ; {
		if root, err = parseJSON(text); err != nil {
			return text, false
		}
		way := a.ownPlace(text, root)
		if empty && len(root.items) == 0 {
			return withoutRoot(text, root, blank)
		}
		if way == nil {
			return text, false
		}
		text, empty = a.removeOwn(text, way, was)
	}
}

// Check returns an error with line and column if a settings file calls this program and
// is unparsable. Uninstall would find no command in such a file.
func (a *Agent) Check(text string) error {
	if !strings.Contains(text, calls) {
		return nil
	}
	_, err := parseJSON(text)
	return err
}

// agents are the supported agents, the most used ones first.
var agents = []Agent{
	{
		Name: "claude", Program: "claude", Resume: "claude --resume", Start: []string{"claude"}, JSON: []string{"hookSpecificOutput", "additionalContext"}, File: ".claude/settings.json", Home: ".claude/settings.json", Local: ".claude/settings.local.json",
		Budget: 10_000, Events: claudeEvents,
		Allow: &Permission{Path: []string{"permissions", "allow"}, Rule: "Bash(git checkpoint:*)"},
	},
	{ // Codex allows 3 seconds at an interrupt and at session end
		Name: "codex", Program: "codex", Resume: "codex resume", Start: []string{"codex"}, JSON: []string{"hookSpecificOutput"}, File: ".codex/hooks.json", Home: ".codex/hooks.json", TOML: ".codex/config.toml", Budget: 1500,
		Events: []AgentEvent{
			{"SessionStart", "session-start", 10},
			{"UserPromptSubmit", Prompt, 30},
			{"Stop", Turn, 30},
			{"Interrupt", "interrupt", 3},
			{"PreCompact", "pre-compact", 30},
			{"SessionEnd", "session-end", 3},
		},
		Allow: &Permission{File: ".codex/rules/git-checkpoint.rules", Text: "prefix_rule(pattern = [\"git\", \"checkpoint\"], decision = \"allow\")\n"},
	},
	{ // timeouts in milliseconds
		Name: "gemini", Program: "gemini", Resume: "gemini --resume", Start: []string{"gemini", "-i"}, File: ".gemini/settings.json", Home: ".gemini/settings.json", JSON: []string{"hookSpecificOutput"}, Budget: 10_000, CompactsOften: true,
		Events: []AgentEvent{{"SessionStart", "session-start", 10_000}, {"BeforeAgent", Prompt, 30_000}, {"AfterAgent", Turn, 30_000}, {"PreCompress", "pre-compact", 30_000}, {"SessionEnd", "session-end", 30_000}},
		Allow:  &Permission{Path: []string{"tools", "allowed"}, Rule: "run_shell_command(git checkpoint)"},
	},
	{
		Name: "copilot", WritesLate: true, Program: "copilot", Resume: "copilot --resume", Start: []string{"copilot", "-i"}, Reads: "claude", File: ".github/hooks/git-checkpoint.json", Home: ".copilot/hooks/git-checkpoint.json", JSON: []string{"additionalContext"}, Budget: 10_000,
		Flat: true, CommandKey: "bash", TimeoutKey: "timeoutSec", Versioned: true, Events: claudeEvents,
	},
	{
		Name: "cursor", Program: "cursor-agent", Resume: "cursor-agent --resume", Start: []string{"cursor-agent"}, File: ".cursor/hooks.json", Home: ".cursor/hooks.json", JSON: []string{"additional_context"}, Budget: 10_000,
		Flat: true, Versioned: true,
		Events: []AgentEvent{{"sessionStart", "session-start", 10}, {"beforeSubmitPrompt", Prompt, 30}, {"stop", Turn, 30}, {"preCompact", "pre-compact", 30}, {"sessionEnd", "session-end", 30}},
	},
	{
		Name: "qwen", Program: "qwen", Resume: "qwen --resume", Start: []string{"qwen", "-i"}, File: ".qwen/settings.json", Home: ".qwen/settings.json", Budget: 10_000, Events: claudeEvents,
	},
	{
		Name: "droid", Program: "droid", Resume: "droid --resume", Start: []string{"droid"}, File: ".factory/settings.json", Home: ".factory/settings.json", Budget: 10_000, Events: claudeEvents,
	},
	{ // no session end and no compaction
		Name: "antigravity", Program: "agy", File: ".agents/hooks.json", JSON: []string{"injectSteps"}, Budget: 10_000,
		Section: "git-checkpoint", Flat: true,
		Events: []AgentEvent{{"SessionStart", "session-start", 10}, {"Stop", Turn, 30}},
	},
	{
		Name: "opencode", Program: "opencode", Resume: "opencode --session", Start: []string{"opencode", "--prompt"}, File: ".opencode/plugins/git-checkpoint.js", Home: ".config/opencode/plugins/git-checkpoint.js",
		Plugin: opencodePlugin, Budget: 10_000,
	},
	{
		Name: "pi", Program: "pi", Resume: "pi --session", Start: []string{"pi"}, File: ".pi/extensions/git-checkpoint.ts", Home: ".pi/agent/extensions/git-checkpoint.ts",
		Plugin: piPlugin, Budget: 10_000,
	},
}

var claudeEvents = []AgentEvent{{"SessionStart", "session-start", 10}, {"UserPromptSubmit", Prompt, 30}, {"Stop", Turn, 30}, {"PreCompact", "pre-compact", 30}, {"SessionEnd", "session-end", 30}}

// commandIn returns the path to the first accepted command in the entries of an event:
// positions in the entries and, unless the agent has no groups, in a group. It returns nil
// if no command is accepted.
func (a *Agent) commandIn(text string, entries node, accept func(string) bool) []place {
	for k, entry := range entries.items {
		if a.Flat {
			if way := []place{{entries, k}}; accept(unquote(text, a.commandText(text, way))) {
				return way
			}
			continue
		}
		l := entry.member(text, "hooks")
		if l < 0 || entry.items[l].kind != '[' {
			continue
		}
		for n := range entry.items[l].items {
			if way := []place{{entries, k}, {entry.items[l], n}}; accept(unquote(text, a.commandText(text, way))) {
				return way
			}
		}
	}
	return nil
}

// commandText returns the text of the command at the end of a path, or the zero node.
func (a *Agent) commandText(text string, way []place) node {
	last := way[len(way)-1]
	command := last.in.items[last.i]
	if m := command.member(text, cmp.Or(a.CommandKey, "command")); m >= 0 {
		return command.items[m]
	}
	return node{}
}

// ownPlace returns the path to the first command written by install, under any event:
// positions in the root, in the section, in the event and in a group. It returns nil if no
// such command exists.
func (a *Agent) ownPlace(text string, root node) []place {
	for i, hooks := range root.items {
		if root.kind != '{' || hooks.kind != '{' || unquote(text, root.keys[i]) != a.section() {
			continue
		}
		for j, entries := range hooks.items {
			if entries.kind != '[' {
				continue
			}
			if way := a.commandIn(text, entries, isOwnCommand); way != nil {
				return append([]place{{root, i}, {hooks, j}}, way...)
			}
		}
	}
	return nil
}

// A place is the position of an item in a container.
type place struct {
	in node
	i  int
}

// installedFrom searches earlier contents for a text that install turns into text.
func (a *Agent) installedFrom(text string, before []string) (rest string, gone, found bool) {
	was := a.originalOf(before)
	hadText := was != nil && was.text != ""
	for _, exists := range []bool{false, true} {
		for _, b := range before {
			if a.hasOwn(b) || !exists && b != "" || hadText && b == "" {
				continue // an installed text, kept by a killed uninstall or a later install
			}
			if again, err := a.Install(b, exists); err == nil && again == text {
				return b, !exists, true
			}
		}
		if again, err := a.Install("", exists); err == nil && again == text && !hadText {
			return "", !exists, true
		}
	}
	return "", false, false
}

// hasOwn reports whether a settings file has a command of install.
func (a *Agent) hasOwn(text string) bool {
	root, err := parseJSON(text)
	return err == nil && a.ownPlace(text, root) != nil
}

// originalOf returns the newest text without commands of install, or nil.
func (a *Agent) originalOf(texts []string) *original {
	for _, text := range texts {
		if a.hasOwn(text) {
			continue
		}
		root, err := parseJSON(text)
		if err != nil {
			root = node{}
		}
		return &original{text, root}
	}
	return nil
}

// An original is the known content of a settings file before the install. nil means
// unknown. In this case, a container with a single item on one line between spaces counts
// as existing before the install; see addItem.
type original struct {
	text string
	root node
}

// withoutRoot removes the empty object created by install. blank means that the file
// existed and contained only white space. Comments around the object belong to the user,
// so that the file remains.
func withoutRoot(text string, root node, blank bool) (rest string, gone bool) {
	rest = text[:root.start] + text[root.end:]
	if strings.TrimSpace(strings.TrimPrefix(rest, byteOrderMark)) != "" {
		return text, false
	}
	if blank && rest != "" {
		return rest, false
	}
	return "", true
}

// removeOwn removes one command written by install, and containers that become empty
// unless the user created them. It reports whether the root object is empty and was
// created by install.
func (a *Agent) removeOwn(text string, way []place, was *original) (rest string, empty bool) {
	hooks, event, entry, command := way[0], way[1], way[2], way[len(way)-1]
	if len(way) > 3 && len(command.in.items) > 1 {
		return removeItem(text, command.in, command.i), false
	}
	name := unquote(text, event.in.keys[event.i])
	switch {
	case len(entry.in.items) > 1 || was.had(text, entry.in, a.section(), name):
		return removeItem(text, entry.in, entry.i), false
	case len(event.in.items) > 1 || was.had(text, event.in, a.section()):
		return removeItem(text, event.in, event.i), false
	}
	kept := was.had(text, hooks.in)
	rest = removeItem(text, hooks.in, hooks.i)
	if root, err := parseJSON(rest); err == nil && a.Versioned && !kept && len(root.items) == 1 && root.member(rest, "version") == 0 {
		return removeItem(rest, root, 0), true
	}
	return rest, !kept && len(hooks.in.items) == 1
}

// had reports whether a container of text existed before the install. path leads to it.
func (o *original) had(text string, in node, path ...string) bool {
	if o == nil {
		return spaced(text, in)
	}
	return o.has(path)
}

// spaced reports whether a container's only item is on one line between single spaces.
func spaced(text string, n node) bool {
	inner := text[n.start+1 : n.end-1]
	item := text[n.from(0):n.items[0].end]
	return strings.HasPrefix(inner, " "+item+" ") && !strings.Contains(item, "\n")
}
