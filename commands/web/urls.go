package web

import (
	"fmt"
	"net/url"
	"strings"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// Links make the addresses in a page: paths on the server, places in a file.
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

// below is a page of a checkpoint, which a file does not have.
func (l links) below(c *gitstore.Checkpoint, page string) string {
	if l.file {
		return ""
	}
	return l.checkpoint(c) + "/" + page
}

// plain is a text in letters, digits and dashes, another one for every text.
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

// nameOf names a checkpoint in an address: by its id, or by its commit where
// the id is no plain word. Ids of other systems have any form, and an address
// that ends in /.. leads elsewhere.
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
