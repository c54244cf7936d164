//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// tables collects the rows of the three tables.
type tables struct {
	crowds, refusals, checks strings.Builder
	skipped                  []string
	failed                   bool
}

func (t *tables) skip(server, program string) {
	t.skipped = append(t.skipped, fmt.Sprintf("%s (%s)", server, program))
}

func (t *tables) fail(format string, args ...any) {
	t.failed = true
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}

// outcome returns the last cell of a row.
func (t *tables) outcome(name string, err error) string {
	if err != nil {
		t.fail("%s: %v", name, err)
		return "failed"
	}
	return "passed"
}

// add starts a server and adds its rows.
func (t *tables) add(ctx context.Context, h *host, s server) error {
	if err := os.MkdirAll(h.dir, 0o777); err != nil {
		return err
	}
	site, err := s.start(ctx, h)
	if err != nil {
		return err
	}
	for n, at := range site.transports {
		c, err := h.gather(fmt.Sprint("crowd", n), at.remote)
		if err != nil {
			return fmt.Errorf("%s: %w", at.name, err)
		}
		t.failed = t.failed || !c.holds()
		fmt.Fprintf(&t.crowds, "| %s | %s | %d | %d | %d | %d | %d | %d | %s | %s |\n", s.name, at.name, h.clones,
			len(c.saved), c.lost, c.syncs, c.failed, len(c.tips), c.took.Round(time.Second), c.longest.Round(time.Second))
	}
	for n, r := range site.refusals {
		message, err := h.try(fmt.Sprint("refused", n), r)
		outcome := t.outcome(s.name+": "+r.reason, err)
		fmt.Fprintf(&t.refusals, "| %s | %s | `%s` | %s |\n", s.name, r.reason, message, outcome)
	}
	for _, c := range site.checks {
		fmt.Fprintf(&t.checks, "| %s | %s | %s |\n", s.name, c.name, t.outcome(s.name+": "+c.name, c.run()))
	}
	return ctx.Err()
}

func (t *tables) print(w io.Writer) {
	head := "| server | transport | clones | saves | lost | syncs | failed | tips | time | longest sync |\n|---|---|---|---|---|---|---|---|---|---|\n"
	fmt.Fprintf(w, "%s%s", head, t.crowds.String())
	if t.refusals.Len() > 0 {
		fmt.Fprintf(w, "\n| server | refused push | message | outcome |\n|---|---|---|---|\n%s", t.refusals.String())
	}
	if t.checks.Len() > 0 {
		fmt.Fprintf(w, "\n| server | check | outcome |\n|---|---|---|\n%s", t.checks.String())
	}
	if len(t.skipped) > 0 {
		fmt.Fprintf(w, "\nNot installed: %s.\n", strings.Join(t.skipped, ", "))
	}
}
