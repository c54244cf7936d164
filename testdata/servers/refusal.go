//go:build unix

package main

import (
	"fmt"
	"strings"
)

// refused is the exit code of git-checkpoint if a remote refuses a push.
const refused = 11

// A refusal is a sync that the server must refuse.
type refusal struct {
	reason string
	remote
	before []string // lines of git that succeed first
	words  string   // what the server says
}

// try returns the message of git-checkpoint. The error reports that the sync succeeded or
// that the message lacks the server's words.
func (h *host) try(name string, r refusal) (string, error) {
	dir, err := h.repository(name, r.remote)
	if err != nil {
		return "", err
	}
	if err := h.all(dir, append([]string{"checkpoint save 42"}, r.before...)...); err != nil {
		return "", err
	}
	_, err = h.git(dir, "checkpoint", "sync", "42", "--yes")
	if err == nil {
		return "", fmt.Errorf("the sync succeeded")
	}
	failed, ok := err.(*runError)
	if !ok || code(err) != refused {
		return "", err
	}
	_, message, _ := strings.Cut(failed.stderr, "git-checkpoint: ") // after warnings
	message, _, _ = strings.Cut(message, "\n")
	if !strings.Contains(message, r.words) {
		return message, fmt.Errorf("%q is missing in: %s", r.words, failed.stderr)
	}
	return message, nil
}
