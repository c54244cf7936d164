package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// issueKinds are the repositories with many issues of one checkpoint each, by the name of their
// number. Refs and objects are packed.
var issueKinds = []struct {
	name string
	kind kind
}{{"100", kindIssues100}, {"1k", kindIssues1k}, {"10k", kindIssues10k}, {"100k", kindIssues100k}}

// issuesOf returns the number of issues of a kind of repository, or 0 for other kinds.
func (b *bench) issuesOf(k kind) int {
	for i, of := range issueKinds {
		if of.kind == k {
			return b.lengths.issues[i]
		}
	}
	return 0
}

// packIssues packs the refs, and switches to the branch of the first issue. It removes the notes
// about the template, which a command would restore.
func (r *repo) packIssues(ctx context.Context) error {
	return try(
		func() error { return os.RemoveAll(filepath.Join(r.dir, ".git", "git-checkpoint")) },
		r.quietly(ctx, "pack-refs", "--all", "--prune"),
		r.quietly(ctx, "config", "checkpoint.issue-source", "none"),
		r.quietly(ctx, "switch", "--quiet", "--create", "feature/issue-"+r.many[0]),
	)
}

// compared returns a run that compares a command in a repository with the same command in a
// repository with fewer issues.
func compared(fewer kind, runs func(*bench) int, of func(*repo) side) func(context.Context, *repo) (result, error) {
	return func(ctx context.Context, r *repo) (result, error) {
		few, err := r.b.repo(ctx, fewer, r.scale)
		if err != nil {
			return result{}, err
		}
		return r.pair(ctx, runs(r.b), of(r), of(few))
	}
}

// oneIssueRows returns the rows of commands for one issue.
func oneIssueRows() []row {
	var list []row
	for _, c := range []struct {
		name, what string
		side       func(*repo) side
	}{
		{"save", "save", func(r *repo) side {
			return side{argv: r.here("save", r.many[0], "-m", "a note"), check: counts("CP-", 1)}
		}},
		{"status", "status", func(r *repo) side {
			return side{argv: r.here("status", r.many[0], "--offline"), check: counts("Resume: ", 1)}
		}},
		{"resume", "resume --dry-run", func(r *repo) side {
			return side{argv: r.here("resume", r.many[0], "--offline", "--dry-run"), check: anything}
		}},
		{"list", "list", func(r *repo) side {
			return side{argv: r.here("list", r.many[0], "-n", "1"), check: counts("", 1)}
		}},
		{"turn", "hook of an idle turn", func(r *repo) side { return r.agentHook("turn") }},
		{"stop", "hook of the end of a session", func(r *repo) side { return r.agentHook("stop") }},
		{"checkout", "post-checkout", postCheckout},
	} {
		for _, of := range []struct {
			name, number string
			kind         kind
			target       float64
		}{{"10k", "10,000", kindIssues10k, 1.1}, {"100k", "100,000", kindIssues100k, 1.5}} {
			list = append(list, row{
				name: "issue-" + c.name + "-" + of.name, store: of.kind, once: true, targets: anywhere(of.target),
				what: c.what + " of one issue of " + of.number, against: "of one issue of 100",
				run: compared(kindIssues100, func(b *bench) int { return b.runs }, c.side),
			})
		}
	}
	return list
}

// allIssuesRows returns the rows of commands that read all issues. They are linear: ten times the
// issues take ten times as long, with a tenth of noise.
func allIssuesRows() []row {
	var list []row
	for _, c := range []struct {
		name, what string
		args       []string
		check      func(n int) func(string) error
	}{
		{"all", "list --all", []string{"list", "--all"}, linesOf("issue ")},
		{"verify", "verify", []string{"verify"}, noErrors},
		{"doctor", "doctor", []string{"doctor"}, noErrors},
		{"prune", "prune --all", []string{"prune", "--all"}, linesOf("issue ")},
	} {
		list = append(list, row{
			name: "issues-" + c.name, store: kindIssues10k, once: true, targets: anywhere(11),
			what: c.what + ", 10,000 issues", against: "1,000 issues",
			run: compared(kindIssues1k, (*bench).few, func(r *repo) side {
				return side{argv: r.here(c.args...), check: c.check(len(r.many))}
			}),
		})
	}
	return list
}

// agentHook returns a side that runs the hook of an agent without changed files.
func (r *repo) agentHook(name string) side {
	input, _ := json.Marshal(map[string]string{"session_id": "0d5a0e0e-3d0c-4f86-8f6c-0d3f5a9b7c12", "cwd": r.dir})
	return side{argv: r.here("hook", name, "claude"), stdin: string(input), check: silent}
}

// linesOf returns checks for one line with a prefix for each issue.
func linesOf(prefix string) func(n int) func(string) error {
	return func(n int) func(string) error { return counts(prefix, n) }
}

// noErrors checks that checkpoints were checked, without an error.
func noErrors(int) func(string) error {
	return func(out string) error { return matches(out, ` checkpoints checked, 0 errors`) }
}

const checkpointRefs = "refs/checkpoints/*"

// syncRows returns the rows of a sync of all issues, for each number of issues: to a remote that
// has none of them, with nothing to do, and in a new clone.
func syncRows() []row {
	var list []row
	for _, of := range issueKinds[:3] {
		list = append(list,
			row{
				name: "sync-new-" + of.name, store: of.kind, once: true, run: runSyncNew, targets: anywhere(3),
				what: "sync --all of " + of.name + " new issues", against: "git push of the same refs",
			},
			row{
				name: "sync-idle-" + of.name, store: of.kind, once: true, run: runSyncIdle, targets: anywhere(2.5),
				what: "sync --all of " + of.name + " issues, nothing to do", against: "git ls-remote of the same refs",
			},
			row{
				name: "sync-first-" + of.name, store: of.kind, once: true, run: runSyncFirst, targets: anywhere(2),
				what: "sync --all of " + of.name + " issues in a new clone", against: "git fetch of the same refs",
			},
		)
	}
	return list
}

// A hub is a remote with the branch main.
type hub struct {
	r    *repo
	name string // of the remote, without its number
	n    int
}

func (h *hub) remote() string { return fmt.Sprintf("%s-%d", h.name, h.n) }

func (h *hub) dir() string {
	return filepath.Join(h.r.b.work, filepath.Base(h.r.dir)+"-"+h.remote()+".git")
}

func (h *hub) sync(int) []string { return h.r.ours("sync", "--all", "--remote", h.remote()) }

func (h *hub) push(int) []string {
	return h.r.gits("push", "-q", h.remote(), checkpointRefs+":"+checkpointRefs)
}

// next makes another hub without checkpoints.
func (h *hub) next(ctx context.Context) error {
	h.n++
	return try(
		h.r.quietly(ctx, "init", "--quiet", "--bare", "--initial-branch=main", h.dir()),
		h.r.quietly(ctx, "remote", "add", h.remote(), h.dir()),
		h.r.quietly(ctx, "push", "--quiet", h.remote(), "main"),
	)
}

func runSyncNew(ctx context.Context, r *repo) (result, error) {
	ours, gits := &hub{r: r, name: "ours"}, &hub{r: r, name: "gits"}
	pushed := func(out string) error { // rows before may have saved to one of the issues
		if got := strings.Count(out, ": pushed "); got != len(r.many) {
			return fmt.Errorf("%d issues were pushed, not %d", got, len(r.many))
		}
		return nil
	}
	return r.pair(ctx, r.b.few(),
		side{prepare: ours.next, each: ours.sync, check: pushed},
		side{prepare: gits.next, each: gits.push, check: silent})
}

func runSyncIdle(ctx context.Context, r *repo) (result, error) {
	h := &hub{r: r, name: "idle"}
	if err := h.next(ctx); err != nil {
		return result{}, err
	}
	if _, err := r.b.do(ctx, r.dir, nil, h.sync(0)...); err != nil {
		return result{}, err
	}
	same := func(out string) error {
		if n := strings.Count(out, ": up to date\n"); n != len(r.many) {
			return fmt.Errorf("%d issues are up to date, not %d", n, len(r.many))
		}
		return nil
	}
	return r.pair(ctx, r.b.few(),
		side{argv: h.sync(0), check: same},
		side{argv: r.gits("ls-remote", h.remote(), checkpointRefs), check: counts("", len(r.many))})
}

func runSyncFirst(ctx context.Context, r *repo) (result, error) {
	h := &hub{r: r, name: "first"}
	if err := h.next(ctx); err != nil {
		return result{}, err
	}
	if _, err := r.b.do(ctx, r.dir, nil, h.push(0)...); err != nil {
		return result{}, err
	}
	ours, gits := &clones{hub: h, name: "ours"}, &clones{hub: h, name: "gits"}
	return r.pair(ctx, r.b.few(),
		side{
			prepare: ours.next,
			each:    func(int) []string { return r.ours("-C", ours.dir, "sync", "--all") },
			check: func(out string) error {
				if got := strings.Count(out, ": fetched "); got != len(r.many) {
					return fmt.Errorf("%d issues were fetched, not %d", got, len(r.many))
				}
				return nil
			},
		},
		side{
			prepare: gits.next,
			each: func(int) []string {
				return r.gits("-C", gits.dir, "fetch", "-q", "origin", checkpointRefs+":"+checkpointRefs)
			},
			check: silent,
		})
}

// clones make a new clone of a hub for each run, without checkpoints.
type clones struct {
	hub  *hub
	name string
	n    int
	dir  string
}

func (c *clones) next(ctx context.Context) error {
	c.n++
	c.dir = filepath.Join(c.hub.r.b.work, fmt.Sprintf("%s-clone-%s-%d", filepath.Base(c.hub.r.dir), c.name, c.n))
	_, err := c.hub.r.git(ctx, "clone", "--quiet", "--no-checkout", "--branch=main", "file://"+c.hub.dir(), c.dir)
	return err
}
