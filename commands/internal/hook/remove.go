package hook

import "strings"

// A place is the position of an item in a container.
type place struct {
	in node
	i  int
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

// An original is the known content of a settings file before the install. nil means
// unknown. In this case, a container with a single item on one line between spaces counts
// as existing before the install; see addItem.
type original struct {
	text string
	root node
}

// originalOf returns the newest text without commands of install, or nil.
func originalOf(texts []string) *original {
	for _, text := range texts {
		root, err := parseJSON(text)
		if err != nil {
			root = node{}
		}
		if ownPlace(text, root) == nil {
			return &original{text, root}
		}
	}
	return nil
}

func (o *original) hadRoot(text string, root node) bool {
	if o == nil {
		return spaced(text, root)
	}
	return o.root.kind == '{'
}

func (o *original) hadHooks(text string, hooks node) bool {
	if o == nil {
		return spaced(text, hooks)
	}
	return o.root.member(o.text, "hooks") >= 0
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

// installedFrom searches earlier contents for a text that install turns into text.
func (a *Agent) installedFrom(text string, before []string) (rest string, gone, found bool) {
	for _, exists := range []bool{false, true} {
		for _, b := range before {
			if b == text || !exists && b != "" {
				continue // copy of the installed text, kept by a killed uninstall
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

// Check returns an error with line and column if a settings file calls this program and
// is unparsable. Uninstall would find no command in such a file.
func (a *Agent) Check(text string) error {
	if !callsHook(text) {
		return nil
	}
	_, err := parseJSON(text)
	return err
}
