// Command bench measures git-checkpoint against git.
//
// It makes repositories of 1k, 10k and 100k files, with chains of up to 10,000
// checkpoints, and runs every promise about speed, memory and size side by
// side with the git commands that it is made about:
//
//	go run ./testdata/bench                      everything: minutes, 3 GB of disk
//	go run ./testdata/bench -size 1k -rows save
//	go run ./testdata/bench -smoke               every row once, for CI
//
// What is timed is a whole process, from its start until it has ended. The two
// sides of a row take turns, A B A B, after a warm-up whose output is checked.
// Before each run, outside the time, the state it needs is made afresh: ten
// files are staged again, so that neither side finds the other's trees, and
// the file system is synced, so that neither pays for what the staging wrote.
// Nothing is deleted between runs: ext4 creates files slowly for minutes after
// a mass delete.
//
// Rows without a target at a size are there to be looked at. A figure that is
// missed is reported, and fails the run with -strict; a row that did not do
// what it should, or whose count is wrong, always fails it.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == peakArg {
		os.Exit(peakMain(os.Args[2:]))
	}
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
