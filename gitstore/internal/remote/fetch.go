package remote

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/objectformat"

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
// local commits. of is the number of refs of the remote in the same folder. It returns an error
// if no ref of fresh or known could be fetched.
func (l *Conn) Fetch(ctx context.Context, fresh, known []string, of int) (map[string]FetchedRef, error) {
	if len(fresh)+len(known) == 0 {
		return nil, nil
	}
	l.sweep(ctx)
	depth, err := l.depth(ctx)
	if err != nil {
		return nil, err
	}
	if depth == 0 {
		return l.fetchRefs(ctx, 0, slices.Concat(fresh, known), of)
	}
	in, err := l.fetchRefs(ctx, depth, fresh, 0)
	if err != nil {
		return nil, err
	}
	more, err := l.fetchRefs(ctx, 0, known, 0)
	maps.Copy(in, more)
	return in, err
}

// wholeFolder is the number of refs from which one refspec for all refs of a folder may replace
// a refspec for each. Git compares each refspec with each ref.
const wholeFolder = 100

// fetchRefs fetches refs and returns their temporary refs. If they are most of the refs in
// their folder, whose number is of, it fetches the whole folder. It returns an error if no ref
// could be fetched.
func (l *Conn) fetchRefs(ctx context.Context, depth int, refs []string, of int) (map[string]FetchedRef, error) {
	in := make(map[string]FetchedRef, len(refs))
	if len(refs) == 0 {
		return in, nil
	}
	dir := fmt.Sprintf("%s%d-%.8s/", Incoming, time.Now().Unix(), rand.Text())
	b := &fetcher{conn: l, depth: depth, failed: map[string]error{}}
	b.to = func(ref string) string { return dir + path.Base(ref) }
	if isMost := len(refs) >= wholeFolder && 2*len(refs) > of && of > 0; isMost {
		b.fetched = l.fetch(ctx, depth, []string{path.Dir(refs[0]) + "/*:" + dir + "*"}) == nil
	}
	var err error
	if !b.fetched {
		err = b.fetch(ctx, refs)
	}
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
		delete(came, to)
	}
	if len(came) > 0 { // of the whole folder
		_ = l.here.Refs.Delete(ctx, came)
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

// fetch fetches remote refs to new local refs; each refspec is "<remote>:<local>". Depth
// 0 means full history.
func (l *Conn) fetch(ctx context.Context, depth int, refspecs []string) error {
	args := []string{"fetch", "--quiet", "--no-tags", "--no-prune", "--no-auto-gc", "--recurse-submodules=no", "--refmap="}
	if depth > 0 {
		args = append(args, fmt.Sprintf("--depth=%d", depth))
	}
	in := []byte(strings.Join(refspecs, "\n") + "\n") // their number may exceed the limit of arguments
	_, err := l.run(ctx, in, slices.Concat(args, []string{"--no-write-fetch-head", "--stdin", "--", l.from})...)
	if git.Code(err) == gitUsage { // git before 2.29
		_, err = l.run(ctx, nil, slices.Concat(args, []string{"--", l.from}, refspecs)...)
	}
	return err
}

// gitUsage is git's exit status for unknown options.
const gitUsage = 129

// Commits fetches refs to the same names, without trees and blobs if the remote supports
// filters.
func (l *Conn) Commits(ctx context.Context, refs []string) error {
	args := []string{"fetch", "--quiet", "--no-tags", "--no-auto-gc", "--recurse-submodules=no", "--refmap=", "--filter=tree:0", "--", l.from}
	for _, ref := range refs {
		args = append(args, ref+":"+ref)
	}
	_, err := l.run(ctx, nil, args...)
	return err
}

// fetchTries limits failed connections during the search for refs that a remote cannot
// send.
const fetchTries = 24

// A fetcher fetches many refs over few connections. One bad ref fails the whole fetch,
// for example because of a missing object at the remote or a failed local check. The
// fetcher then fetches the other refs without it.
type fetcher struct {
	conn    *Conn
	depth   int
	to      func(ref string) string // returns the local name of a ref
	failed  map[string]error
	fetched bool // at least one connection succeeded
	tries   int
	until   time.Time // deadline for further tries, zero means unlimited
}

// fetch fetches refs. If this fails, it fetches each half separately.
func (b *fetcher) fetch(ctx context.Context, refs []string) error {
	specs := make([]string, len(refs))
	for n, ref := range refs {
		specs[n] = ref + ":" + b.to(ref)
	}
	start := time.Now()
	err := b.conn.fetch(ctx, b.depth, specs)
	switch {
	case err == nil:
		b.fetched = true
		return nil
	case ctx.Err() != nil:
		return err
	}
	if b.tries == 0 && b.conn.Timeout > 0 {
		b.until = start.Add(b.conn.Timeout)
	}
	b.tries++
	if len(refs) == 1 || b.tries >= fetchTries || !b.until.IsZero() && time.Now().After(b.until) {
		for _, ref := range refs {
			b.failed[ref] = err
		}
		return err
	}
	half := len(refs) / 2
	if err := b.fetch(ctx, refs[:half]); ctx.Err() != nil {
		return err
	}
	if rest := b.fetch(ctx, refs[half:]); rest != nil {
		return rest
	}
	return err
}

// FetchWithoutListing fetches one ref without listing the remote's refs, so its duration
// does not depend on their number. ok is false if the result is uncertain and a listing
// is required. known means that local commits of the ref exist, which a fetch with depth
// would truncate.
func (l *Conn) FetchWithoutListing(ctx context.Context, ref string, known bool) (a FetchedRef, ok bool, err error) {
	l.sweep(ctx)
	depth := 0
	if !known {
		if depth, err = l.depth(ctx); err != nil {
			return a, false, err
		}
	}
	start := time.Now()
	in, err := l.fetchRefs(ctx, depth, []string{ref}, 0)
	failed, isGit := errors.AsType[*git.CommandError](err)
	switch {
	case err == nil, isGit && cause(failed.Stderr) == "couldn't find remote ref "+ref:
		return in[ref], true, nil
	case ctx.Err() != nil, l.Timeout > 0 && time.Since(start) >= l.Timeout:
		return a, false, err
	}
	return a, false, nil
}

// Tips lists remote refs, selected by names or patterns.
func (l *Conn) Tips(ctx context.Context, refs ...string) (map[string]plumbing.Hash, error) {
	tips := map[string]plumbing.Hash{}
	err := l.EachTip(ctx, refs, func(name string, tip plumbing.Hash) { tips[name] = tip })
	return tips, err
}

// EachTip calls f for each ref of Tips in order of names, while git is still running.
func (l *Conn) EachTip(ctx context.Context, refs []string, f func(name string, tip plumbing.Hash)) error {
	foreign := false
	lines := &lineWriter{f: func(text string) {
		hex, name, ok := strings.Cut(text, "\t")
		if ok && plumbing.IsHash(hex) {
			f(name, plumbing.NewHash(hex))
		}
		foreign = foreign || ok && len(hex) == 2*objectformat.OtherSize && strings.Trim(hex, "0123456789abcdef") == ""
	}}
	// In protocol version 0, the remote lists its refs immediately after connecting. In version 2 it
	// waits for a request, and git ls-remote requests all refs anyway.
	var atOnce []string
	if _, chosen := git.Last(l.here.Config, "protocol.version"); !chosen {
		atOnce = []string{"-c", "protocol.version=0"}
	}
	return l.within(ctx, func(ctx context.Context) error {
		err := l.git.Copy(ctx, lines, slices.Concat(atOnce, []string{"ls-remote", "--refs", "--", l.from}, refs)...)
		if err == nil && foreign {
			err = ErrObjectFormat
		}
		return err
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
