package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/fsutil"
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
	failed, tries := map[string]error{}, fetchTries
	isMost := len(refs) >= wholeFolder && 2*len(refs) > of && of > 0
	if !isMost || l.fetch(ctx, depth, []string{path.Dir(refs[0]) + "/*:" + dir + "*"}) != nil {
		err := l.fetchHalves(ctx, depth, refs, dir, failed, &tries)
		if err != nil && (len(failed) == len(refs) || ctx.Err() != nil) {
			return nil, err
		}
	}
	l.repo.Refs.Release() // the cached values lack the new refs
	came, err := l.repo.Refs.Values(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		to := dir + path.Base(ref)
		if in[ref] = (FetchedRef{Ref: to, Tip: came[to]}); failed[ref] != nil && came[to].IsZero() {
			in[ref] = FetchedRef{Err: failed[ref]}
		} else if came[to].IsZero() {
			in[ref] = FetchedRef{Err: fmt.Errorf("fetch %s: git has not made %s", ref, to)}
		}
		delete(came, to)
	}
	if len(came) > 0 { // of the whole folder
		_ = l.repo.DeleteRefs(ctx, came)
	}
	l.repo.Info.Shallow = fsutil.Exists(filepath.Join(l.repo.Info.CommonDir, "shallow")) // the fetch may have cut the history
	return in, nil
}

// Forget deletes temporary refs of a fetch, and releases the cached refs.
func (l *Conn) Forget(ctx context.Context, in ...FetchedRef) {
	l.repo.Refs.Release()
	gone := map[string]plumbing.Hash{}
	for _, a := range in {
		if a.Ref != "" && !a.Tip.IsZero() {
			gone[a.Ref] = a.Tip
		}
	}
	_ = l.repo.DeleteRefs(context.WithoutCancel(ctx), gone) // a later fetch deletes remaining refs
}

// sweep deletes temporary refs that killed fetches created more than one day ago.
func (l *Conn) sweep(ctx context.Context) {
	refs, err := l.repo.Refs.Values(ctx, Incoming)
	if err != nil {
		return
	}
	maps.DeleteFunc(refs, func(name string, _ plumbing.Hash) bool {
		at, _, _ := strings.Cut(strings.TrimPrefix(name, Incoming), "-")
		seconds, err := strconv.ParseInt(at, 10, 64)
		return err == nil && time.Since(time.Unix(seconds, 0)) <= 24*time.Hour
	})
	_ = l.repo.DeleteRefs(ctx, refs)
}

// fetch fetches remote refs to new local refs; each refspec is "<remote>:<local>". Depth
// 0 means full history.
func (l *Conn) fetch(ctx context.Context, depth int, refspecs []string) error {
	args := []string{"fetch", "--quiet", "--no-tags", "--no-prune", "--no-auto-gc", "--recurse-submodules=no", "--refmap=", "--no-write-fetch-head"}
	if depth > 0 {
		args = append(args, fmt.Sprintf("--depth=%d", depth))
	}
	in := []byte(strings.Join(refspecs, "\n") + "\n") // their number may exceed the limit of arguments
	_, err := l.run(ctx, in, append(args, "--stdin", "--", l.from)...)
	return err
}

// Commits fetches refs to the same names, without trees and blobs if the remote supports
// filters. A ref may be a pattern. A ref that the remote lacks is no error.
func (l *Conn) Commits(ctx context.Context, ref string) error {
	args := []string{"fetch", "--quiet", "--no-tags", "--no-auto-gc", "--recurse-submodules=no", "--refmap=", "--filter=tree:0", "--", l.from}
	_, err := l.run(ctx, nil, append(args, ref+":"+ref)...)
	if isMissing(err, ref) {
		return nil
	}
	return err
}

// isMissing reports whether the remote has answered that it lacks a ref.
func isMissing(err error, ref string) bool {
	failed, isGit := errors.AsType[*git.CommandError](err)
	return isGit && git.Reason(failed) == "couldn't find remote ref "+ref
}

// fetchTries limits failed connections during the search for refs that a remote cannot
// send.
const fetchTries = 24

// fetchHalves fetches refs to temporary refs below dir. One bad ref fails the whole fetch, for
// example because of a missing object at the remote or a failed local check. Then each half is
// fetched separately, and the errors of bad refs are added to failed.
func (l *Conn) fetchHalves(ctx context.Context, depth int, refs []string, dir string, failed map[string]error, tries *int) error {
	specs := make([]string, len(refs))
	for n, ref := range refs {
		specs[n] = ref + ":" + dir + path.Base(ref)
	}
	err := l.fetch(ctx, depth, specs)
	if err == nil || ctx.Err() != nil {
		return err
	}
	if *tries--; len(refs) == 1 || *tries <= 0 || errors.Is(err, context.DeadlineExceeded) {
		for _, ref := range refs {
			failed[ref] = err
		}
		return err
	}
	half := len(refs) / 2
	first := l.fetchHalves(ctx, depth, refs[:half], dir, failed, tries)
	return errors.Join(first, l.fetchHalves(ctx, depth, refs[half:], dir, failed, tries))
}

// Tips lists all refs of the remote, HEAD, and the objects of annotated tags at <ref>^{}. Git receives
// all refs even if it prints only one.
func (l *Conn) Tips(ctx context.Context) (map[string]plumbing.Hash, error) {
	// In protocol version 0, the remote lists its refs immediately after connecting. In version 2 it
	// waits for a request.
	var atOnce []string
	if _, chosen := git.Last(l.repo.Config, "protocol.version"); !chosen {
		atOnce = []string{"-c", "protocol.version=0"}
	}
	out, err := l.run(ctx, nil, append(atOnce, "ls-remote", "--", l.from)...)
	tips := map[string]plumbing.Hash{}
	for line := range strings.Lines(string(out)) {
		hex, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if ok && plumbing.IsHash(hex) {
			tips[name] = plumbing.NewHash(hex)
		}
		if ok && err == nil && len(hex) == 2*objectformat.OtherSize && strings.Trim(hex, "0123456789abcdef") == "" {
			err = l.otherFormat(nil)
		}
	}
	return tips, err
}
