package main

import (
	"context"
	"fmt"
)

// overLine connects both sides to the simulated network.
func (r *repo) overLine(ours, gits *side) (*wire, error) {
	w, err := r.b.wire()
	if err == nil {
		ours.env, gits.env = w.env(), w.env()
	}
	return w, err
}

// lined measures two sides over the simulated network.
func (r *repo) lined(ctx context.Context, ours, gits side) (result, error) {
	if _, err := r.overLine(&ours, &gits); err != nil {
		return result{}, err
	}
	return r.pair(ctx, r.b.runs, ours, gits)
}

// trips counts round trips of two sides; git-checkpoint may not need more.
func (r *repo) trips(ctx context.Context, ours, gits side) (result, error) {
	w, err := r.overLine(&ours, &gits)
	if err != nil {
		return result{}, err
	}
	var took [2]int
	for n, s := range []side{ours, gits} {
		if err := r.ready(ctx, s); err != nil {
			return result{}, err
		}
		w.traffic()
		if _, err := r.timed(ctx, side{argv: s.argv, each: s.each, check: s.check, env: s.env}, n, true); err != nil {
			return result{}, err
		}
		connections, trips := w.traffic()
		if connections == 0 {
			return result{}, fmt.Errorf("nothing went over %v", w)
		}
		took[n] = trips
	}
	res := counted(took[0], took[1])
	res.Unit = "trips"
	return res, nil
}

func (r *repo) idleSync() side {
	return side{argv: r.ours("sync", "--all"), check: r.says("up to date", len(r.many))}
}

func runSyncIdleLine(ctx context.Context, r *repo) (result, error) {
	return r.lined(ctx, r.idleSync(), r.lsRemote())
}

func runSyncIdleTrips(ctx context.Context, r *repo) (result, error) {
	return r.trips(ctx, r.idleSync(), r.lsRemote())
}

func runSyncOneLine(ctx context.Context, r *repo) (result, error) {
	gits := r.lsRemote()
	gits.prepare = r.rest
	return r.lined(ctx, r.oneSync(), gits)
}

// newFetch returns two fetches of one issue in a new clone: by git-checkpoint, and by
// git.
func (r *repo) newFetch() (ours, gits side) {
	a, b := &cloned{r: r, n: 4000}, &cloned{r: r, n: 5000}
	issue := r.many[0]
	ref := "refs/checkpoints/" + issue
	ours = side{
		prepare: a.next,
		each:    func(int) []string { return r.ours("-C", a.dir, "fetch", issue) },
		check:   counts(fmt.Sprintf("issue %s: fetched %d", issue, eachOfMany), 1),
	}
	gits = side{
		prepare: b.next,
		each:    func(int) []string { return r.gits("-C", b.dir, "fetch", "-q", "origin", ref+":"+ref) },
		check:   silent,
	}
	return ours, gits
}

func runFetchOneLine(ctx context.Context, r *repo) (result, error) {
	ours, gits := r.newFetch()
	return r.lined(ctx, ours, gits)
}

func runFetchOneTrips(ctx context.Context, r *repo) (result, error) {
	ours, gits := r.newFetch()
	return r.trips(ctx, ours, gits)
}
