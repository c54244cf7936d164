package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A side is one of the two things that a row compares.
type side struct {
	prepare func(ctx context.Context) error // before each run, outside the time; may be nil
	argv    []string
	stdin   string
	env     []string               // beside that of the bench
	each    func(run int) []string // the argv of a run, where it differs
	check   func(out string) error // of what a warm-up printed; may be nil
}

// pair measures two sides by turns, in milliseconds.
func (r *repo) pair(ctx context.Context, runs int, ours, gits side) (result, error) {
	if ours.check == nil || gits.check == nil {
		return result{}, errors.New("a side that is not checked")
	}
	times := [2][]float64{}
	for i := range r.b.warmups + runs {
		for n, s := range []side{ours, gits} {
			spent, err := r.timed(ctx, s, i, i < r.b.warmups)
			if err != nil {
				return result{}, err
			}
			if i >= r.b.warmups {
				times[n] = append(times[n], spent)
			}
		}
	}
	return result{Unit: "ms", Ours: summarize(times[0]), Theirs: summarize(times[1])}, nil
}

// timed makes the state for one run and measures it. A warm-up's output is
// checked; that of others goes nowhere.
func (r *repo) timed(ctx context.Context, s side, i int, warmup bool) (float64, error) {
	if err := r.ready(ctx, s); err != nil {
		return 0, err
	}
	argv := s.argv
	if s.each != nil {
		argv = s.each(i)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = r.dir, slices.Concat(r.b.env, s.env)
	if s.stdin != "" {
		cmd.Stdin = strings.NewReader(s.stdin)
	}
	var out, said bytes.Buffer
	if warmup {
		cmd.Stdout, cmd.Stderr = &out, &said
	}
	start := time.Now()
	err := cmd.Run()
	spent := time.Since(start)
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, said.String())
	}
	if warmup {
		if err := s.check(out.String()); err != nil {
			return 0, fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
		}
	}
	return spent.Seconds() * 1000, nil
}

// ready prepares a run and lets the disk come to rest.
func (r *repo) ready(ctx context.Context, s side) error {
	if err := ctx.Err(); err != nil || s.prepare == nil {
		return err
	}
	if err := s.prepare(ctx); err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	return r.b.settle()
}

// settle waits until everything written is on the disk. Without it, a side
// that syncs what it writes would wait for the index that `git add` wrote, and
// one that does not sync would not.
func (b *bench) settle() error {
	if !b.sync {
		return nil
	}
	return syncDisk(b.work)
}

// few is how often a slow row runs.
func (b *bench) few() int { return min(b.runs, 5) }
