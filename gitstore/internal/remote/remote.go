// Package remote talks to another repository: it looks at the refs there,
// fetches and pushes, with git and by git's own settings, credentials, proxies
// and ssh. It knows refs and commits; what a checkpoint is, and which side has
// the newer chain, is the store's business.
//
// Connections take most of the time, so there are few of them. Refs come
// together; where the remote cannot give one of them, halves are tried. Refs go
// together, each from the value that was seen there (a lease), and what became
// of each is told apart. One ref whose name is known needs no look at the
// others.
//
// What comes has its place below Incoming until the store moves its own refs,
// and nothing that is here already is moved. In a repository whose history is
// cut, what is new comes no deeper than what is here.
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

// Here is the repository that talks to others, as far as that matters to them.
type Here struct {
	Git     git.Git
	Config  []git.ConfigEntry
	Refs    Refs
	History History
}

// Refs are the refs here.
type Refs interface {
	// Values are the refs below prefixes.
	Values(ctx context.Context, prefixes ...string) (map[string]plumbing.Hash, error)
	// Note notes that a git is going to make refs of new names below Incoming, so that
	// the locks can be removed which it leaves if it is killed. The function that it
	// returns ends that, with the error of the git.
	Note(ctx context.Context, names []string) func(error)
	// Delete removes refs that are still where they were seen.
	Delete(ctx context.Context, seen map[string]plumbing.Hash) error
}

// History is what is known of the commits here.
type History interface {
	// Cut reports whether history is cut, as in a shallow clone.
	Cut() bool
	// Came is told that something was fetched, which may have cut history.
	Came(ctx context.Context) error
	// Parents are those of a commit. It fails where the commit is not here.
	Parents(plumbing.Hash) ([]plumbing.Hash, error)
}

// An Error says that a remote refused something or did not answer.
type Error struct {
	Op     string // fetch or push
	Remote string
	Reason string // one line, without credentials
	Hint   string // a command that looks closer
	Err    error

	Refused bool // it answered, and said no
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s: %s", e.Op, e.Remote, e.Reason) }
func (e *Error) Unwrap() error { return e.Err }

// Named returns err as one of what is named: a part of what was asked for.
func Named(name string, err error) error {
	var of *Error
	if !errors.As(err, &of) {
		return err
	}
	named := *of
	named.Reason = name + ": " + of.Reason
	return &named
}

// Configured reports whether git's configuration has a remote of this name.
func Configured(config []git.ConfigEntry, name string) bool {
	prefix := "remote." + name + "."
	return slices.ContainsFunc(config, func(e git.ConfigEntry) bool { return strings.HasPrefix(e.Key, prefix) })
}

// Shown is a remote as it may be printed: without a password.
func Shown(remote string) string { return withoutPasswords(remote) }

// withoutPasswords removes what stands before the @ in the URLs of a text.
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
