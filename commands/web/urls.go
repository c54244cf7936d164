package web

import (
	"fmt"
	"net/url"
	"strings"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// Links generates URLs: paths on the server, or anchors in an exported file.
type links struct{ file bool }

func (l links) home() string {
	if l.file {
		return "#top"
	}
	return "/"
}

func (l links) issue(i checkpoint.Issue) string {
	if l.file {
		return "#i-" + plain(string(i))
	}
	return "/i/" + url.PathEscape(i.RefName())
}

func (l links) archive(i checkpoint.Issue) string {
	if l.file {
		return ""
	}
	return l.issue(i) + "/archive"
}

func (l links) checkpoint(c *gitstore.Checkpoint) string {
	if l.file {
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
