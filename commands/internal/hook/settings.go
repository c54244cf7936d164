package hook

import (
	"fmt"
	"strings"
)

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

// AddSetting adds a group to hooks.<event> in a settings file and preserves all other
// bytes. If the event already has a command that calls this program, the group is not
// added. An older command of install is then replaced by the group's command.
//
// exists is false if the file does not exist. In a file without a value, such as a single
// newline, an object on one line is inserted before the existing text.
func AddSetting(text string, exists bool, event string, g Group) (string, error) {
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
	if command := commandIn(text, groups, callsHook); command != nil {
		return renew(text, *command, g.Hooks[0].Command), nil
	}
	return addItem(text, groups, "", g), nil
}

const byteOrderMark = "\ufeff"

// renew replaces an older command of install. Commands edited by users remain.
func renew(text string, command node, want string) string {
	if have := unquote(text, command); have == want || !isOwnCommand(have) {
		return text
	}
	return text[:command.start] + compact("", want) + text[command.end:]
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

// HasSetting reports whether an event in a settings file has a command that calls this
// program.
func HasSetting(text, event string) bool {
	root, err := parseJSON(text)
	if err != nil {
		return false
	}
	i := root.member(text, "hooks")
	if i < 0 {
		return false
	}
	j := root.items[i].member(text, event)
	return j >= 0 && commandIn(text, root.items[i].items[j], callsHook) != nil
}
