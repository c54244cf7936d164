package remote

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"git-checkpoint/gitstore/internal/git"

	"github.com/go-git/go-git/v5/plumbing"
)

// Tips asks which of refs a remote has, all that match a pattern too.
func (l *Conn) Tips(ctx context.Context, refs ...string) (map[string]plumbing.Hash, error) {
	tips := map[string]plumbing.Hash{}
	err := l.EachTip(ctx, refs, func(name string, tip plumbing.Hash) { tips[name] = tip })
	return tips, err
}

// EachTip gives f what Tips asks for, in the order of names, as it comes: git
// still says goodbye then.
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

// A lineWriter gives f whole lines, without their ends.
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

// atOnce are the flags with which a remote says what refs it has as soon as it
// is connected. In the second version of the protocol it waits until it is
// asked, and git ls-remote asks for all of them there, too.
func (l *Conn) atOnce() []string {
	if _, chosen := git.Last(l.here.Config, "protocol.version"); chosen {
		return nil
	}
	return []string{"-c", "protocol.version=0"}
}
