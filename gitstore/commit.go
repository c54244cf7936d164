package gitstore

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
	"git-checkpoint/gitstore/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Checkpoint is what a chain's commit says of one checkpoint, without its
// record.
type Checkpoint struct {
	ID        checkpoint.ID
	Issue     checkpoint.Issue
	Trigger   checkpoint.Trigger
	Phase     string
	Branch    string
	Resumable bool
	Clock     checkpoint.Clock
	LeftOut   bool // a limit of time or size kept files out of it
	Version   string
	Created   time.Time // the author's date, whole seconds
	Note      string

	Commit   plumbing.Hash
	Tree     plumbing.Hash
	Pinned   bool
	Archived bool
	Filed    Filed  // of an archived one
	Problem  string // why the commit is not a valid checkpoint, "" when it is
}

// Filed says why a checkpoint went to the archive, and when. The zero value
// says that nobody noted it.
type Filed struct {
	Why retention.Reason
	At  time.Time
}

// Valid reports whether the commit keeps the stored form. Records are judged
// by Verify.
func (c *Checkpoint) Valid() bool { return c.Problem == "" }

// Later reports whether a later version of the program made the checkpoint, in
// a form that this one cannot read.
func (c *Checkpoint) Later() bool {
	major, _, _ := strings.Cut(c.Version, ".")
	ours, _, _ := strings.Cut(checkpoint.Version, ".")
	return major != "" && major != ours
}

// rawCommit is a commit object taken apart. Everything between tree and
// message is kept as it is, so that rewriting changes parents alone.
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

// parseCommit takes a commit object apart.
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

// encode puts the commit together again.
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

// lastSecond is the end of the year 9999: later times have no form in JSON.
const lastSecond = 253402300799

// authored is the time in the author line, the zero time when there is none
// that a calendar has.
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

// newCommit is a commit by these people at this time.
func (s *Store) newCommit(tree plumbing.Hash, at time.Time, message string, parents ...plumbing.Hash) rawCommit {
	rest := fmt.Sprintf("author %s\ncommitter %s\n", s.people.Author().Signature(at), s.people.Committer().Signature(at))
	return rawCommit{tree: tree, parents: parents, rest: []byte(rest), message: message}
}

// describe reads what a commit says of its checkpoint. A commit that keeps
// the form only in part is described as far as it goes, with a Problem.
func (c rawCommit) describe(issue checkpoint.Issue) Checkpoint {
	cp := Checkpoint{Issue: issue, Commit: c.hash, Tree: c.tree, Created: c.authored(), Resumable: true}
	note, trailers := splitMessage(c.message)
	cp.Note = note
	for line := range strings.Lines(trailers) {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if !ok {
			cp.Problem = cmp.Or(cp.Problem, "a line among the trailers that is none")
			continue
		}
		if err := cp.setTrailer(key, value); err != nil {
			cp.Problem = cmp.Or(cp.Problem, fmt.Sprintf("%s: %v", key, err))
		}
	}
	switch {
	case cp.Problem != "":
	case cp.ID == "":
		cp.Problem = "no " + trailerID
	case len(c.parents) == 0 || len(c.parents) > 2:
		cp.Problem = fmt.Sprintf("%d parents", len(c.parents))
	}
	return cp
}

func (c *Checkpoint) setTrailer(key, value string) (err error) {
	switch key {
	case trailerID:
		c.ID, err = checkpoint.ParseID(value)
	case trailerIssue:
		var i checkpoint.Issue
		if i, err = checkpoint.IssueFromRef(value); err == nil && i != c.Issue {
			err = fmt.Errorf("it belongs to issue %s", i)
		}
	case trailerTrigger:
		c.Trigger, err = checkpoint.ParseTrigger(value)
	case trailerPhase:
		c.Phase, err = unquoteTrailer(value)
	case trailerBranch:
		c.Branch, err = unquoteTrailer(value)
	case trailerResumable:
		c.Resumable, err = strconv.ParseBool(value)
	case trailerClock:
		var ok bool
		if c.Clock, ok = checkpoint.ParseClock(value); !ok {
			err = fmt.Errorf("%q is no clock", value)
		}
	case trailerLeftOut:
		c.LeftOut = true
	case trailerVersion:
		c.Version = value
	}
	return err
}

// isLedger reports whether c only carries a ledger.
func (c rawCommit) isLedger() bool {
	return strings.HasPrefix(c.message, ledgerSubject) && len(c.parents) == 1
}
