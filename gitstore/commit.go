package gitstore

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A rawCommit is a parsed commit object. Headers after parents stay raw bytes, so a
// rewrite changes only parents.
type rawCommit struct {
	hash    plumbing.Hash
	tree    plumbing.Hash
	parents []plumbing.Hash
	rest    []byte // author, committer and further headers, each with its newline
	message string
}

func (s *Store) readCommit(hash plumbing.Hash) (rawCommit, error) {
	data, err := trees.ReadAs(s.objects, plumbing.CommitObject, hash)
	if err != nil {
		return rawCommit{}, err
	}
	return parseCommit(hash, data)
}

// parseCommit parses a commit object.
func parseCommit(hash plumbing.Hash, data []byte) (rawCommit, error) {
	c := rawCommit{hash: hash}
	hex, rest, ok := cutHeader(data, "tree ")
	if !ok || !plumbing.IsHash(hex) {
		return c, corrupt(hash.String(), "a commit without a tree")
	}
	c.tree = plumbing.NewHash(hex)
	for {
		hex, after, ok := cutHeader(rest, "parent ")
		if !ok {
			break
		}
		if !plumbing.IsHash(hex) {
			return c, corrupt(hash.String(), "a parent that is no object name")
		}
		c.parents, rest = append(c.parents, plumbing.NewHash(hex)), after
	}
	end := bytes.Index(rest, []byte("\n\n"))
	if end < 0 {
		return c, corrupt(hash.String(), "a commit without a message")
	}
	c.rest, c.message = rest[:end+1], string(rest[end+2:])
	return c, nil
}

func cutHeader(data []byte, key string) (value string, rest []byte, ok bool) {
	after, ok := bytes.CutPrefix(data, []byte(key))
	if !ok {
		return "", data, false
	}
	line, rest, ok := bytes.Cut(after, []byte("\n"))
	if !ok {
		return "", data, false
	}
	return string(line), rest, true
}

// encode returns the commit object.
func (c rawCommit) encode() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", c.tree)
	for _, p := range c.parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	b.Write(c.rest)
	b.WriteByte('\n')
	b.WriteString(c.message)
	return b.Bytes()
}

// lastSecond is the end of the year 9999. JSON cannot represent later times.
const lastSecond = 253402300799

// authored returns the author line's time, or the zero time if this line is missing or
// invalid.
func (c rawCommit) authored() time.Time {
	line, _, ok := cutHeader(c.rest, "author ")
	if !ok {
		return time.Time{}
	}
	_, when, _ := strings.Cut(line, "> ")
	seconds, _, _ := strings.Cut(when, " ")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n < 0 || n > lastSecond {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}

// newCommit returns a commit with configured author, committer and time.
func (s *Store) newCommit(tree plumbing.Hash, at time.Time, message string, parents ...plumbing.Hash) rawCommit {
	rest := fmt.Sprintf("author %s\ncommitter %s\n", s.people.Author().Signature(at), s.people.Committer().Signature(at))
	return rawCommit{tree: tree, parents: parents, rest: []byte(rest), message: message}
}
