package repo

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A RawCommit is a parsed commit object. Headers after parents stay raw bytes, so a
// rewrite changes only parents.
type RawCommit struct {
	Hash    plumbing.Hash
	Tree    plumbing.Hash
	Parents []plumbing.Hash
	Rest    []byte // author, committer and further headers, each with its newline
	Message string
}

func (s *Repo) ReadCommit(hash plumbing.Hash) (RawCommit, error) {
	data, err := trees.ReadAs(s.Objects, plumbing.CommitObject, hash)
	if err != nil {
		return RawCommit{}, err
	}
	return ParseCommit(hash, data)
}

// ParseCommit parses a commit object.
func ParseCommit(hash plumbing.Hash, data []byte) (RawCommit, error) {
	c := RawCommit{Hash: hash}
	hex, rest, ok := cutHeader(data, "tree ")
	if !ok || !plumbing.IsHash(hex) {
		return c, Corrupt(hash.String(), "a commit without a tree")
	}
	c.Tree = plumbing.NewHash(hex)
	for {
		hex, after, ok := cutHeader(rest, "parent ")
		if !ok {
			break
		}
		if !plumbing.IsHash(hex) {
			return c, Corrupt(hash.String(), "a parent that is no object name")
		}
		c.Parents, rest = append(c.Parents, plumbing.NewHash(hex)), after
	}
	end := bytes.Index(rest, []byte("\n\n"))
	if end < 0 {
		return c, Corrupt(hash.String(), "a commit without a message")
	}
	c.Rest, c.Message = rest[:end+1], string(rest[end+2:])
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

// Encode returns the commit object.
func (c RawCommit) Encode() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", c.Tree)
	for _, p := range c.Parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	b.Write(c.Rest)
	b.WriteByte('\n')
	b.WriteString(c.Message)
	return b.Bytes()
}

// lastSecond is the end of the year 9999. JSON cannot represent later times.
const lastSecond = 253402300799

// Authored returns the author line's time, or the zero time if this line is missing or
// invalid.
func (c RawCommit) Authored() time.Time {
	line, _, ok := cutHeader(c.Rest, "author ")
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

// NewCommit returns a commit with configured author, committer and time.
func (s *Repo) NewCommit(tree plumbing.Hash, at time.Time, message string, parents ...plumbing.Hash) RawCommit {
	rest := fmt.Sprintf("author %s\ncommitter %s\n", s.people.Author().Signature(at), s.people.Committer().Signature(at))
	return RawCommit{Tree: tree, Parents: parents, Rest: []byte(rest), Message: message}
}
