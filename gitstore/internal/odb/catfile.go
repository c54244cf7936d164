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
	send                 = "flush\n" // makes git send its answers
)

// A catFile asks git about objects. Git starts at the first question, answers one question after
// the other, and lists packs again if it does not find an object. It never fetches: a partial
// clone lacks some objects, and most questions must not touch the network.
type catFile struct {
	git git.Git // never fetches

	mu      sync.Mutex // held until git has answered
	running *talk      // nil before the first question
	isOld   bool       // git is older than 2.36, and answers each question with the content
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

// ask asks git about an object. It returns plumbing.ErrObjectNotFound if git does not find the object, and
// the type and size of an object with ErrTooLarge. After another error the rest of the answer is
// unknown, so git is ended. If git had answered before, ask starts it again: a signal or a lack of
// memory may have ended it.
func (c *catFile) ask(q question, h plumbing.Hash) (a answer, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		t, err := c.talk()
		if err != nil {
			return a, err
		}
		command := fmt.Sprintf("%s %s\n%s", q, h, send)
		if c.isOld {
			command = h.String() + "\n"
		}
		if _, err = io.WriteString(t.run, command); err == nil {
			a, err = readAnswer(t.out, q, h)
		} else {
			err = fmt.Errorf("%w: %w", errNoAnswer, err)
		}
		if err == nil && c.isOld && q == forInfo {
			_, err = io.CopyN(io.Discard, t.out, a.size+1)
		}
		if err == nil || errors.Is(err, plumbing.ErrObjectNotFound) {
			t.answered = true
			return a, err
		}
		c.running = nil
		ended := t.run.Kill()
		switch {
		case errors.Is(err, ErrTooLarge):
			return a, fmt.Errorf("object %s: %w", h, err)
		case git.Code(ended) == git.UsageCode && !c.isOld:
			c.isOld = true
		case isPromised(ended):
			return a, plumbing.ErrObjectNotFound
		case t.answered:
		case git.Code(ended) > 0:
			return a, fmt.Errorf("object %s: %w", h, ended)
		default:
			return a, fmt.Errorf("object %s: %w", h, err)
		}
	}
}

// ReadChainAhead is ReadAhead for a commit and at most most others that follow by their first parents.
func (s *Database) ReadChainAhead(commit plumbing.Hash, most int) {
	ids, _ := s.cat.git.Output(context.Background(), "rev-list", "--first-parent", "--max-count="+strconv.Itoa(most), commit.String(), "--")
	var list []plumbing.Hash
	for id := range strings.FieldsSeq(string(ids)) {
		list = append(list, plumbing.NewHash(id))
	}
	s.ReadAhead(list)
}

// ReadAhead asks git for all objects at once and keeps them, so that reads of them wait for no answer. It
// leaves errors to these reads.
func (s *Database) ReadAhead(objects []plumbing.Hash) {
	s.cat.mu.Lock()
	defer s.cat.mu.Unlock()
	list, questions := []plumbing.Hash(nil), new(bytes.Buffer)
	for _, h := range objects {
		if _, isKept := s.kept.Load(h); !isKept && !h.IsZero() {
			list = append(list, h)
			fmt.Fprintf(questions, "%s %s\n", forContents, h)
		}
	}
	if s.cat.isOld || len(list) == 0 {
		return
	}
	t, err := s.cat.talk()
	if err != nil {
		return
	}
	questions.WriteString(send)
	go t.run.Write(questions.Bytes()) // git waits until its answers are read
	room := int64(maxKept)
	for _, h := range list {
		a, err := readAnswer(t.out, forContents, h)
		switch room -= a.size; {
		case errors.Is(err, plumbing.ErrObjectNotFound):
		case err != nil || room < 0: // more would push out what was just read
			s.cat.running = nil
			_ = t.run.Kill()
			return
		case s.isHeld.Load() && plumbing.ComputeHash(a.kind, a.content) != h: // the read reports it
		default:
			s.keep(h, a)
		}
	}
}

// isPromised reports whether git has ended because it may not fetch an object, as before 2.44.
func isPromised(ended error) bool {
	failed, ok := errors.AsType[*git.CommandError](ended)
	return ok && strings.Contains(failed.Stderr, "from promisor remote")
}

// talk returns the running git, which it starts if necessary.
func (c *catFile) talk() (*talk, error) {
	if c.running != nil {
		return c.running, nil
	}
	options := []string{"cat-file", "--batch-command", "--buffer"}
	if c.isOld {
		options = []string{"cat-file", "--batch"}
	}
	g := c.git
	g.Apart = true // a signal for this process must not end git
	run, err := g.Talk(context.Background(), options...)
	if err != nil {
		return nil, err
	}
	c.running = &talk{run: run, out: bufio.NewReaderSize(run, 64<<10)}
	return c.running, nil
}

// Close ends git until the next question. It makes later reads ignore objects that another process has
// deleted: git keeps the packs open that it has read.
func (s *Database) Close() {
	s.cat.mu.Lock()
	defer s.cat.mu.Unlock()
	if s.cat.running != nil {
		_, _ = s.cat.running.run.Finish(nil) // git ends with its input
		s.cat.running = nil
	}
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
		return a, fmt.Errorf("%w: %w", errNoAnswer, err)
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
	if size > maxObject || size > maxCommit && (kind == plumbing.CommitObject || kind == plumbing.TagObject) {
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

// unexpected returns io.ErrUnexpectedEOF for io.EOF.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
