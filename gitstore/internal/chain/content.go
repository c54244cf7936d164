package chain

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/join"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"
)

// ContentOf returns the content of a checkpoint: the trailer Checkpoint-Content of its commit, whose
// tree has these entries. It is the SHA-256 in lower-case hex, in repositories of both object
// formats, of these fields, in this order:
//
//   - for each entry of the tree, in the order of the tree object, without the entries "ledger" and
//     "signature": three fields, the mode ("100644", "40000", without leading zeros), the name and
//     the object id
//   - the object id of the second parent, empty without a second parent
//   - the value of the header "author", without "author " and the line end, empty without an author
//   - the message, all bytes after the line that ends the headers, without the lines of its last
//     paragraph that start with "Checkpoint-Content: "
//
// Object ids are in lower-case hex. Each field is its number of bytes as 8 bytes, the most
// significant first, followed by its bytes. The first parent and the committer are not part of the
// content, so it stays when other checkpoints are dropped, archived or joined.
func ContentOf(entries []trees.Entry, c repo.RawCommit) string {
	digest := sha256.New()
	field := func(text string) {
		digest.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		digest.Write([]byte(text))
	}
	for _, e := range entries {
		if e.Name != "ledger" && e.Name != "signature" {
			field(strconv.FormatUint(uint64(e.Mode), 8))
			field(e.Name)
			field(e.Hash.String())
		}
	}
	second := ""
	if len(c.Parents) > 1 {
		second = c.Parents[1].String()
	}
	field(second)
	field(c.AuthorLine())
	field(withoutContent(c.Message))
	return hex.EncodeToString(digest.Sum(nil))
}

// withoutContent returns a message without the lines of the trailer Checkpoint-Content.
func withoutContent(message string) string {
	at := strings.LastIndex(strings.TrimRight(message, "\n"), "\n\n")
	if at < 0 || !strings.Contains(message[at:], trailerContent) {
		return message
	}
	var b strings.Builder
	b.WriteString(message[:at+2])
	for line := range strings.Lines(message[at+2:]) {
		if !strings.HasPrefix(line, trailerContent+": ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// Seal returns a commit with the trailer Checkpoint-Content, above Checkpoint-Version. Its message
// is from EncodeMessage, and its tree has these entries, besides a ledger.
func Seal(c repo.RawCommit, entries []trees.Entry) repo.RawCommit {
	entries, _ = trees.Parse(trees.Encode(slices.Clone(entries))) // in git's order
	at := strings.LastIndex(c.Message, trailerVersion+": ")
	c.Message = c.Message[:at] + trailerContent + ": " + ContentOf(entries, c) + "\n" + c.Message[at:]
	return c
}

// Content computes the content of a commit.
func (s *Chains) Content(c repo.RawCommit) (string, error) {
	entries, err := trees.Read(s.repo.Objects, c.Tree)
	if err != nil {
		return "", err
	}
	return ContentOf(entries, c), nil
}

// Identify replaces the stated contents of commits by the computed ones, where two contents under
// one id may meet: if the chains have several commits with an id, or if one content of it was
// deleted. Else nothing depends on the stated content. A content stays as stated if a clone lacks
// the tree.
func (s *Chains) Identify(chains ...*Chain) error {
	for id, commits := range commitsByID(chains...) {
		differs := func(l *ChainCommit) bool { return l.Raw.Hash != commits[0].Raw.Hash }
		deletes := func(c *Chain) bool { return c.Ledger.DeletesContent(id) }
		if !slices.ContainsFunc(commits, differs) && !slices.ContainsFunc(chains, deletes) {
			continue
		}
		for _, l := range commits {
			if err := s.compute(l); err != nil {
				return err
			}
		}
	}
	return nil
}

func commitsByID(chains ...*Chain) map[checkpoint.ID][]*ChainCommit {
	byID := make(map[checkpoint.ID][]*ChainCommit, len(chains[0].Commits))
	for _, c := range chains {
		for i := range c.Commits {
			if l := &c.Commits[i]; l.ID != "" {
				byID[l.ID] = append(byID[l.ID], l)
			}
		}
	}
	return byID
}

// compute sets the content of a commit to the computed one.
func (s *Chains) compute(l *ChainCommit) error {
	content, err := s.Content(l.Raw)
	switch {
	case errors.As(err, new(*repo.PromisedError)):
		return nil
	case err != nil:
		return err
	}
	l.Content = content
	return nil
}

// Member returns the key of a checkpoint in a join.State.
func (c *Checkpoint) Member() join.Member { return join.Member{ID: c.ID, Content: c.Content} }
