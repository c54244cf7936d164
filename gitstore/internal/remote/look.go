package remote

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"git-checkpoint/gitstore/internal/git"

	"github.com/go-git/go-git/v5/plumbing"
)

// Tips lists remote refs, selected by names or patterns.
func (l *Conn) Tips(ctx context.Context, refs ...string) (map[string]plumbing.Hash, error) {
	tips := map[string]plumbing.Hash{}
	err := l.EachTip(ctx, refs, func(name string, tip plumbing.Hash) { tips[name] = tip })
	return tips, err
}

// EachTip calls f for each ref of Tips in order of names, while git is still running.
func (l *Conn) EachTip(ctx context.Context, refs []string, f func(name string, tip plumbing.Hash)) error {
	lines := &lineWriter{f: func(text string) {
		hex, name, ok := strings.Cut(text, "\t")
		if ok && plumbing.IsHash(hex) {
			f(name, plumbing.NewHash(hex))
		}
	}}
	return l.within(ctx, func(ctx context.Context) error {
		return l.git.Copy(ctx, lines, slices.Concat(l.atOnce(), []string{"ls-remote", "--refs", "--", l.from}, refs)...)
	})
}

// A lineWriter calls f for each complete line, without line ending.
type lineWriter struct {
	f    func(string)
	rest []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for {
		line, after, found := bytes.Cut(p, []byte("\n"))
		w.rest = append(w.rest, line...)
		if !found {
			return n, nil
		}
		w.f(string(w.rest))
		w.rest, p = w.rest[:0], after
	}
}

// atOnce returns flags that select protocol version 0, in which a remote lists its refs
// immediately after connecting. In version 2, the remote waits for a request, and git
// ls-remote requests all refs anyway.
func (l *Conn) atOnce() []string {
	if _, chosen := git.Last(l.here.Config, "protocol.version"); chosen {
		return nil
	}
	return []string{"-c", "protocol.version=0"}
}
