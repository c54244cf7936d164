package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
)

// fetch asks git for an object that a partial clone does not have yet. Git
// fetches it from the remote that promised it.
func (s *Store) fetch(h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	if s.cfg.Git == nil {
		return 0, nil, plumbing.ErrObjectNotFound
	}
	out, err := s.cfg.Git(context.Background(), []byte(h.String()+"\n"), "cat-file", "--batch")
	if err != nil {
		return 0, nil, fmt.Errorf("fetch object %s: %w", h, err)
	}
	t, content, err := parseBatch(out, h)
	if err != nil && !errors.Is(err, plumbing.ErrObjectNotFound) {
		err = fmt.Errorf("fetch object %s: %w", h, err)
	}
	return t, content, err
}

// parseBatch reads "<hash> <type> <size> LF <content> LF", or "<hash> missing".
func parseBatch(out []byte, h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	line, rest, _ := bytes.Cut(out, []byte{'\n'})
	fields := bytes.Fields(line)
	if len(fields) == 2 && string(fields[1]) == "missing" {
		return 0, nil, plumbing.ErrObjectNotFound
	}
	if len(fields) != 3 || string(fields[0]) != h.String() {
		return 0, nil, formatError("git cat-file answered %.80q", line)
	}
	t, err := plumbing.ParseObjectType(string(fields[1]))
	if err != nil {
		return 0, nil, err
	}
	size, err := strconv.Atoi(string(fields[2]))
	if err != nil || size < 0 || size != len(rest)-1 {
		return 0, nil, formatError("git cat-file announced %q bytes and sent %d", fields[2], len(rest)-1)
	}
	return t, rest[:size:size], nil
}
