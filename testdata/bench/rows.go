package main

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A row is one performance target.
type row struct {
	name    string
	what    string
	against string
	store   kind
	once    bool               // does not depend on the number of files: runs at the smallest size only
	targets map[string]float64 // limits of the ratio by size; "" applies to any size
	run     func(context.Context, *repo) (result, error)
}

// target returns the row's limit at a size, or 0. A tiny repository has no limits.
func (w row) target(s scale) float64 {
	if s == tiny {
		return 0
	}
	return cmp.Or(w.targets[s.name], w.targets[""])
}

func bySize(few, some, many float64) map[string]float64 {
	return map[string]float64{"1k": few, "10k": some, "100k": many}
}

func anywhere(target float64) map[string]float64 { return map[string]float64{"": target} }

const stashName = "git stash create"

// rows lists all rows in table order.
var rows = slices.Concat([]row{
	{
		name: "save", store: kindSave, run: runSave, targets: bySize(1.7, 1.2, 0.95),
		what: "save, ten changed files and one new", against: stashName,
	},
	{
		name: "save-untracked", store: kindUntracked, run: runSaveUntracked, targets: anywhere(1.1),
		what: "second save, 5,000 untracked files", against: stashName + ", git ls-files --others",
	},
	{
		name: "turn-idle", store: kindTurns, run: runTurnIdle, targets: bySize(2, 1.5, 1.2),
		what: "hook of a turn without a change", against: "git status --porcelain",
	},
	{
		name: "turn", store: kindTurns, run: runTurn, targets: bySize(1.3, 1, 0.9),
		what: "hook of a turn, 3 changed and 2 untracked files", against: stashName,
	},
	{
		name: "status", store: kindSave, run: runStatus, targets: bySize(2.5, 1.6, 1.4),
		what: "status, ten changed files", against: "git status --porcelain",
	},
	{
		name: "restore", store: kindSave, run: runRestore, targets: anywhere(1.5),
		what: "restore of ten files", against: "git stash apply of the same",
	},
	{
		name: "save-long", store: kindSave, run: runSaveLong, targets: anywhere(1.1),
		what: "save on the long chain", against: "save on the short chain",
	},
	{
		name: "list-packed", store: kindSave, once: true, run: runList, targets: anywhere(2),
		what: "list of the long chain, packed", against: logName,
	},
	{
		name: "list-20", store: kindSave, once: true, run: runListNewest, targets: anywhere(3.5),
		what: "list -n 20 of the long chain", against: logName + " -n 20",
	},
}, oneIssueRows(), allIssuesRows(), syncRows(), []row{
	{
		name: "blame", store: kindGrown, once: true, run: runBlame, targets: anywhere(1.3),
		what: "blame of 20 lines after many turns", against: "git blame of a commit for each turn",
	},
	{
		name: "blame-first", store: kindGrown, once: true, run: runBlameFirst, targets: anywhere(2),
		what: "the first blame after many turns", against: "git blame of a commit for each turn",
	},
	{
		name: "version", store: kindSave, once: true, run: runVersion, targets: anywhere(2),
		what: "version", against: "a Go program that prints a line",
	},
	{
		name: "prepush", store: kindSave, once: true, run: runPrePush, targets: anywhere(5),
		what: "pre-push with nothing to do", against: "git rev-parse HEAD",
	},
	{
		name: "postcheckout", store: kindSave, once: true, run: runPostCheckout, targets: anywhere(5),
		what: "post-checkout with nothing to do", against: "git rev-parse HEAD",
	},
	{
		name: "push", store: kindSave, run: runPush,
		what: "objects of a first push", against: "at most 8 more than a push of " + stashName,
	},
})

const logName = "git log --first-parent --format=%H%n%B"

func rowNames() []string {
	names := make([]string, len(rows))
	for i, w := range rows {
		names[i] = w.name
	}
	return names
}

// ours returns argv of a git-checkpoint command.
func (r *repo) ours(args ...string) []string { return append([]string{r.b.binary}, args...) }

// here returns argv of git-checkpoint in this repository.
func (r *repo) here(args ...string) []string {
	return append(r.ours("-C", r.dir), args...)
}

// gits returns argv of a git command.
func (r *repo) gits(args ...string) []string { return append([]string{r.b.git}, args...) }

func printsID(out string) error { return matches(out, `^CP-[a-z0-9_]+-\d{8}T\d{6}Z-[0-9a-f]{8}\n$`) }

func printsHash(out string) error { return matches(out, `^[0-9a-f]{40,64}\n$`) }

// silent checks that a command printed no output.
func silent(out string) error { return counts("", 0)(out) }

func anything(string) error { return nil }

func matches(out, pattern string) error {
	if !regexp.MustCompile(pattern).MatchString(out) {
		return fmt.Errorf("it printed %.200q, which is not %s", out, pattern)
	}
	return nil
}

// counts returns a check for the number of output lines with a prefix.
func counts(prefix string, want int) func(string) error {
	return func(out string) error {
		n := 0
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, prefix) {
				n++
			}
		}
		if n != want {
			return fmt.Errorf("it printed %d lines with %q, not %d", n, prefix, want)
		}
		return nil
	}
}

// growing measures a pair whose first side saves. It checks that each run extends the
// issue's chain by a commit.
func (r *repo) growing(ctx context.Context, issue string, ours, gits side) (result, error) {
	before, err := r.length(ctx, issue)
	if err != nil {
		return result{}, err
	}
	res, err := r.pair(ctx, r.b.runs, ours, gits)
	if err != nil {
		return result{}, err
	}
	after, err := r.length(ctx, issue)
	if want := before + r.b.runs + r.b.warmups; err == nil && after != want {
		err = fmt.Errorf("the chain of %d commits has %d now, not %d", before, after, want)
	}
	return res, err
}

// length counts the commits of an issue's chain.
func (r *repo) length(ctx context.Context, issue string) (int, error) {
	out, err := r.git(ctx, "rev-list", "--first-parent", "--count", "refs/checkpoints/"+issue)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(out)
}

// captured checks that the newest checkpoint's state differs from HEAD in n files.
func (r *repo) captured(ctx context.Context, issue string, n int) error {
	out, err := r.git(ctx, "diff", "--name-only", "HEAD", "refs/checkpoints/"+issue+":state")
	if err != nil {
		return err
	}
	return counts("", n)(out + "\n")
}
