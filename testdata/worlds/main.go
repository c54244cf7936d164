// Worlds lets the program work in random repositories and checks what it promises of files:
//
//   - a save, a dry run and a failed command change no file and no index entry;
//   - undo gives back the files, their modes, the index, HEAD and the chains as they were
//     before a resume, a restore or an adopt, and redo gives back what was after it;
//   - a dry run names the paths that the act writes and removes;
//   - a resume leaves a path alone whose content was committed after the checkpoint;
//   - after kill -9 of a command, --abort and undo give back every byte from before it;
//   - verify finds no damage, and all clones have the same chain after a sync.
//
// A world has a remote, three clones, and a second worktree of the first clone, with a
// filter, line ends, executable and ignored files. It prints each violation with the seed
// and the steps of its world.
//
//	go run ./testdata/worlds -n 100 -seed 1
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "worlds:", err)
		os.Exit(1)
	}
}

func run() error {
	n := flag.Int("n", 20, "number of worlds")
	seed := flag.Uint64("seed", 1, "seed of the first world")
	steps := flag.Int("steps", 40, "steps of a world")
	program := flag.String("program", "", "try this git-checkpoint, not one built from the source here")
	dir := flag.String("dir", os.TempDir(), "where to work")
	keep := flag.Bool("keep", false, "leave worlds with a violation in place")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	work, err := os.MkdirTemp(*dir, "git-checkpoint-worlds-")
	if err != nil {
		return err
	}
	if !*keep {
		defer os.RemoveAll(work)
	}
	if *program == "" {
		*program = filepath.Join(work, "git-checkpoint")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", *program, ".").CombinedOutput(); err != nil {
			return fmt.Errorf("build: %w\n%s", err, out)
		}
	}

	var wrong, acts atomic.Int64
	next := make(chan uint64)
	var group sync.WaitGroup
	for range runtime.NumCPU() {
		group.Go(func() {
			for s := range next {
				w, err := newWorld(ctx, filepath.Join(work, fmt.Sprint(s)), *program, s)
				if err == nil {
					err = w.live(ctx, *steps)
				}
				acts.Add(int64(w.acts))
				if err != nil && !errors.Is(err, context.Canceled) {
					wrong.Add(1)
					fmt.Printf("world %d: %v\n", s, err)
					for _, line := range w.log {
						fmt.Println("    " + line)
					}
				}
				if err == nil || !*keep {
					_ = os.RemoveAll(w.dir)
				}
			}
		})
	}
	for i := range *n {
		if ctx.Err() != nil {
			break
		}
		next <- *seed + uint64(i)
	}
	close(next)
	group.Wait()
	fmt.Printf("%d worlds, %d checked commands, %d with a violation\n", *n, acts.Load(), wrong.Load())
	if wrong.Load() > 0 {
		return errors.New("a promise was broken")
	}
	return ctx.Err()
}
