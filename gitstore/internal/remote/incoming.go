package remote

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// Incoming is the prefix of temporary refs that hold fetched commits until local refs are
// updated: refs/git-checkpoint/incoming/<time>-<random>/<last part of the name>.
const Incoming = "refs/git-checkpoint/incoming/"

// A FetchedRef is the result of fetching one ref.
type FetchedRef struct {
	Ref string // temporary ref that protects the commits from gc, "" if the commit was local already
	Tip plumbing.Hash
	Err error // reason of a failed fetch, nil on success
}

// Fetch fetches refs with distinct last name parts. Refs in fresh are unknown in this
// repository and are fetched at local depth; refs in known are fetched down to existing
// local commits. It returns an error if no ref of fresh or known could be fetched.
func (l *Conn) Fetch(ctx context.Context, fresh, known []string) (map[string]FetchedRef, error) {
	if len(fresh)+len(known) == 0 {
		return nil, nil
	}
	l.sweep(ctx)
	depth, err := l.depth(ctx)
	if err != nil {
		return nil, err
	}
	in, err := l.fetchRefs(ctx, depth, fresh)
	if err != nil {
		return nil, err
	}
	more, err := l.fetchRefs(ctx, 0, known)
	maps.Copy(in, more)
	return in, err
}

// FetchWhole fetches refs at full depth.
func (l *Conn) FetchWhole(ctx context.Context, refs []string) (map[string]FetchedRef, error) {
	return l.fetchRefs(ctx, 0, refs)
}

// fetchRefs fetches refs and returns their temporary refs. It returns an error if no ref
// could be fetched.
func (l *Conn) fetchRefs(ctx context.Context, depth int, refs []string) (map[string]FetchedRef, error) {
	in := make(map[string]FetchedRef, len(refs))
	if len(refs) == 0 {
		return in, nil
	}
	dir := fmt.Sprintf("%s%d-%.8s/", Incoming, time.Now().Unix(), rand.Text())
	b := &fetcher{conn: l, depth: depth, failed: map[string]error{}}
	b.to = func(ref string) string { return dir + path.Base(ref) }
	names := make([]string, len(refs))
	for i, ref := range refs {
		names[i] = b.to(ref)
	}
	end := l.here.Refs.Note(ctx, names)
	err := b.fetch(ctx, refs)
	end(err)
	if err != nil && (!b.fetched || ctx.Err() != nil) {
		return nil, err
	}
	came, err := l.here.Refs.Values(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		to := b.to(ref)
		if in[ref] = (FetchedRef{Ref: to, Tip: came[to]}); b.failed[ref] != nil && came[to].IsZero() {
			in[ref] = FetchedRef{Err: b.failed[ref]}
		} else if came[to].IsZero() {
			in[ref] = FetchedRef{Err: fmt.Errorf("fetch %s: git has not made %s", ref, to)}
		}
	}
	return in, l.here.History.Came(ctx)
}

// Forget deletes temporary refs of a fetch.
func (l *Conn) Forget(ctx context.Context, in ...FetchedRef) {
	gone := map[string]plumbing.Hash{}
	for _, a := range in {
		if a.Ref != "" && !a.Tip.IsZero() {
			gone[a.Ref] = a.Tip
		}
	}
	_ = l.here.Refs.Delete(context.WithoutCancel(ctx), gone) // a later fetch deletes remaining refs
}

// sweep deletes temporary refs that killed fetches created more than one day ago.
func (l *Conn) sweep(ctx context.Context) {
	refs, err := l.here.Refs.Values(ctx, Incoming)
	if err != nil {
		return
	}
	maps.DeleteFunc(refs, func(name string, _ plumbing.Hash) bool {
		made, err := CameAt(name)
		return err == nil && time.Since(made) <= 24*time.Hour
	})
	_ = l.here.Refs.Delete(ctx, refs)
}

// CameAt returns the fetch time of a ref below Incoming.
func CameAt(name string) (time.Time, error) {
	at, _, _ := strings.Cut(strings.TrimPrefix(name, Incoming), "-")
	seconds, err := strconv.ParseInt(at, 10, 64)
	return time.Unix(seconds, 0), err
}
