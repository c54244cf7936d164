package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// A host describes the measuring machine.
type host struct {
	Program    string `json:"program"`
	Git        string `json:"git"`
	Platform   string `json:"platform"`
	CPUs       int    `json:"cpus"`
	Load       string `json:"load"`
	Dir        string `json:"dir"`
	FileSystem string `json:"file_system"`
	Synced     bool   `json:"synced"` // disk synced before each run
}

func (b *bench) host(ctx context.Context) host {
	git, _ := b.do(ctx, b.work, nil, b.git, "version")
	program, _ := b.do(ctx, b.work, nil, b.binary, "version")
	return host{
		Program: strings.TrimSpace(program), Git: strings.TrimSpace(git),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Load: load(),
		Dir: b.dir, FileSystem: fileSystem(b.work), Synced: b.sync,
	}
}

func printJSON(w io.Writer, h host, results []result) error {
	return json.NewEncoder(w).Encode(struct {
		Host host     `json:"host"`
		Rows []result `json:"rows"`
	}{h, results})
}

// printTable prints one line per result: medians, with minimum and maximum in
// parentheses.
func printTable(w io.Writer, h host, results []result) error {
	fmt.Fprintf(w, "%s\n%s, %s, %d CPUs, load %s\n", h.Program, h.Git, h.Platform, h.CPUs, h.Load)
	fmt.Fprintf(w, "%s on %s%s\n\n", h.Dir, h.FileSystem, diskNote(h))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "row\tfiles\tours\tgit's\tratio\ttarget\tverdict")
	for _, r := range results {
		fmt.Fprintln(t, strings.Join([]string{
			r.Row, r.Size, cell(r.Ours, r.Unit), cell(r.Theirs, r.Unit),
			number(r.Ratio), number(r.Target), r.Verdict,
		}, "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return printLegend(w, results)
}

func diskNote(h host) string {
	switch {
	case h.FileSystem == "tmpfs" || h.FileSystem == "ramfs":
		return ", WHICH IS NO DISK: a save's syncs cost nothing here; give -dir"
	case !h.Synced:
		return ", not synced between runs"
	}
	return ""
}

// printLegend prints the compared commands of each row.
func printLegend(w io.Writer, results []result) error {
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, r := range results {
		same := func(before result) bool { return before.Row == r.Row }
		if !slices.ContainsFunc(results[:i], same) {
			fmt.Fprintf(t, "%s\t%s\tagainst %s\n", r.Row, r.What, r.Against)
		}
	}
	return t.Flush()
}

func cell(s summary, unit string) string {
	switch {
	case s.Runs == 0:
		return "-"
	case s.Runs == 1:
		return number(s.Median) + " " + unit
	}
	return fmt.Sprintf("%s %s (%s..%s)", number(s.Median), unit, number(s.Min), number(s.Max))
}

// number formats a value with three significant digits, or without decimals if the value
// is 100 or more. It returns "-" for zero.
func number(v float64) string {
	switch {
	case v == 0:
		return "-"
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
