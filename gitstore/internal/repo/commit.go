package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Head is the state of HEAD: its branch ("" if detached) and its commit (zero if the
// branch is unborn).
type Head struct {
	Branch string
	Commit plumbing.Hash
}

// ReadHead reads HEAD of this worktree. In the files backend it reads the usual forms of HEAD from the
// file.
func (s *Repo) ReadHead(ctx context.Context) (Head, error) {
	file := filepath.Join(s.Info.Dir, "HEAD")
	info, err := os.Lstat(file)
	if s.Info.RefFormat != "files" || err != nil || !info.Mode().IsRegular() { // a symlink with core.preferSymlinkRefs
		return s.AskHead(ctx)
	}
	data, err := os.ReadFile(file)
	ref, isSymbolic := strings.CutPrefix(string(data), "ref:")
	ref = strings.Trim(ref, refs.Space)
	branch, isBranch := strings.CutPrefix(ref, "refs/heads/")
	var h Head
	switch {
	case err == nil && !isSymbolic:
		h.Commit, err = refs.Parse("HEAD", data)
	case err == nil && isBranch && refs.MayBe(ref):
		h.Branch = branch
		h.Commit, err = s.ReadRef(ctx, ref) // fails if the branch is a symbolic ref itself
	default:
		return s.AskHead(ctx)
	}
	if err == nil {
		return h, nil
	}
	h, askErr := s.AskHead(ctx)
	if askErr != nil {
		return Head{}, fmt.Errorf("%w: %w", askErr, err)
	}
	return h, nil
}

// AskHead runs git to read HEAD of this worktree.
func (s *Repo) AskHead(ctx context.Context) (Head, error) {
	var h Head
	name, err := s.Git.Line(ctx, "symbolic-ref", "--quiet", "HEAD")
	if err != nil && git.Code(err) != detached {
		return Head{}, fmt.Errorf("read HEAD: %w", err)
	}
	h.Branch = strings.TrimPrefix(name, "refs/heads/")
	hex, err := s.Git.Line(ctx, "rev-parse", "--quiet", "--verify", "HEAD")
	if err == nil {
		h.Commit = plumbing.NewHash(hex)
		return h, nil
	}
	// The branch may be unborn. But git rev-parse also fails for an unreadable branch.
	if name != "" {
		h.Commit, err = s.ReadRef(ctx, name)
	}
	if err != nil {
		return Head{}, fmt.Errorf("read HEAD: %w", err)
	}
	return h, nil
}

// detached is git symbolic-ref's exit status if HEAD is no symbolic ref. Any other
// failure means that git cannot read HEAD.
const detached = 1

// TreeOf returns HEAD's tree, or zero if its branch is unborn.
func (s *Repo) TreeOf(h Head) (plumbing.Hash, error) {
	if h.Commit.IsZero() {
		return plumbing.ZeroHash, nil
	}
	tree, err := s.TreeOfCommit(h.Commit)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("read HEAD: %w", err)
	}
	return tree, nil
}

// TreeOfCommit returns the tree of a commit, whose message may have any length.
func (s *Repo) TreeOfCommit(hash plumbing.Hash) (plumbing.Hash, error) {
	c, err := s.ReadCommit(hash)
	switch {
	case !c.Tree.IsZero(): // other headers do not matter
		return c.Tree, nil
	case !errors.Is(err, odb.ErrTooLarge):
		return plumbing.ZeroHash, err
	}
	hex, err := s.Git.Line(context.Background(), "rev-parse", "--verify", hash.String()+"^{tree}")
	return plumbing.NewHash(hex), err
}

// Branch returns the branch of HEAD, or "" if HEAD is detached.
func (s *Repo) Branch(ctx context.Context) (string, error) {
	h, err := s.ReadHead(ctx)
	return h.Branch, err
}

// A RawCommit is a parsed commit object. Headers after parents stay raw bytes, so a
// rewrite changes only parents.
type RawCommit struct {
	Hash        plumbing.Hash
	Tree        plumbing.Hash
	Parents     []plumbing.Hash
	Rest        []byte // author, committer and further headers, each with its newline
	Message     string
	HeadersOnly bool // the object ends after Rest, without a blank line and a message
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
			return c, Corrupt(hash.String(), "a parent that is not an object name")
		}
		c.Parents, rest = append(c.Parents, plumbing.NewHash(hex)), after
	}
	end := bytes.Index(rest, []byte("\n\n"))
	switch {
	case end >= 0:
		c.Rest, c.Message = rest[:end+1], string(rest[end+2:])
	case bytes.HasSuffix(rest, []byte("\n")):
		c.Rest, c.HeadersOnly = rest, true
	default:
		return c, Corrupt(hash.String(), "a commit whose headers are cut off")
	}
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
	if !c.HeadersOnly {
		b.WriteByte('\n')
	}
	b.WriteString(c.Message)
	return b.Bytes()
}

// lastSecond is the end of the year 9999. JSON cannot represent later times.
const lastSecond = 253402300799

// Authored returns the author line's time, or the zero time if this line is missing or
// invalid.
func (c RawCommit) Authored() time.Time {
	return signedAt(c.AuthorLine())
}

// AuthorLine returns the value of the author line, or "" if the line is missing.
func (c RawCommit) AuthorLine() string {
	line, _, _ := cutHeader(c.Rest, "author ")
	return line
}

// Author returns the name in the author line, or "" if the line is missing.
func (c RawCommit) Author() string {
	name, _, _ := strings.Cut(c.AuthorLine(), " <")
	return name
}

// Committed is Authored for the committer line.
func (c RawCommit) Committed() time.Time {
	_, rest, _ := cutHeader(c.Rest, "author ")
	line, _, _ := cutHeader(rest, "committer ")
	return signedAt(line)
}

// CommittedAt returns the committer's time of a commit, or the zero time if it cannot be
// read.
func (s *Repo) CommittedAt(hash plumbing.Hash) time.Time {
	if hash.IsZero() || !s.Objects.Has(hash) { // a partial clone need not fetch it
		return time.Time{}
	}
	c, _ := s.ReadCommit(hash)
	return c.Committed()
}

func signedAt(line string) time.Time {
	_, when, _ := strings.Cut(line, "> ")
	seconds, _, _ := strings.Cut(when, " ")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n < 0 || n > lastSecond {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}

// NewCommit returns a commit with configured author and committer. An author date that a commit
// cannot have is replaced by the committer's.
func (s *Repo) NewCommit(tree plumbing.Hash, authored, at time.Time, message string, parents ...plumbing.Hash) RawCommit {
	if n := authored.Unix(); n < 0 || n > lastSecond {
		authored = at
	}
	rest := fmt.Sprintf("author %s\ncommitter %s\n", s.people.Author().Signature(authored), s.people.Committer().Signature(at))
	return RawCommit{Tree: tree, Parents: parents, Rest: []byte(rest), Message: message}
}

// Author returns the name of the author of new commits.
func (s *Repo) Author() string { return s.people.Author().Name }
