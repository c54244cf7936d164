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

// issueRows returns the rows about the number of issues. A row of a command for one issue
// compares the largest number with the smallest. The others compare each number with git.
func issueRows() []row {
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
			return side{argv: r.here("resume", r.many[0], "--offline", "--dry-run"), check: anything(0)}
		}},
		{"list", "list", func(r *repo) side {
			return side{argv: r.here("list", r.many[0], "-n", "1"), check: counts("", 1)}
		}},
		{"turn", "hook of an idle turn", func(r *repo) side { return r.agentHook("turn") }},
		{"stop", "hook of the end of a session", func(r *repo) side { return r.agentHook("stop") }},
		{"checkout", "post-checkout", postCheckout},
	} {
		list = append(list, row{
			name: "issues-" + c.name, store: kindIssues100k, once: true, figures: anywhere(1.5),
			what: c.what + " of one issue of 100,000", against: "of one issue of 100",
			run: func(ctx context.Context, r *repo) (result, error) {
				few, err := r.b.repo(ctx, kindIssues100, r.scale)
				if err != nil {
					return result{}, err
				}
				return r.pair(ctx, r.b.runs, c.side(r), c.side(few))
			},
		})
	}
	list = append(list, mainRows()...)
	for _, of := range issueKinds[:3] {
		list = append(list, allIssuesRows(of.name, of.kind)...)
		list = append(list, syncIssuesRows(of.name, of.kind)...)
	}
	return list
}

// syncIssuesRows returns the rows of a sync of all issues: with a remote that has none of them,
// and again with nothing to do.
func syncIssuesRows(number string, k kind) []row {
	return []row{
		{
			name: "issues-new-" + number, store: k, once: true, figures: anywhere(3),
			what: "sync --all of " + number + " new issues", against: "git push of the same refs",
			run: func(ctx context.Context, r *repo) (result, error) {
				ours, gits := &emptyRemote{r: r, name: "ours"}, &emptyRemote{r: r, name: "gits"}
				return r.pair(ctx, r.b.few(),
					side{prepare: ours.next, each: ours.sync, check: pushesEach(len(r.many))},
					side{prepare: gits.next, each: func(int) []string {
						return r.gits("push", "-q", gits.remote(), checkpointRefs+":"+checkpointRefs)
					}, check: silent})
			},
		},
		{
			name: "issues-idle-" + number, store: k, once: true, figures: anywhere(2),
			what: "sync --all of " + number + " issues, nothing to do", against: lsRemoteName,
			run: func(ctx context.Context, r *repo) (result, error) {
				e := &emptyRemote{r: r, name: "idle"}
				if err := e.next(ctx); err != nil {
					return result{}, err
				}
				if _, err := r.checkpoint(ctx, e.sync(0)[len(r.ours()):]...); err != nil {
					return result{}, err
				}
				return r.pair(ctx, r.b.few(),
					side{argv: e.sync(0), check: r.says("up to date", len(r.many))},
					side{argv: r.gits("ls-remote", e.remote(), checkpointRefs), check: counts("", len(r.many))})
			},
		},
	}
}

// pushesEach checks that each of n issues was pushed. Rows before may have saved to one of them.
func pushesEach(n int) func(string) error {
	return func(out string) error {
		if got := strings.Count(out, ": pushed "); got != n {
			return fmt.Errorf("%d issues were pushed, not %d", got, n)
		}
		return nil
	}
}

// An emptyRemote is a new remote for each run. It has the branch main and no checkpoints.
type emptyRemote struct {
	r    *repo
	name string
	n    int
}

func (e *emptyRemote) remote() string { return fmt.Sprintf("%s-%d", e.name, e.n) }

func (e *emptyRemote) sync(int) []string { return e.r.ours("sync", "--all", "--remote", e.remote()) }

func (e *emptyRemote) next(ctx context.Context) error {
	e.n++
	hub := filepath.Join(e.r.b.work, filepath.Base(e.r.dir)+"-"+e.remote()+".git")
	return try(
		e.r.quietly(ctx, "init", "--quiet", "--bare", hub),
		e.r.quietly(ctx, "remote", "add", e.remote(), hub),
		e.r.quietly(ctx, "push", "--quiet", e.remote(), "main"),
	)
}

// mainRows returns the rows of commands on a branch whose name holds no issue. They find the issues of
// the branch, or those that were saved last.
func mainRows() []row {
	var list []row
	for _, c := range []struct {
		name, what string
		side       func(*repo) side
	}{
		{"status", "status", func(r *repo) side {
			return side{argv: r.here("status", "--offline"), check: shows50(len(r.many))}
		}},
		{"turn", "hook of an idle turn", func(r *repo) side { return r.agentHook("turn") }},
		{"stop", "hook of the end of a session", func(r *repo) side { return r.agentHook("stop") }},
		{"start", "hook of the start of a session", func(r *repo) side { return r.agentHook("session-start") }},
		{"checkout", "post-checkout", postCheckout},
	} {
		onMain := func(r *repo) side {
			s := c.side(r)
			s.prepare = r.onMain()
			return s
		}
		list = append(list, row{
			name: "main-" + c.name, store: kindIssues100k, once: true, figures: anywhere(1.5),
			what: c.what + " on main, 100,000 issues", against: "100 issues",
			run: func(ctx context.Context, r *repo) (result, error) {
				few, err := r.b.repo(ctx, kindIssues100, r.scale)
				if err != nil {
					return result{}, err
				}
				return r.pair(ctx, r.b.runs, onMain(r), onMain(few))
			},
		})
	}
	return list
}

// postCheckout returns a side that runs the hook of a checkout.
func postCheckout(r *repo) side {
	hash := strings.Repeat("1", 40)
	return side{argv: r.here("hook", "post-checkout", "--", hash, hash, "1"), check: silent}
}

// allIssuesRows returns the rows of commands that read all issues.
func allIssuesRows(number string, k kind) []row {
	const tips = "--format=%(refname)%0a%(trailers)"
	var list []row
	for _, c := range []struct {
		name, what string
		args       []string
		prepare    func(*repo) func(context.Context) error
		check      func(n int) func(string) error
		git        []string
		gitCheck   func(n int) func(string) error
	}{
		{"overview", "list", []string{"list"}, (*repo).onMain, shows50, []string{"for-each-ref", "--sort=-committerdate", "--count=50", "refs/checkpoints/"}, shows50},
		{"all", "list --all", []string{"list", "--all"}, nil, linesOf("issue "), []string{"for-each-ref", tips, "refs/checkpoints/"}, linesOf("Checkpoint-Id: ")},
		{"prune", "prune --all", []string{"prune", "--all"}, nil, linesOf("issue "), []string{"for-each-ref", tips, "refs/checkpoints/"}, linesOf("Checkpoint-Id: ")},
		{"verify", "verify", []string{"verify"}, nil, noErrors, []string{"rev-list", "--objects", "--glob=refs/checkpoints/*"}, anything},
		{"doctor", "doctor", []string{"doctor"}, nil, noErrors, []string{"fsck", "--connectivity-only"}, anything},
	} {
		list = append(list, row{
			name: "issues-" + c.name + "-" + number, store: k, once: true,
			what: c.what + ", " + number + " issues", against: "git " + strings.Join(c.git, " "),
			run: func(ctx context.Context, r *repo) (result, error) {
				n := len(r.many)
				ours := side{argv: r.here(c.args...), check: c.check(n)}
				if c.prepare != nil {
					ours.prepare = c.prepare(r)
				}
				return r.pair(ctx, r.b.few(), ours, side{argv: r.gits(c.git...), check: c.gitCheck(n)})
			},
		})
	}
	return list
}

// here returns argv of git-checkpoint in this repository.
func (r *repo) here(args ...string) []string {
	return append(r.ours("-C", r.dir), args...)
}

// onMain returns a step that switches to a branch without an issue.
func (r *repo) onMain() func(context.Context) error {
	return func(ctx context.Context) error { return r.quietly(ctx, "switch", "--quiet", "main")() }
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

// shows50 checks that the overview has a line for each of 50 issues.
func shows50(n int) func(string) error { return counts("", min(n, 50)) }

// noErrors checks that checkpoints were checked, without an error.
func noErrors(int) func(string) error {
	return func(out string) error { return matches(out, ` checkpoints checked, 0 errors`) }
}

func anything(int) func(string) error { return func(string) error { return nil } }
