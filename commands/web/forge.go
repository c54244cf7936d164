package web

import (
	"strings"

	"git-checkpoint/freshness/issue/forge"
	"git-checkpoint/gitstore/checkpoint"
)

// A Forge makes links to a forge. The zero value makes none. Its addresses begin with
// https, because package forge parses the remote's URL and returns no others.
type Forge struct{ Issues, Code forge.Site }

func (f Forge) commit(id string) string   { return secure(f.Code.CommitPage(id)) }
func (f Forge) branch(name string) string { return secure(f.Code.BranchPage(name)) }

// Name returns the host of the forge, for the text of links.
func (f Forge) Name() string { return line(f.Issues.Host()) }

// secure returns an address if its scheme is https. It is a second check: html/template
// escapes an address and blocks javascript:, but would allow http.
func secure(address string) string {
	if !strings.HasPrefix(address, "https://") {
		return ""
	}
	return address
}

// issueLabel returns the name of an issue as people write it: "#42" or "PROJ-19".
func issueLabel(i checkpoint.Issue) string {
	name := line(cut(string(i), maxLine))
	if name != "" && strings.Trim(name, "0123456789") == "" {
		return "#" + name
	}
	return name
}
