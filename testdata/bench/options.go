package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// A scale is the size of a repository.
type scale struct {
	name    string
	files   int
	perLeaf int // files per leaf directory; each top directory has ten leaf directories
}

var scales = []scale{
	{"1k", 1_000, 100},
	{"10k", 10_000, 100},
	{"50k", 50_000, 100},
	{"100k", 100_000, 100},
}

// tiny is the size for -smoke.
var tiny = scale{"tiny", 100, 10}

// lengths are the lengths of chains.
type lengths struct {
	short  int    // chain for most saves
	long   int    // chain for checking that length does not affect speed
	turns  int    // saved turns that each add a line to a file
	issues [4]int // numbers of issues, see issueKinds
}

var (
	fullLengths  = lengths{200, 10_000, 999, [4]int{100, 1_000, 10_000, 100_000}}
	smokeLengths = lengths{10, 60, 5, [4]int{3, 5, 60, 80}}
)

// options are the command-line flags.
type options struct {
	scales  []scale
	lengths lengths
	rows    *regexp.Regexp
	runs    int
	warmups int
	smoke   bool
	json    bool
	strict  bool
	sync    bool
	binary  string
	dir     string
	keep    bool
	cpu     bool
}

func parseOptions(args []string, stderr io.Writer) (*options, error) {
	o := &options{lengths: fullLengths, warmups: 2}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	sizes := f.String("size", "1k,10k,100k", "sizes of the repositories, separated by commas")
	rows := f.String("rows", "", "only rows whose name matches this regular expression")
	f.IntVar(&o.runs, "n", 15, "timed runs of each side; slow rows take fewer")
	f.BoolVar(&o.smoke, "smoke", false, "every row once on a tiny repository, for correctness")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	f.BoolVar(&o.strict, "strict", false, "fail when a target is missed")
	f.BoolVar(&o.sync, "sync", true, "sync the file system before each timed run")
	f.StringVar(&o.binary, "binary", "", "measure this git-checkpoint, not one built from the source here")
	f.StringVar(&o.dir, "dir", os.TempDir(), "where to work; on a real disk")
	f.BoolVar(&o.keep, "keep", false, "leave the repositories in place")
	f.BoolVar(&o.cpu, "cpu", false, "measure processor time of all processes, for a machine with other work")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 || o.runs < 1 {
		return nil, fmt.Errorf("usage: bench [flags], with -n of at least 1")
	}
	var err error
	if o.rows, err = regexp.Compile(*rows); err != nil {
		return nil, fmt.Errorf("-rows: %w", err)
	}
	if o.smoke {
		o.scales, o.lengths, o.runs, o.warmups = []scale{tiny}, smokeLengths, 1, 1
		return o, nil
	}
	o.scales, err = parseSizes(*sizes)
	return o, err
}

// parseSizes parses "1k,100k" and returns sizes in ascending order.
func parseSizes(list string) ([]scale, error) {
	wanted := map[string]bool{}
	for name := range strings.SplitSeq(list, ",") {
		wanted[strings.TrimSpace(name)] = true
	}
	var found []scale
	for _, s := range scales {
		if wanted[s.name] {
			found = append(found, s)
		}
	}
	if len(found) != len(wanted) || len(found) == 0 {
		return nil, fmt.Errorf("-size: %q is not a list of 1k, 10k, 50k and 100k", list)
	}
	return found, nil
}
