package odb

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

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
	dir string // objects directory

	mu      sync.Mutex // held until git has answered
	running map[question]*talk
	isOld   bool // git is older than 2.36: one process for contents, another for info
	closed  bool
}

// A talk is a running git cat-file.
type talk struct {
	run      *git.Run
	out      *bufio.Reader
	answered bool   // git has answered a question
	packs    string // see packStamp, before git started
}

// An answer is git's answer: the type and size of an object, and its content if it was asked for.
type answer struct {
	kind    plumbing.ObjectType
	size    int64
	content []byte
}

// ask asks git about an object. It returns plumbing.ErrObjectNotFound if git does not find the
// object. After any other error the rest of the answer is unknown, so git is ended. If git had
// answered before, ask starts it again: a signal or a lack of memory may have ended it.
func (c *catFile) ask(q question, h plumbing.Hash) (a answer, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		t, err := c.talk(q)
		if err != nil {
			return a, err
		}
		_, err = fmt.Fprintf(t.run, "%s%s\n", c.command(q), h)
		if err == nil {
			a, err = readAnswer(t.out, q, h)
		}
		if err == nil || errors.Is(err, plumbing.ErrObjectNotFound) {
			t.answered = true
			return a, err
		}
		ended := c.end(t)
		switch {
		case errors.Is(err, ErrTooLarge):
			return answer{}, fmt.Errorf("object %s: %w", h, err)
		case git.Code(ended) == unknownOption && !c.isOld:
			c.isOld = true
		case t.answered:
		case isPromised(ended):
			return answer{}, plumbing.ErrObjectNotFound
		case git.Code(ended) > 0:
			return answer{}, fmt.Errorf("object %s: %w", h, ended)
		default:
			return answer{}, fmt.Errorf("object %s: %w", h, err)
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

// stream returns the process of walks for a question.
func (c *catFile) stream(q question) (*talk, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	option := map[question]string{forContents: "--batch", forInfo: "--batch-check"}[q]
	switch t := c.running["walk "+q]; {
	case c.closed:
		return nil, ErrClosed
	case t != nil:
		return t, nil
	}
	return c.start("walk "+q, option)
}

// endStream ends a process of walks at once and returns its error.
func (c *catFile) endStream(t *talk) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end(t)
}

// start starts a git cat-file that does not fetch.
func (c *catFile) start(key question, option string) (*talk, error) {
	g := c.git.With("GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
	g.Apart = true // a signal for this process must not end git
	t := &talk{packs: packStamp(c.dir)}
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

// refresh ends git if packs may have changed. The next question starts it again, and it then has no
// pack open that another process has deleted.
func (c *catFile) refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := packStamp(c.dir)
	c.stop(func(t *talk) bool { return now == "" || t.packs != now })
}

// close ends git for good.
func (c *catFile) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.stop(func(*talk) bool { return true })
}

func (c *catFile) stop(which func(*talk) bool) {
	for key, t := range c.running {
		if which(t) {
			_, _ = t.run.Finish(nil) // git ends with its input
			delete(c.running, key)
		}
	}
}

// racy is the minimum age of a directory's timestamp to detect changes reliably. Two
// changes within a clock tick have the same timestamp, and FAT has a resolution of two
// seconds.
const racy = 3 * time.Second

// packStamp returns a text that changes if packs are added or removed, or "" if a change may not
// be visible.
func packStamp(dir string) string {
	c, err := changeOf(filepath.Join(dir, "pack"))
	if err != nil || time.Since(c.at) < racy {
		return ""
	}
	return fmt.Sprint(c)
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
