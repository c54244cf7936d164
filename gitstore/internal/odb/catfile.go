package odb

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"git-checkpoint/gitstore/internal/git"

	"github.com/go-git/go-git/v5/plumbing"
)

// A question is a command of git cat-file --batch-command.
type question string

const (
	forContents question = "contents"
	forInfo     question = "info"
)

// A catFile asks git about objects. Git starts at the first question, answers one question after
// the other, and lists packs again if it does not find an object. It never fetches: a partial
// clone lacks some objects, and most questions must not touch the network.
type catFile struct {
	git git.Git

	mu      sync.Mutex // held until git has answered
	running map[question]*talk
	isOld   bool // git is older than 2.36: one process for contents, another for info
	closed  bool
}

// A talk is a running git cat-file.
type talk struct {
	run      *git.Run
	out      *bufio.Reader
	answered bool // git has answered a question
}

// An answer is git's answer: the type and size of an object, and its content if it was asked for.
type answer struct {
	kind    plumbing.ObjectType
	size    int64
	content []byte
}

// ask asks git about an object. It returns plumbing.ErrObjectNotFound if git does not find the
// object.
func (c *catFile) ask(q question, h plumbing.Hash) (a answer, err error) {
	err = c.exchange(q, h, func(out *bufio.Reader) (err error) {
		a, err = readAnswer(out, q, h)
		return err
	})
	if err != nil {
		a = answer{}
	}
	return a, err
}

// exchange asks git about an object and reads the answer with read. After an error other than
// plumbing.ErrObjectNotFound the rest of the answer is unknown, so git is ended. If git had
// answered before, exchange starts it again: a signal or a lack of memory may have ended it.
func (c *catFile) exchange(q question, h plumbing.Hash, read func(out *bufio.Reader) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		t, err := c.talk(q)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(t.run, "%s%s\n", c.command(q), h)
		if err == nil {
			err = read(t.out)
		}
		if err == nil || errors.Is(err, plumbing.ErrObjectNotFound) {
			t.answered = true
			return err
		}
		ended := c.end(t)
		switch {
		case errors.Is(err, ErrTooLarge):
			return fmt.Errorf("object %s: %w", h, err)
		case git.Code(ended) == unknownOption && !c.isOld:
			c.isOld = true
		case t.answered:
		case isPromised(ended):
			return plumbing.ErrObjectNotFound
		case git.Code(ended) > 0:
			return fmt.Errorf("object %s: %w", h, ended)
		default:
			return fmt.Errorf("object %s: %w", h, err)
		}
	}
}

// unknownOption is git's exit status for an option that it does not know.
const unknownOption = 129

// isPromised reports whether git has ended because it may not fetch an object, as before 2.44.
func isPromised(ended error) bool {
	failed, ok := errors.AsType[*git.CommandError](ended)
	return ok && strings.Contains(failed.Stderr, "from promisor remote")
}

func (c *catFile) command(q question) string {
	if c.isOld {
		return ""
	}
	return string(q) + " "
}

// talk returns the process for a question.
func (c *catFile) talk(q question) (*talk, error) {
	if c.closed {
		return nil, ErrClosed
	}
	option, key := "--batch-command", question("")
	switch {
	case c.isOld && q == forInfo:
		option, key = "--batch-check", q
	case c.isOld:
		option, key = "--batch", q
	}
	if t := c.running[key]; t != nil {
		return t, nil
	}
	return c.start(key, option)
}

// start starts a git cat-file that does not fetch.
func (c *catFile) start(key question, option string) (*talk, error) {
	g := c.git.With("GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
	g.Apart = true // a signal for this process must not end git
	t := &talk{}
	var err error
	if t.run, err = g.Talk(context.Background(), "cat-file", option); err != nil {
		return nil, err
	}
	t.out = bufio.NewReaderSize(t.run, 64<<10)
	if c.running == nil {
		c.running = map[question]*talk{}
	}
	c.running[key] = t
	return t, nil
}

// end ends a process at once and returns its error.
func (c *catFile) end(t *talk) error {
	for key, other := range c.running {
		if other == t {
			delete(c.running, key)
		}
	}
	return t.run.Kill()
}

// refresh ends git, which keeps packs open that another process may have deleted. The next question
// starts a new process.
func (c *catFile) refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, t := range c.running {
		_, _ = t.run.Finish(nil) // git ends with its input
		delete(c.running, key)
	}
}

// close ends git for good.
func (c *catFile) close() {
	c.refresh()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

// readAnswer reads "<hash> <type> <size> LF", after forContents also "<content> LF", or
// "<hash> missing LF".
func readAnswer(r *bufio.Reader, q question, h plumbing.Hash) (a answer, err error) {
	if a, err = readHeader(r, h); err != nil || q == forInfo {
		return a, err
	}
	if a.content, err = readContent(r, a.kind, a.size); err != nil {
		return a, err
	}
	if end, err := r.ReadByte(); err != nil || end != '\n' {
		return a, fmt.Errorf("git cat-file sent more or less than %d bytes", a.size)
	}
	return a, nil
}

// readHeader reads the first line of an answer.
func readHeader(r *bufio.Reader, h plumbing.Hash) (a answer, err error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return a, fmt.Errorf("read the answer of git cat-file: %w", err)
	}
	words := bytes.Fields(line)
	if len(words) == 2 && string(words[0]) == h.String() && string(words[1]) == "missing" {
		return a, plumbing.ErrObjectNotFound
	}
	if len(words) != 3 || string(words[0]) != h.String() {
		return a, fmt.Errorf("git cat-file answered %.80q", line)
	}
	if a.kind, err = plumbing.ParseObjectType(string(words[1])); err != nil {
		return a, fmt.Errorf("git cat-file answered %.80q", line)
	}
	if a.size, err = strconv.ParseInt(string(words[2]), 10, 64); err != nil || a.size < 0 {
		return a, fmt.Errorf("git cat-file answered %.80q", line)
	}
	return a, nil
}

// firstPiece limits the memory that is allocated for an object before any byte is read, because
// the size may be false.
const firstPiece = 1 << 20

// readContent reads size bytes. It fails with ErrTooLarge above the limit of a type.
func readContent(r io.Reader, kind plumbing.ObjectType, size int64) ([]byte, error) {
	if size > mostOf(kind) {
		return nil, ErrTooLarge
	}
	if size <= firstPiece {
		content := make([]byte, size)
		_, err := io.ReadFull(r, content)
		return content, unexpected(err)
	}
	var content bytes.Buffer
	content.Grow(firstPiece)
	_, err := io.CopyN(&content, r, size)
	return content.Bytes(), unexpected(err)
}

// mostOf returns the maximum size of an object of a type.
func mostOf(t plumbing.ObjectType) int64 {
	if t == plumbing.CommitObject || t == plumbing.TagObject {
		return maxCommit
	}
	return maxObject
}

// unexpected returns io.ErrUnexpectedEOF for io.EOF.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
