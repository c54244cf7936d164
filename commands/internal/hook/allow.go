package hook

import (
	"slices"

	"github.com/tailscale/hujson"
)

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
	if root, err := parseJSON(text); err == nil && p.position(root) >= 0 {
		return text, nil
	}
	return addElement(text, p.Path, p.Rule)
}

// position returns the position of the rule in the array, or -1.
func (p *Permission) position(root *hujson.Value) int {
	return slices.IndexFunc(elements(find(root, p.Path...)), func(v hujson.Value) bool { return textAt(&v) == p.Rule })
}

// Disallow removes the rule, and the containers that are then empty. A rule or a container
// that was there before the install remains. before holds earlier contents of the file,
// newest first.
func (p *Permission) Disallow(text string, a *Agent, before ...string) string {
	root, err := parseJSON(text)
	original, _ := a.originalOf(before)
	was, _ := parseJSON(original) // nil if there is no original
	i := p.position(root)
	if err != nil || i < 0 || p.position(was) >= 0 {
		return text
	}
	removeItem(find(root, p.Path...), i)
	prune(root, was, p.Path)
	return root.String()
}
