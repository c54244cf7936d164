//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// syncEvery is the number of saves of a clone between two of its syncs.
const syncEvery = 3

// A crowd is the result of clones that save and sync at once.
type crowd struct {
	mu                  sync.Mutex
	saved               []string // ids
	syncs, failed, lost int
	tips                map[string]bool // tips of the clones and the server at the end
	took, longest       time.Duration   // of all, and of a single sync
}

// gather runs the clones of a transport.
func (h *host) gather(name string, r remote) (*crowd, error) {
	seed, err := h.repository(name, r)
	if err != nil {
		return nil, err
	}
	if err := h.all(seed, "push -q origin main"); err != nil {
		return nil, err
	}
	var dirs []string
	for n := range h.clones {
		dir := filepath.Join(h.dir, fmt.Sprint(name, "-", n))
		if _, err := h.git(seed, "-c", "core.sshCommand="+h.ssh(r.user), "clone", "-q", r.url, dir); err != nil {
			return nil, err
		}
		if err := h.configure(dir, r); err != nil {
			return nil, err
		}
		dirs = append(dirs, dir)
	}
	c := &crowd{tips: map[string]bool{}}
	start := time.Now()
	errs := make([]error, len(dirs))
	var group sync.WaitGroup
	for n, dir := range dirs {
		group.Go(func() { errs[n] = h.work(c, dir) })
	}
	group.Wait()
	c.took = time.Since(start)
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return c, h.settle(c, dirs)
}

// work saves and syncs in one clone. --no-prune keeps every checkpoint.
func (h *host) work(c *crowd, dir string) error {
	for n := range h.saves {
		name := filepath.Join(dir, filepath.Base(dir)+".txt")
		if err := os.WriteFile(name, fmt.Appendf(nil, "%d\n", n), 0o666); err != nil {
			return err
		}
		if err := h.all(dir, "add ."); err != nil {
			return err
		}
		id, err := h.git(dir, "checkpoint", "save", "42", "-m", fmt.Sprint("save ", n), "--no-prune")
		if err != nil {
			return err
		}
		c.mu.Lock()
		c.saved = append(c.saved, id)
		c.mu.Unlock()
		if n%syncEvery == syncEvery-1 {
			h.sync(c, dir)
		}
	}
	return nil
}

func (h *host) sync(c *crowd, dir string) {
	start := time.Now()
	_, err := h.git(dir, "checkpoint", "sync", "42", "--yes")
	took := time.Since(start)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.longest = max(c.longest, took)
	if c.syncs++; err != nil {
		c.failed++
		fmt.Fprintln(os.Stderr, err)
	}
}

var ids = regexp.MustCompile(`CP-\S+`)

// settle syncs each clone twice, so that the first has the work of the last, and compares
// the clones with the server and with the printed ids.
func (h *host) settle(c *crowd, dirs []string) error {
	for range 2 {
		for _, dir := range dirs {
			h.sync(c, dir)
		}
	}
	for _, dir := range dirs {
		for _, args := range [][]string{{"rev-parse", "refs/checkpoints/42"}, {"ls-remote", "origin", "refs/checkpoints/42"}} {
			out, err := h.git(dir, args...)
			if err != nil {
				return err
			}
			tip, _, _ := strings.Cut(out, "\t")
			c.tips[tip] = true
		}
	}
	subjects, err := h.git(dirs[0], "log", "--format=%s", "refs/checkpoints/42")
	if err != nil {
		return err
	}
	has := map[string]bool{}
	for _, id := range ids.FindAllString(subjects, -1) {
		has[id] = true
	}
	for _, id := range c.saved {
		if !has[id] {
			c.lost++
		}
	}
	return h.all(dirs[0], "checkpoint verify 42", "fsck --strict --no-dangling")
}

// holds reports whether nothing failed or was lost.
func (c *crowd) holds() bool { return c.failed+c.lost == 0 && len(c.tips) == 1 }
