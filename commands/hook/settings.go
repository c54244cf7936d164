package hook

import (
	"fmt"
	"strings"
)

// ours marks commands of this program in a settings file.
const ours = "git-checkpoint hook "

// A Group is an entry of an agent's event: {"hooks": [{"type": "command", ...}]}.
type Group struct {
	Hooks []Command `json:"hooks"`
}

// A Command is what an agent runs. The unit of Timeout is the agent's.
type Command struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"`
}

// AddSetting puts a group under hooks.<event> of a settings file, and changes
// no other byte. The text is "" for a file that is not there. Where the event
// has a command of ours nothing is added.
func AddSetting(text, event string, g Group) (string, error) {
	if text == "" {
		all := map[string]map[string][]Group{"hooks": {event: {g}}}
		return pretty("", all, "", "  ", "\n") + "\n", nil
	}
	root, err := parseJSON(text)
	if err != nil {
		return "", err
	}
	if root.kind != '{' {
		return "", errJSON
	}
	i := root.member(text, "hooks")
	if i < 0 {
		return addItem(text, root, "hooks", map[string][]Group{event: {g}}), nil
	}
	hooks := root.items[i]
	if hooks.kind != '{' {
		return "", fmt.Errorf("hooks is no object")
	}
	j := hooks.member(text, event)
	if j < 0 {
		return addItem(text, hooks, event, []Group{g}), nil
	}
	groups := hooks.items[j]
	switch {
	case groups.kind != '[':
		return "", fmt.Errorf("hooks.%s is no list", event)
	case strings.Contains(text[groups.start:groups.end], ours):
		return text, nil
	}
	return addItem(text, groups, "", g), nil
}

// HasSetting reports whether a settings file has a command of ours under an
// event.
func HasSetting(text, event string) bool {
	_, path := find(text, event)
	return path != nil
}

// RemoveSetting takes the group out again. Where nothing was changed since
// AddSetting the text is byte for byte what it was, "" for no file.
func RemoveSetting(text, event string, g Group) string {
	_, path := find(text, event)
	if path == nil {
		return text
	}
	var candidates []string
	for depth := len(path) - 1; depth >= 0; depth-- {
		at := path[depth]
		candidates = append(candidates, removeItem(text, at.in, at.i)...)
		if len(at.in.items) > 1 {
			break
		}
	}
	for _, c := range append(candidates, "") {
		if again, err := AddSetting(c, event, g); err == nil && again == text {
			return c
		}
	}
	return candidates[len(candidates)-1]
}

// A place is an item of a container.
type place struct {
	in node
	i  int
}

// find is the way to the first command of ours under an event: in the root, in
// hooks, in the event, and in the group where that has other commands too.
func find(text, event string) (node, []place) {
	root, err := parseJSON(text)
	if err != nil || root.kind != '{' {
		return root, nil
	}
	i := root.member(text, "hooks")
	if i < 0 {
		return root, nil
	}
	hooks := root.items[i]
	j := hooks.member(text, event)
	if j < 0 || hooks.items[j].kind != '[' {
		return root, nil
	}
	groups := hooks.items[j]
	for k, g := range groups.items {
		if !strings.Contains(text[g.start:g.end], ours) {
			continue
		}
		path := []place{{root, i}, {hooks, j}, {groups, k}}
		if l := g.member(text, "hooks"); l >= 0 && len(g.items[l].items) > 1 {
			for m, command := range g.items[l].items {
				if strings.Contains(text[command.start:command.end], ours) {
					return root, append(path, place{g.items[l], m})
				}
			}
		}
		return root, path
	}
	return root, nil
}
