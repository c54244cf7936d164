package main

import (
	"context"
	"fmt"
	"strings"
)

const checkpointRefs = "refs/checkpoints/*"

func (r *repo) lsRemote() side {
	return side{argv: r.gits("ls-remote", "origin", checkpointRefs), check: counts("", len(r.many))}
}

// says checks that sync printed one line per issue, and that the expected number of lines
// ends with a result.
func (r *repo) says(what string, want int) func(string) error {
	return func(out string) error {
		if err := counts("issue ", len(r.many))(out); err != nil {
			return err
		}
		if n := strings.Count(out, ": "+what+"\n"); n != want {
			return fmt.Errorf("%d issues are %q, not %d", n, what, want)
		}
		return nil
	}
}

func runSyncIdle(ctx context.Context, r *repo) (result, error) {
	return r.pair(ctx, r.b.runs, r.idleSync(), r.lsRemote())
}

// changing returns the issue that some rows save before each run.
func (r *repo) changing() string { return r.many[len(r.many)/2] }

func (r *repo) oneSync() side {
	save := func(ctx context.Context) error {
		_, err := r.checkpoint(ctx, "save", r.changing(), "--staged")
		return err
	}
	return side{prepare: save, argv: r.ours("sync", "--all"), check: r.says("pushed 1 checkpoint", 1)}
}

// runSyncOne compares sync with git ls-remote, as its target requires. No push can meet
// this target over a local path: a plain git push of the same ref takes seven times as
// long as git ls-remote. With 1,000 remote refs, git pack-objects reads each ref to find
// existing objects, and git receive-pack reads each ref to check connectivity. Both start
// half a dozen processes, and no part can be omitted. The cost of git-checkpoint itself
// is measured by row sync-push: the listing parallel to the push, the plan, the secret
// scan, and local refs.
func runSyncOne(ctx context.Context, r *repo) (result, error) {
	issue, gits := r.changing(), r.lsRemote()
	gits.prepare = r.rest
	res, err := r.pair(ctx, r.b.runs, r.oneSync(), gits)
	if err != nil {
		return res, err
	}
	here, err := r.git(ctx, "rev-parse", "refs/checkpoints/"+issue)
	if err != nil {
		return res, err
	}
	there, err := r.git(ctx, "--git-dir="+r.hub(), "rev-parse", "refs/checkpoints/"+issue)
	if err == nil && here != there {
		err = fmt.Errorf("the remote has %s, not %s", there, here)
	}
	return res, err
}

// runSyncFirst fetches all issues in new clones.
func runSyncFirst(ctx context.Context, r *repo) (result, error) {
	ours, gits := &cloned{r: r}, &cloned{r: r, n: 1000}
	return r.pair(ctx, r.b.few(),
		side{
			prepare: ours.next,
			each:    func(int) []string { return r.ours("-C", ours.dir, "sync", "--all") },
			check:   r.says(fmt.Sprintf("fetched %d checkpoints", eachOfMany), len(r.many)),
		},
		side{
			prepare: gits.next,
			each: func(int) []string {
				return r.gits("-C", gits.dir, "fetch", "-q", "origin", checkpointRefs+":"+checkpointRefs)
			},
			check: silent,
		})
}

// A cloned is a side with a new clone for every run.
type cloned struct {
	r   *repo
	n   int
	dir string
}

func (c *cloned) next(ctx context.Context) (err error) {
	c.n++
	c.dir, err = c.r.newClone(ctx, c.n)
	return err
}

// runFetchOne fetches one issue from a remote with many issues, and from a remote with
// few issues.
func runFetchOne(ctx context.Context, r *repo) (result, error) {
	few, err := r.b.repo(ctx, kindFew, r.scale)
	if err != nil {
		return result{}, err
	}
	one := func(c *cloned) side {
		return side{
			prepare: c.next,
			each:    func(int) []string { return r.ours("-C", c.dir, "fetch", few.many[0]) },
			check:   counts(fmt.Sprintf("issue %s: fetched %d", few.many[0], eachOfMany), 1),
		}
	}
	return r.pair(ctx, r.b.runs, one(&cloned{r: r, n: 2000}), one(&cloned{r: few, n: 3000}))
}

// runSyncPush compares a sync of all issues after one save with a plain push of the saved
// issue. A sync before each run records the other side's push.
func runSyncPush(ctx context.Context, r *repo) (result, error) {
	save := func(ctx context.Context) error {
		_, err := r.checkpoint(ctx, "sync", "--all")
		if err == nil {
			_, err = r.checkpoint(ctx, "save", r.changing(), "--staged")
		}
		return err
	}
	ours := r.oneSync()
	ours.prepare = save
	gits := side{prepare: save, argv: r.gits("push", "-q", "origin", "refs/checkpoints/"+r.changing()), check: silent}
	res, err := r.pair(ctx, r.b.runs, ours, gits)
	if err == nil {
		_, err = r.checkpoint(ctx, "sync", "--all") // leaves no changes for the next row
	}
	return res, err
}
