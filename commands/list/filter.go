package list

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/claude"
)

func (o *listOptions) filtered() bool {
	return o.trigger != "" || o.phaseGiven || o.since != "" || o.before != "" || len(o.filters) > 0 || len(o.paths) > 0 || o.content != "" || o.grep != "" || o.failed || o.workflow.Type != ""
}

// searches reports whether a flag looks for a text or a change, so that the archive is searched too.
func (o *listOptions) searches() bool { return len(o.paths) > 0 || o.content != "" || o.grep != "" }

// listFilter returns the filter of the flags. Records are read last, and only if a flag
// needs them.
func listFilter(c *invoke.Invocation, o *listOptions) (func(*gitstore.Checkpoint) bool, error) {
	if o.limitGiven && o.limit < 1 {
		return nil, failure.Usagef("list: -n: %d is not a number of checkpoints", o.limit)
	}
	since, err := timeFlag("since", o.since, c.Env.Now())
	if err != nil {
		return nil, err
	}
	before, err := timeFlag("before", o.before, c.Env.Now())
	if err != nil {
		return nil, err
	}
	var all []wanted
	for _, s := range o.filters {
		path, value, ok := strings.Cut(s, "=")
		if !ok || path == "" {
			return nil, failure.Usagef("list: --filter: %q: want PATH=VALUE", s)
		}
		all = append(all, wanted{path, value})
	}
	if (len(o.paths) > 0 || o.content != "") && o.remote.Given() {
		return nil, failure.Usagef("list: --path and --content compare the states of this clone: omit --remote")
	}
	changed := work.ChangeFilter(c.Ctx, c.Store, gitstore.ChangeQuery{Paths: o.paths, Content: o.content}, func(err error) {
		o.notSearched = errors.Join(o.notSearched, err)
	})
	return func(cp *gitstore.Checkpoint) bool {
		return (o.trigger == "" || string(cp.Trigger) == o.trigger) &&
			(!o.phaseGiven || cp.Phase == o.phase) && !cp.Created.Before(since) &&
			(!o.failed || isFailure(c, cp)) && (before.IsZero() || cp.Created.Before(before)) && o.hasRecord(c, cp, all) && work.HasText(c.Store, cp, o.grep) && changed(cp)
	}, nil
}

// isFailure reports whether an archived checkpoint is of a workflow that failed, by the
// rules of its layout.
func isFailure(c *invoke.Invocation, cp *gitstore.Checkpoint) bool {
	if work.IsFailure("", cp) {
		return true
	}
	if !work.IsFailure(claude.Name, cp) {
		return false
	}
	r, err := c.Store.Record(cp)
	as := layout.Name(c.Settings.String("mirror"))
	if err == nil && r.Layout() != "" {
		as = layout.Name(r.Layout())
	}
	return work.IsFailure(as, cp)
}

// A wanted is a path in a record and its required value.
type wanted struct{ path, value string }

// hasRecord reports whether a checkpoint's record has all wanted values, and is of a workflow of
// --type if that is given. An unreadable record never matches.
func (o *listOptions) hasRecord(c *invoke.Invocation, cp *gitstore.Checkpoint, all []wanted) bool {
	if len(all) == 0 && o.workflow.Type == "" {
		return true
	}
	r, err := c.Store.Record(cp)
	return err == nil && (o.workflow.Type == "" || o.workflow.Match(r) > 0) && !slices.ContainsFunc(all, func(w wanted) bool {
		v, ok := r.Doc().Lookup(w.path)
		return !ok || fmt.Sprint(v) != w.value
	})
}

// timeFlag parses a time, a date or an age. It returns the zero time if the flag is not set.
func timeFlag(name, value string, now time.Time) (at time.Time, err error) {
	if value == "" {
		return at, nil
	}
	var days int
	if n, err := fmt.Sscanf(value, "%dd", &days); n == 1 && err == nil && value == fmt.Sprintf("%dd", days) {
		return now.Add(-time.Duration(days) * 24 * time.Hour), nil
	}
	if d, err := time.ParseDuration(value); err == nil {
		return now.Add(-d), nil
	}
	if at, err = checkpoint.ParseTime(value); err != nil {
		err = failure.Usagef("list: --%s: %q: want a time (RFC 3339), a date, or an age such as 36h or 7d", name, value)
	}
	return at, err
}
