//go:build linux

// Command agents runs real coding agents against a model server on this machine, and
// prints for each agent and event whether the hooks of git-checkpoint ran, saved the work
// and gave the context to the model:
//
//	go run ./testdata/agents [-agents claude,codex] [-events startup,turn]
//
// It installs the agents from npm into -cache. expected.txt lists what works. The exit
// code is 1 if something of it does not work.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

type options struct {
	agents, events, cache string
	at                    int
	keep, verbose, ci     bool
}

func main() {
	var o options
	flag.StringVar(&o.agents, "agents", agentNames(), "names of the `agents`")
	flag.StringVar(&o.events, "events", eventNames(), "names of the `events`")
	flag.StringVar(&o.cache, "cache", defaultCache(), "folder for the packages")
	flag.IntVar(&o.at, "at", 2, "number of agents that run at a time")
	flag.BoolVar(&o.keep, "keep", false, "keep the files of each run, and print their folder")
	flag.BoolVar(&o.verbose, "v", false, "print the output of agents")
	flag.BoolVar(&o.ci, "ci", false, "skip everything if npm's registry cannot be reached")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	code, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "agents:", err)
		code = 2
	}
	os.Exit(code)
}

func defaultCache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "git-checkpoint-agents")
}

func eventNames() string {
	var names []string
	for _, e := range events {
		names = append(names, e.name)
	}
	return strings.Join(names, ",")
}

// A cell is the result for an agent and an event.
type cell struct {
	agent, event string
	marks        string
	err          error
	took         time.Duration
}

func run(ctx context.Context, o options) (int, error) {
	chosen, rows, err := choose(o)
	if err != nil {
		return 0, err
	}
	want, err := readExpected()
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "git-checkpoint-agents-*")
	if err != nil {
		return 0, err
	}
	if !o.keep {
		defer os.RemoveAll(dir)
	}
	packages := cache{o.cache, os.Stderr}
	if o.ci {
		if err := packages.reach(ctx); err != nil {
			fmt.Println("SKIP: the registry of npm cannot be reached:", err)
			return 0, nil
		}
	}
	binary := filepath.Join(dir, "git-checkpoint")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "git-checkpoint").CombinedOutput(); err != nil {
		return 0, fmt.Errorf("go build: %w: %s", err, out)
	}
	r := &runner{options: o, dir: dir, binary: binary, cache: packages, versions: map[string]string{}}
	cells := r.runAll(ctx, chosen, rows)
	return report(os.Stdout, chosen, rows, r.versions, cells, want), ctx.Err()
}

// choose returns the agents and events of the flags.
func choose(o options) (chosen []*agent, rows []row, err error) {
	for _, name := range strings.Split(o.agents, ",") {
		a := agentNamed(name)
		if a == nil {
			return nil, nil, fmt.Errorf("-agents: %q is none of %s", name, agentNames())
		}
		chosen = append(chosen, a)
	}
	for _, name := range strings.Split(o.events, ",") {
		found := false
		for _, e := range events {
			if e.name == name {
				rows, found = append(rows, e), true
			}
		}
		if !found {
			return nil, nil, fmt.Errorf("-events: %q is none of %s", name, eventNames())
		}
	}
	return chosen, rows, nil
}

// A runner runs the cells of the matrix.
type runner struct {
	options
	dir, binary string
	cache       cache
	mu          sync.Mutex
	cells       []cell
	versions    map[string]string
}

// runAll runs some agents at a time, each with all events.
func (r *runner) runAll(ctx context.Context, chosen []*agent, rows []row) []cell {
	var group sync.WaitGroup
	free := make(chan struct{}, max(r.at, 1))
	for _, a := range chosen {
		group.Add(1)
		go func() {
			defer group.Done()
			free <- struct{}{}
			defer func() { <-free }()
			r.runAgent(ctx, a, rows)
		}()
	}
	group.Wait()
	return r.cells
}

func (r *runner) runAgent(ctx context.Context, a *agent, rows []row) {
	programs, err := r.cache.agent(ctx, a)
	for i, e := range rows {
		started := time.Now()
		c := cell{agent: a.name, event: e.name, err: err}
		if err == nil && ctx.Err() == nil {
			c.marks, c.err = r.runCell(ctx, a, e, programs, i == 0)
		}
		c.took = time.Since(started)
		r.mu.Lock()
		r.cells = append(r.cells, c)
		fmt.Fprintf(os.Stderr, "%-9s %-13s %-4s %5.1f s %s\n", a.name, e.name, c.marks, c.took.Seconds(), errorText(c.err))
		r.mu.Unlock()
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// runCell runs an event in a world of its own.
func (r *runner) runCell(ctx context.Context, a *agent, e row, programs []string, version bool) (string, error) {
	w, err := newWorld(ctx, a, r.dir, programs, r.binary)
	if w != nil {
		defer func() { w.close(r.keep) }()
	}
	if err != nil {
		return "", err
	}
	if err := a.prepare(w); err != nil {
		return "", err
	}
	if version {
		out, _ := w.run("--version")
		r.mu.Lock()
		r.versions[a.name] = findVersion(out)
		r.mu.Unlock()
	}
	var flags []string
	if e.wide && a.global {
		flags = []string{"--global"}
	}
	if err := w.install(flags...); err != nil {
		return "", err
	}
	got, err := e.run(w)
	if r.verbose {
		calls, _ := os.ReadFile(w.log())
		r.mu.Lock()
		fmt.Fprintf(os.Stderr, "--- %s, %s in %s\n%s--- calls\n%s--- triggers %v\n", a.name, e.name, w.dir, w.output.String(), calls, w.triggers())
		r.mu.Unlock()
	}
	if r.keep {
		_ = os.WriteFile(filepath.Join(w.dir, "requests"), []byte(strings.Join(w.server.requests(0), "\n")), 0o666)
	}
	return got, err
}

// findVersion returns the first word with a dot and a digit in the output of --version.
func findVersion(out string) string {
	for _, word := range strings.Fields(out) {
		if word[0] >= '0' && word[0] <= '9' && strings.Contains(word, ".") {
			return strings.TrimSuffix(word, ".")
		}
	}
	return "?"
}
