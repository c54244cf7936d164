package hook

import (
	"fmt"
	"slices"
	"strings"
)

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

	CompactsOften bool // fires its event of pre-compact before each request to the model
}

// An AgentEvent maps an agent's event to a hook of this program.
type AgentEvent struct {
	Name    string // agent's event name
	Hook    string // hook name: session-start, turn, interrupt, pre-compact or session-end
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
	copied.Events = slices.DeleteFunc(slices.Clone(a.Events), func(e AgentEvent) bool { return e.Hook == Turn })
	return &copied
}

// TurnEvent returns the name of the event at the end of a turn.
func (a *Agent) TurnEvent() string {
	i := slices.IndexFunc(a.Events, func(e AgentEvent) bool { return e.Hook == Turn })
	return a.Events[i].Name
}

// Turn is the name of the hook at the end of a turn.
const Turn = "turn"

// Install adds the agent's hooks to the text of its settings file and changes nothing
// else. exists is false if the file does not exist.
func (a *Agent) Install(text string, exists bool) (string, error) {
	for _, e := range a.Events {
		var err error
		if text, err = addSetting(text, exists, e, a.group(e)); err != nil {
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
		if hasSetting(text, e) {
			events = append(events, e.Name)
		}
	}
	return events
}

// A Group is an entry of an agent's event: {"hooks": [{"type": "command", ...}]}.
type Group struct {
	Hooks []Command `json:"hooks"`
}

// A Command is an agent's hook command. Timeout is in the agent's unit.
type Command struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"`
}

const byteOrderMark = "\ufeff"

// addSetting adds a group to hooks.<event> in a settings file and preserves all other
// bytes. If the event already has a command that calls its hook, the group is not
// added. An older command of install is then replaced by the group's command.
//
// exists is false if the file does not exist. In a file without a value, such as a single
// newline, an object on one line is inserted before the existing text.
func addSetting(text string, exists bool, e AgentEvent, g Group) (string, error) {
	event := e.Name
	all := map[string]map[string][]Group{"hooks": {event: {g}}}
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
	i := root.member(text, "hooks")
	if i < 0 {
		return addItem(text, root, "hooks", map[string][]Group{event: {g}}), nil
	}
	hooks := root.items[i]
	if hooks.kind != '{' {
		return "", syntaxError(fmt.Errorf("hooks is not an object"), text, hooks.start)
	}
	j := hooks.member(text, event)
	if j < 0 {
		return addItem(text, hooks, event, []Group{g}), nil
	}
	groups := hooks.items[j]
	if groups.kind != '[' {
		return "", syntaxError(fmt.Errorf("hooks.%s is not an array", event), text, groups.start)
	}
	if command := commandIn(text, groups, e.isCalled); command != nil {
		return renew(text, *command, g.Hooks[0].Command), nil
	}
	return addItem(text, groups, "", g), nil
}

// hasSetting reports whether an event in a settings file has a command that calls its hook.
func hasSetting(text string, e AgentEvent) bool {
	root, err := parseJSON(text)
	if err != nil {
		return false
	}
	i := root.member(text, "hooks")
	if i < 0 {
		return false
	}
	j := root.items[i].member(text, e.Name)
	return j >= 0 && commandIn(text, root.items[i].items[j], e.isCalled) != nil
}

// Uninstall removes all commands written by install, at any position, and preserves all
// other bytes. gone reports that the file was created by install and is now empty. before
// holds earlier contents of the file, newest first; they show which containers existed
// before the install.
func (a *Agent) Uninstall(text string, before ...string) (rest string, gone bool) {
	root, err := parseJSON(text)
	if err != nil || ownPlace(text, root) == nil {
		return text, false
	}
	if rest, gone, found := a.installedFrom(text, before); found {
		return rest, gone
	}
	was := originalOf(before)
	blank := was != nil && was.text != "" || was == nil && !strings.Contains(text[root.start:root.end], "\n")
	for empty := false; ; {
		if root, err = parseJSON(text); err != nil {
			return text, false
		}
		way := ownPlace(text, root)
		if empty && len(root.items) == 0 {
			return withoutRoot(text, root, blank)
		}
		if way == nil {
			return text, false
		}
		text, empty = removeOwn(text, way, was)
	}
}

// Check returns an error with line and column if a settings file calls this program and
// is unparsable. Uninstall would find no command in such a file.
func (a *Agent) Check(text string) error {
	if !callsHook(text) {
		return nil
	}
	_, err := parseJSON(text)
	return err
}

var agents = []Agent{
	{
		Name: "claude", File: ".claude/settings.json", Budget: 10_000,
		Events: []AgentEvent{{"SessionStart", "session-start", 10}, {"Stop", Turn, 30}, {"PreCompact", "pre-compact", 30}, {"SessionEnd", "session-end", 30}},
	},
	{ // Codex allows 3 seconds at an interrupt and at session end
		Name: "codex", File: ".codex/hooks.json", TOML: ".codex/config.toml", Budget: 1500,
		Events: []AgentEvent{
			{"SessionStart", "session-start", 10},
			{"Stop", Turn, 30},
			{"Interrupt", "interrupt", 3},
			{"PreCompact", "pre-compact", 30},
			{"SessionEnd", "session-end", 3},
		},
	},
	{
		Name: "gemini", File: ".gemini/settings.json", JSON: true, Budget: 10_000, CompactsOften: true,
		Events: []AgentEvent{{"SessionStart", "session-start", 10_000}, {"AfterAgent", Turn, 30_000}, {"PreCompress", "pre-compact", 30_000}, {"SessionEnd", "session-end", 30_000}},
	},
}

func (a *Agent) group(e AgentEvent) Group {
	return Group{Hooks: []Command{{Type: "command", Command: a.command(e), Timeout: e.Timeout}}}
}

// commandIn returns the first accepted command in the groups of an event, or nil.
func commandIn(text string, groups node, accept func(string) bool) *node {
	for _, group := range groups.items {
		l := group.member(text, "hooks")
		if l < 0 {
			continue
		}
		for _, c := range group.items[l].items {
			if m := c.member(text, "command"); m >= 0 && accept(unquote(text, c.items[m])) {
				return &c.items[m]
			}
		}
	}
	return nil
}

// renew replaces an older command of install. Commands edited by users remain.
func renew(text string, command node, want string) string {
	if have := unquote(text, command); have == want || !isOwnCommand(have) {
		return text
	}
	return text[:command.start] + compact("", want) + text[command.end:]
}

// ownPlace returns the path to the first command written by install, under any event:
// positions in the root, in hooks, in the event and in the group. It returns nil if no
// such command exists.
func ownPlace(text string, root node) []place {
	for i, hooks := range root.items {
		if root.kind != '{' || hooks.kind != '{' || unquote(text, root.keys[i]) != "hooks" {
			continue
		}
		for j, groups := range hooks.items {
			if groups.kind != '[' {
				continue
			}
			for k, group := range groups.items {
				l := group.member(text, "hooks")
				if l < 0 || group.items[l].kind != '[' {
					continue
				}
				for n, c := range group.items[l].items {
					if m := c.member(text, "command"); m >= 0 && isOwnCommand(unquote(text, c.items[m])) {
						return []place{{root, i}, {hooks, j}, {groups, k}, {group.items[l], n}}
					}
				}
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
	for _, exists := range []bool{false, true} {
		for _, b := range before {
			if hasOwn(b) || !exists && b != "" {
				continue // an installed text, kept by a killed uninstall or a later install
			}
			if again, err := a.Install(b, exists); err == nil && again == text {
				return b, !exists, true
			}
		}
		if again, err := a.Install("", exists); err == nil && again == text {
			return "", !exists, true
		}
	}
	return "", false, false
}

// hasOwn reports whether a settings file has a command of install.
func hasOwn(text string) bool {
	root, err := parseJSON(text)
	return err == nil && ownPlace(text, root) != nil
}

// originalOf returns the newest text without commands of install, or nil.
func originalOf(texts []string) *original {
	for _, text := range texts {
		if hasOwn(text) {
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
func removeOwn(text string, way []place, was *original) (rest string, empty bool) {
	command, group, event, hooks := way[3], way[2], way[1], way[0]
	if len(command.in.items) > 1 {
		return removeItem(text, command.in, command.i), false
	}
	name := unquote(text, event.in.keys[event.i])
	switch {
	case len(group.in.items) > 1 || was.hadEvent(text, name, group.in):
		return removeItem(text, group.in, group.i), false
	case len(event.in.items) > 1 || was.hadHooks(text, event.in):
		return removeItem(text, event.in, event.i), false
	}
	kept := len(hooks.in.items) > 1 || was.hadRoot(text, hooks.in)
	return removeItem(text, hooks.in, hooks.i), !kept
}

func (o *original) hadEvent(text, event string, groups node) bool {
	if o == nil {
		return spaced(text, groups)
	}
	i := o.root.member(o.text, "hooks")
	return i >= 0 && o.root.items[i].member(o.text, event) >= 0
}

// spaced reports whether a container's only item is on one line between single spaces.
func spaced(text string, n node) bool {
	inner := text[n.start+1 : n.end-1]
	item := text[n.from(0):n.items[0].end]
	return strings.HasPrefix(inner, " "+item+" ") && !strings.Contains(item, "\n")
}

func (o *original) hadHooks(text string, hooks node) bool {
	if o == nil {
		return spaced(text, hooks)
	}
	return o.root.member(o.text, "hooks") >= 0
}

func (o *original) hadRoot(text string, root node) bool {
	if o == nil {
		return spaced(text, root)
	}
	return o.root.kind == '{'
}
