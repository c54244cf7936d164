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

// A side is one of two compared commands in a row.
type side struct {
	prepare func(ctx context.Context) error // runs before each run outside the measured time; may be nil
	argv    []string
	then    []string // a second command, measured with the first; may be nil
	stdin   string
	env     []string               // additional environment variables
	each    func(run int) []string // returns argv of a run, if it differs between runs
	check   func(out string) error // checks warm-up output; may be nil
}

// pair measures two alternating sides, in milliseconds.
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

// timed prepares and measures one run. Output of a warm-up run is checked; other output
// is discarded.
func (r *repo) timed(ctx context.Context, s side, i int, warmup bool) (float64, error) {
	if err := r.ready(ctx, s); err != nil {
		return 0, err
	}
	argv := s.argv
	if s.each != nil {
		argv = s.each(i)
	}
	var out bytes.Buffer
	spent, err := r.measured(s, argv, warmup, &out)
	if err == nil && s.then != nil {
		var more time.Duration
		more, err = r.measured(s, s.then, warmup, &out)
		spent += more
	}
	if err != nil {
		return 0, err
	}
	if warmup {
		if err := s.check(out.String()); err != nil {
			return 0, fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
		}
	}
	return spent.Seconds() * 1000, nil
}

// measured runs a command of a side. It appends the output of a warm-up run to out.
func (r *repo) measured(s side, argv []string, warmup bool, out *bytes.Buffer) (time.Duration, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = r.dir, slices.Concat(r.b.env, s.env)
	if s.stdin != "" {
		cmd.Stdin = strings.NewReader(s.stdin)
	}
	var said bytes.Buffer
	if warmup {
		cmd.Stdout, cmd.Stderr = out, &said
	}
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, said.String())
	}
	if r.b.cpu {
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
	}
	return time.Since(start), nil
}

// ready prepares a run and syncs the disk.
func (r *repo) ready(ctx context.Context, s side) error {
	if err := ctx.Err(); err != nil || s.prepare == nil {
		return err
	}
	if err := s.prepare(ctx); err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	return r.b.settle()
}

// settle syncs all written data to disk. Otherwise a side that syncs its own writes would
// also wait for the index written by `git add`, and a side without syncs would not.
func (b *bench) settle() error {
	if !b.sync {
		return nil
	}
	return syncDisk(b.work)
}

// few returns the number of runs for slow rows.
func (b *bench) few() int { return min(b.runs, 5) }
