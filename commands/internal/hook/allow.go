package hook

// A Permission lets an agent run git checkpoint without asking: an element of an array in
// its settings, or a file of its own.
type Permission struct {
	Path []string // members from the root to the array
	Rule string   // element of the array

	File, Text string // file relative to the project or the user's home directory
}

// PermissionMark marks the file of a permission.
var PermissionMark = Mark{"\n# written by git checkpoint hooks install --allow; checksum ", "\n"}

// Allow adds the rule to the text of the settings file and changes nothing else.
func (p *Permission) Allow(text string) (string, error) {
	in, err := parseJSON(text)
	if err != nil {
		return "", err
	}
	for i, key := range p.Path {
		if in.kind != '{' {
			return "", syntaxError(errNoObject, text, in.start)
		}
		m := in.member(text, key)
		if m < 0 {
			return addItem(text, in, key, p.nested(p.Path[i+1:])), nil
		}
		in = in.items[m]
	}
	if in.kind != '[' {
		return "", syntaxError(errNoArray, text, in.start)
	}
	if p.position(text, in) >= 0 {
		return text, nil
	}
	return addItem(text, in, "", p.Rule), nil
}

// nested returns the value of a missing member: the array in objects.
func (p *Permission) nested(path []string) any {
	if len(path) == 0 {
		return []string{p.Rule}
	}
	return map[string]any{path[0]: p.nested(path[1:])}
}

// position returns the position of the rule in the array, or -1.
func (p *Permission) position(text string, array node) int {
	for i, n := range array.items {
		if unquote(text, n) == p.Rule {
			return i
		}
	}
	return -1
}

// Disallow removes the rule, and the containers that are then empty. A rule or a container
// that was there before the install remains. before holds earlier contents of the file,
// newest first.
func (p *Permission) Disallow(text string, a *Agent, before ...string) string {
	way, was := p.find(text), a.originalOf(before)
	if way == nil || was != nil && p.find(was.text) != nil {
		return text
	}
	for i := len(way) - 1; i > 0; i-- {
		if len(way[i].in.items) > 1 || was.has(p.Path[:i]) {
			return removeItem(text, way[i].in, way[i].i)
		}
	}
	return removeItem(text, way[0].in, way[0].i)
}

// has reports whether the original has a member at the end of a path, which is an object for an
// empty path.
func (o *original) has(path []string) bool {
	if o == nil {
		return false
	}
	in := o.root
	for _, key := range path {
		m := in.member(o.text, key)
		if m < 0 {
			return false
		}
		in = in.items[m]
	}
	return o.root.kind == '{'
}

// find returns the path from the root to the rule, or nil.
func (p *Permission) find(text string) []place {
	in, err := parseJSON(text)
	if err != nil {
		return nil
	}
	var way []place
	for _, key := range p.Path {
		m := in.member(text, key)
		if in.kind != '{' || m < 0 {
			return nil
		}
		way = append(way, place{in, m})
		in = in.items[m]
	}
	if i := p.position(text, in); in.kind == '[' && i >= 0 {
		return append(way, place{in, i})
	}
	return nil
}
