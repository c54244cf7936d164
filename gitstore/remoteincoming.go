package gitstore

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/go-git/go-git/v5/plumbing"
)

// incomingRefs hold what a fetch brings until the issue's turn comes:
// refs/git-checkpoint/incoming/<time>-<random>/<issue>.
const incomingRefs = "refs/git-checkpoint/incoming/"

// An arrival is a remote's chain as it came here.
type arrival struct {
	ref string // holds it against gc, "" when it was here already
	tip plumbing.Hash
	err error // why it could not be had, nil where it was
}

// incoming fetches what is not here yet. A chain of which something is here
// already is fetched down to that, a new one no deeper than history is here.
// here are the refs as refsHere reads them.
func (l *line) incoming(ctx context.Context, issues []checkpoint.Issue, tips map[checkpoint.Issue]plumbing.Hash, here map[string]plumbing.Hash) (map[checkpoint.Issue]arrival, error) {
	in := map[checkpoint.Issue]arrival{}
	var fresh, known []checkpoint.Issue
	tracking := l.s.trackingRefs(l.remote)
	for _, i := range issues {
		tracked := here[tracking+i.RefName()]
		switch {
		case tips[i].IsZero():
		case tracked == tips[i]:
			in[i] = arrival{tip: tracked}
		case !l.s.knows(l.remote, i, here):
			fresh = append(fresh, i)
		default:
			known = append(known, i)
		}
	}
	if len(fresh)+len(known) == 0 {
		return in, nil
	}
	l.s.sweepIncoming(ctx)
	depth, err := l.s.depth(ctx)
	if err != nil {
		return nil, err
	}
	if err := l.bringAll(ctx, LiveRef, depth, fresh, in); err != nil {
		return nil, err
	}
	return in, l.bringAll(ctx, LiveRef, 0, known, in)
}

// bringAll fetches the chains of issues, or their archives, and notes where
// they are. It fails where nothing could be had.
func (l *line) bringAll(ctx context.Context, refOf func(checkpoint.Issue) string, depth int, issues []checkpoint.Issue, in map[checkpoint.Issue]arrival) error {
	if len(issues) == 0 {
		return nil
	}
	dir := fmt.Sprintf("%s%d-%.8s/", incomingRefs, time.Now().Unix(), l.s.random())
	b := &bringing{line: l, depth: depth, failed: map[checkpoint.Issue]error{}}
	b.spec = func(i checkpoint.Issue) string { return refOf(i) + ":" + dir + i.RefName() }
	if err := b.some(ctx, issues); err != nil && (!b.came || ctx.Err() != nil) {
		return err
	}
	came, err := l.s.refValues(ctx, dir)
	if err != nil {
		return err
	}
	for _, i := range issues {
		ref := dir + i.RefName()
		if in[i] = (arrival{ref: ref, tip: came[ref]}); b.failed[i] != nil && came[ref].IsZero() {
			in[i] = arrival{err: b.failed[i]}
		}
	}
	return l.s.noticeShallow(ctx)
}

// noticeShallow looks again whether history is cut: a fetch may cut it. Git goes
// by a file, too, which a variable may name.
func (s *Store) noticeShallow(ctx context.Context) error {
	if os.Getenv("GIT_SHALLOW_FILE") == "" {
		s.repo.Shallow = exists(filepath.Join(s.repo.CommonDir, "shallow"))
		return nil
	}
	answer, err := s.git.Line(ctx, "rev-parse", "--is-shallow-repository")
	s.repo.Shallow = answer == "true"
	return err
}

// forgetIncoming lets go of what has found its place.
func (s *Store) forgetIncoming(ctx context.Context, in map[checkpoint.Issue]arrival) {
	gone := map[string]plumbing.Hash{}
	for _, a := range in {
		if a.ref != "" && !a.tip.IsZero() {
			gone[a.ref] = a.tip
		}
	}
	_ = s.deleteRefs(context.WithoutCancel(ctx), gone) // a later fetch removes what is left
}

// sweepIncoming removes what killed fetches left more than a day ago.
func (s *Store) sweepIncoming(ctx context.Context) {
	refs, err := s.refValues(ctx, incomingRefs)
	if err != nil {
		return
	}
	maps.DeleteFunc(refs, func(name string, _ plumbing.Hash) bool {
		at, _, _ := strings.Cut(strings.TrimPrefix(name, incomingRefs), "-")
		made, err := strconv.ParseInt(at, 10, 64)
		return err == nil && time.Since(time.Unix(made, 0)) <= 24*time.Hour
	})
	_ = s.deleteRefs(ctx, refs)
}
