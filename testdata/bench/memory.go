package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// peakArg makes this program run its other arguments as a command and print the peak
// memory of that process. A new process inherits its parent's peak until it exceeds it,
// so the parent must be small. After thousands of runs, this process is too large.
// Figures below about 6 MiB are the parent's.
const peakArg = "-peak-of"

func peakMain(argv []string) int {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", strings.Join(argv, " "), err)
		return 1
	}
	fmt.Println(peakOf(cmd.ProcessState))
	return 0
}

// peaks measures peak memory of two alternating commands, in KiB: the maximum of the
// process and its children.
func (r *repo) peaks(ctx context.Context, prepare func(context.Context) error, ours, gits []string) (result, error) {
	self, err := os.Executable()
	if err != nil {
		return result{}, err
	}
	sizes := [2][]float64{}
	for range r.b.few() {
		for n, argv := range [][]string{ours, gits} {
			if err := prepare(ctx); err != nil {
				return result{}, err
			}
			out, err := r.b.do(ctx, r.dir, nil, append([]string{self, peakArg}, argv...)...)
			if err != nil {
				return result{}, err
			}
			kib, err := strconv.ParseFloat(strings.TrimSpace(out), 64)
			if err != nil || kib == 0 {
				return result{}, fmt.Errorf("peak memory: %q", out)
			}
			sizes[n] = append(sizes[n], kib)
		}
	}
	return result{Unit: "KiB", Ours: summarize(sizes[0]), Theirs: summarize(sizes[1])}, nil
}
