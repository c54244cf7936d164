package list

import (
	"fmt"
	"strings"
	"time"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
)

// filters reports whether a flag filters the list.
func filters(c *invoke.Invocation) bool {
	for _, name := range []string{"trigger", "phase", "since", "before"} {
		if c.Flags.IsSet(name) {
			return true
		}
	}
	return len(c.Lists["filter"]) > 0 || c.Flags.Bool("failed")
}

// listFilter returns the filter of the flags. Records are read last, and only if a flag
// needs them.
func listFilter(c *invoke.Invocation) (func(*gitstore.Checkpoint) bool, error) {
	if n := c.Flags.Int("n"); c.Flags.IsSet("n") && n < 1 {
		return nil, exit.Usagef("list: -n: %d is not a number of checkpoints", n)
	}
	since, err := timeFlag(c, "since")
	if err != nil {
		return nil, err
	}
	before, err := timeFlag(c, "before")
	if err != nil {
		return nil, err
	}
	wanted, err := parseFilters(c.Lists["filter"])
	if err != nil {
		return nil, err
	}
	failed := c.Flags.Bool("failed")
	trigger, phase, inPhase := c.Flags.String("trigger"), c.Flags.String("phase"), c.Flags.IsSet("phase")
	return func(cp *gitstore.Checkpoint) bool {
		return (trigger == "" || string(cp.Trigger) == trigger) &&
			(!inPhase || cp.Phase == phase) && !cp.Created.Before(since) &&
			(!failed || cp.Filed.Why == retention.ReasonFailed) && (before.IsZero() || cp.Created.Before(before)) && recordHas(c, cp, wanted)
	}, nil
}

// A wanted is a path in a record and its required value.
type wanted struct{ path, value string }

func parseFilters(list []string) ([]wanted, error) {
	var all []wanted
	for _, s := range list {
		path, value, ok := strings.Cut(s, "=")
		if !ok || path == "" {
			return nil, exit.Usagef("list: --filter: %q: want PATH=VALUE", s)
		}
		all = append(all, wanted{path, value})
	}
	return all, nil
}

// recordHas reports whether a checkpoint's record has all wanted values. An unreadable
// record never matches.
func recordHas(c *invoke.Invocation, cp *gitstore.Checkpoint, all []wanted) bool {
	if len(all) == 0 {
		return true
	}
	r, err := c.Store.Record(cp)
	if err != nil {
		return false
	}
	for _, w := range all {
		if v, ok := r.Doc().Lookup(w.path); !ok || fmt.Sprint(v) != w.value {
			return false
		}
	}
	return true
}

// timeFlag parses a time flag. It returns the zero time if the flag is not set.
func timeFlag(c *invoke.Invocation, name string) (time.Time, error) {
	at, err := parseSince(c.Flags.String(name), c.Env.Now())
	if err != nil {
		return at, exit.Usagef("list: --%s: %w", name, err)
	}
	return at, nil
}

// parseSince parses a time, a date or an age.
func parseSince(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	var days int
	if n, err := fmt.Sscanf(s, "%dd", &days); n == 1 && err == nil && s == fmt.Sprintf("%dd", days) {
		return now.Add(-time.Duration(days) * 24 * time.Hour), nil
	}
	if d, err := time.ParseDuration(s); err == nil {
		return now.Add(-d), nil
	}
	return checkpoint.ParseTime(s)
}
