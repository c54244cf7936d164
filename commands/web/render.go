package web

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/url"
	"strings"
	"sync"
	"time"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/freshness/issue/forge"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

//go:embed assets/*.html
var pages embed.FS

//go:embed assets/style.css
var style string

//go:embed assets/script.js
var script string

// templates is parsed for the first page.
var templates = sync.OnceValues(func() (*template.Template, error) {
	return template.New("").Funcs(template.FuncMap{
		"style":  func() template.CSS { return template.CSS(style) },
		"script": func() template.JS { return template.JS(script) },
		"filePolicy": func() string {
			policy, _, _ := strings.Cut(contentPolicy(), "; connect-src")
			return policy + "; form-action 'none'; base-uri 'none'"
		},
		"only": func() []string { return []string{"pinned", "resumable", "invalid"} },
		"text": func(s string) string { return view.CutBytes(s, maxText) },
		"few":  func(list []string) []string { return view.Few(list, maxLines) },
		"auto": view.AutoResume,
		"size": view.Bytes,

		"whyLeftOut": view.WhyLeftOut,
		"changed": func(n *gitstore.Totals) string {
			if n.Files == 0 {
				return "no change"
			}
			return view.Plural(n.Files, "file")
		},
	}).ParseFS(pages, "assets/*.html")
})

// render returns a page. Text of records and files is hostile: the template escapes it for HTML, and
// characters that are invisible or change the direction of text become visible escapes.
func render(name string, model any) (string, error) {
	t, err := templates()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.Grow(128 << 10)
	err = t.ExecuteTemplate(&b, name, model)
	return view.CleanBlock(b.String()), err
}

// contentPolicy is the content security policy. It permits the page's own style and
// script by hash, and forms and polls to the same origin.
var contentPolicy = sync.OnceValue(func() string {
	return "default-src 'none'; style-src 'sha256-" + digest(style) + "'; script-src 'sha256-" + digest(script) +
		"'; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
})

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// A Forge makes links to a forge. The zero value makes none. Package forge parses the remote's URL, and
// its addresses of pages begin with https.
type Forge struct{ Issues, Code forge.Site }

// Name returns the host of the forge, for the text of links.
func (f Forge) Name() string { return f.Issues.Host() }

// issueLabel returns the name of an issue as people write it: "#42" or "PROJ-19".
func issueLabel(i checkpoint.Issue) string {
	name := firstLine(string(i))
	if name != "" && strings.Trim(name, "0123456789") == "" {
		return "#" + name
	}
	return name
}

// Links generates URLs: paths on the server, anchors in an exported file, or names of the files of
// an exported site.
type links struct {
	file  bool
	site  bool            // with file: each issue has a file of its own
	shown map[string]bool // with file: checkpoints that have a link
}

func (l links) home() string {
	switch {
	case l.site:
		return siteIndex
	case l.file:
		return "#top"
	}
	return "/"
}

func (l links) issue(i checkpoint.Issue) string {
	if l.site {
		name := plain(string(i))
		if len(name) > 150 { // names of files are limited
			sum := sha256.Sum256([]byte(i))
			name = "_" + hex.EncodeToString(sum[:])
		}
		return "issue-" + name + ".html"
	}
	if l.file {
		return "#i-" + plain(string(i))
	}
	return "/i/" + url.PathEscape(i.RefName())
}

// view returns the URL of another page of an issue, or "" in an exported file.
func (l links) view(i checkpoint.Issue, name string) string {
	if l.file {
		return ""
	}
	return l.issue(i) + "/" + name
}

// checkpoint returns the URL of a checkpoint, or "" if an exported file does not have it.
func (l links) checkpoint(c *gitstore.Checkpoint) string {
	switch {
	case l.file && !l.shown[c.Commit.String()]:
		return ""
	case l.site:
		return l.issue(c.Issue) + "#c-" + c.Commit.String()
	case l.file:
		return "#c-" + c.Commit.String()
	}
	return l.issue(c.Issue) + "/c/" + url.PathEscape(nameOf(c))
}

// below returns the URL of a checkpoint's subpage, or "" in an exported file.
func (l links) below(c *gitstore.Checkpoint, page string) string {
	if l.file {
		return ""
	}
	return l.checkpoint(c) + "/" + page
}

// plain encodes s uniquely in letters, digits, dashes and underscores.
func plain(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	return b.String()
}

// nameOf returns a checkpoint's name in URLs: its id, or its commit if the id contains
// unusual characters. Ids of other systems can have any form, and a URL that ends in /..
// would name another page.
func nameOf(c *gitstore.Checkpoint) string {
	id := string(c.ID)
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	}
	if id == "" || strings.Trim(id, ".") == "" || strings.ContainsFunc(id, odd) {
		return c.Commit.String()
	}
	return id
}

// Limits of shown texts, in bytes. The stored text has the rest.
const (
	maxLine   = 400
	maxText   = 8000
	maxRecord = 256 << 10
)

// firstLine returns the first line of a text.
func firstLine(s string) string { return view.CutBytes(view.FirstLine(s), maxLine) }

// A Stamp is a time in formats for users and machines.
type Stamp struct {
	Machine  string // RFC 3339, "" if the time is unknown
	Exact    string // date and time for users, in the local time zone
	Age, Ago string // "3h" and "3 hours ago"
}

func stamp(at, now time.Time) Stamp {
	if at.IsZero() {
		return Stamp{Exact: "at an unknown time"}
	}
	local := at.In(time.Local)
	return Stamp{local.Format(time.RFC3339), local.Format("2 Jan 2006, 15:04:05 MST"), view.Briefly(at, now), view.Ago(at, now)}
}
