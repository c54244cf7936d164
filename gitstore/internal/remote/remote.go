// Package remote lists, fetches and pushes refs of another repository. It runs git with
// the user's settings, credentials, proxies and ssh. The package handles refs and commits
// only; the store interprets checkpoints and compares chains.
//
// Connections take most of the time, so the package uses few of them. Refs are fetched
// together; if the remote cannot send one ref, each half is fetched separately. Refs are
// pushed together, each with a lease on its last known value, and the result of each ref
// is reported separately. A single ref is fetched by name without listing other refs.
//
// Fetched commits stay below Incoming until the store updates its own refs; existing refs
// are never moved. In a shallow repository, new chains are fetched at local depth.
package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/internal/git"

	"github.com/go-git/go-git/v5/plumbing"
)

// Here is the local repository of a connection.
type Here struct {
	Git     git.Git
	Config  []git.ConfigEntry
	Refs    Refs
	History History
}

// Refs reads and deletes local refs.
type Refs interface {
	// Values returns refs below the given prefixes.
	Values(ctx context.Context, prefixes ...string) (map[string]plumbing.Hash, error)
	// Note records that a git process will create refs with new names below Incoming. If
	// that process is killed, its ref locks can be removed. The returned function ends
	// the record and takes git's error.
	Note(ctx context.Context, names []string) func(error)
	// Delete deletes refs that still have their last known value.
	Delete(ctx context.Context, seen map[string]plumbing.Hash) error
}

// History reads local commits.
type History interface {
	// Cut reports whether history is truncated, as in a shallow clone.
	Cut() bool
	// Came is called after a fetch, which may have truncated history.
	Came(ctx context.Context) error
	// Parents returns a commit's parents. It returns an error if the commit is missing.
	Parents(plumbing.Hash) ([]plumbing.Hash, error)
}

// An Error reports a refusal or a missing answer of a remote.
type Error struct {
	Op     string // fetch or push
	Remote string
	Reason string // one line without credentials
	Hint   string // diagnostic command
	Err    error

	Refused bool // remote answered and rejected the request
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s: %s", e.Op, e.Remote, e.Reason) }
func (e *Error) Unwrap() error { return e.Err }

// Named returns err with a name before its reason, for one part of a request.
func Named(name string, err error) error {
	var of *Error
	if !errors.As(err, &of) {
		return err
	}
	named := *of
	named.Reason = name + ": " + of.Reason
	return &named
}

// Configured reports whether git's configuration contains this remote.
func Configured(config []git.ConfigEntry, name string) bool {
	prefix := "remote." + name + "."
	return slices.ContainsFunc(config, func(e git.ConfigEntry) bool { return strings.HasPrefix(e.Key, prefix) })
}

// Shown returns a remote for display, without password.
func Shown(remote string) string { return withoutPasswords(remote) }

// withoutPasswords removes user and password from URLs in a text.
func withoutPasswords(text string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "://")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("://")
		end := strings.IndexAny(after, "/ \t\n'\"?#")
		if end < 0 {
			end = len(after)
		}
		if at := strings.LastIndexByte(after[:end], '@'); at >= 0 {
			after = after[at+1:]
		}
		text = after
	}
}
