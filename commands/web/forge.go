package web

import (
	"strings"

	"git-checkpoint/freshness/issue/forge"
	"git-checkpoint/gitstore/checkpoint"
)

// A Forge makes links to a forge. The zero value makes none. Package forge parses the remote's URL, and
// its addresses of pages begin with https.
type Forge struct{ Issues, Code forge.Site }

// Name returns the host of the forge, for the text of links.
func (f Forge) Name() string { return line(f.Issues.Host()) }

// issueLabel returns the name of an issue as people write it: "#42" or "PROJ-19".
func issueLabel(i checkpoint.Issue) string {
	name := line(cut(string(i), maxLine))
	if name != "" && strings.Trim(name, "0123456789") == "" {
		return "#" + name
	}
	return name
}
