// Command bench compares the performance of git-checkpoint with git.
//
// It creates repositories of 1k, 10k and 100k files, with chains of up to 10,000
// checkpoints. For each performance target it runs git-checkpoint and the git commands of
// that target:
//
//	go run ./testdata/bench                      everything: minutes, 3 GB of disk
//	go run ./testdata/bench -size 1k -rows save
//	go run ./testdata/bench -size 1k -rows issue -cpu -n 5    how the cost grows with the issues
//	go run ./testdata/bench -smoke               every row once, for CI
//	go run -tags sha256 ./testdata/bench         in SHA-256 repositories
//
// A measured time covers a whole process from start to end. Both sides of a row alternate
// (A B A B) after a warm-up with checked output. Before each run, outside the measured
// time, the required state is created: files change again, so that neither side finds
// objects of the other. The file system is synced, so that neither side waits for
// earlier writes. No files are deleted between runs, because ext4 creates files slowly
// for minutes after a mass delete.
//
// If a row has no target at a size, its result is informational. A missed target is
// reported, and fails the run if -strict is set. Incorrect results and wrong counts
// always fail the run.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return err
	}
	b, err := newBench(ctx, o, stderr)
	if err != nil {
		return err
	}
	defer b.close()
	results, err := b.all(ctx)
	if err != nil {
		return err
	}
	h := b.host(ctx)
	if o.json {
		err = printJSON(stdout, h, results)
	} else {
		err = printTable(stdout, h, results)
	}
	if err == nil {
		err = failure(results, o.strict)
	}
	return err
}
