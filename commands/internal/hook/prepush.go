package hook

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// An Update is one line of a pre-push hook's standard input:
//
//	<local ref> SP <local object> SP <remote ref> SP <remote object> LF
//
// A deletion has "(delete)" and zeros on the local side; a creation has zeros on the
// remote side. Git sends no lines if everything is up to date.
type Update struct {
	LocalRef, Local   string
	RemoteRef, Remote string
}

// Deletes reports whether the update deletes the ref.
func (u Update) Deletes() bool { return strings.Trim(u.Local, "0") == "" }

// Branch returns the pushed branch, or "" for a deletion or other refs.
func (u Update) Branch() string {
	for _, ref := range []string{u.LocalRef, u.RemoteRef} {
		if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok && !u.Deletes() {
			return name
		}
	}
	return ""
}

var errUpdate = errors.New("standard input is not a list of refs")

// ParseUpdates parses a pre-push hook's standard input.
func ParseUpdates(r io.Reader) ([]Update, error) {
	var updates []Update
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		words := strings.Split(lines.Text(), " ")
		if n := len(words); n > 4 { // the local ref can contain spaces: HEAD@{1 day ago}
			words = append([]string{strings.Join(words[:n-3], " ")}, words[n-3:]...)
		}
		if len(words) != 4 || !isObject(words[1]) || !isObject(words[3]) {
			return nil, errUpdate
		}
		updates = append(updates, Update{words[0], words[1], words[2], words[3]})
	}
	return updates, lines.Err()
}

func isObject(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
