package view

import (
	"encoding/json"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/tasks"
	"git-checkpoint/gitstore/diff"
	"git-checkpoint/gitstore/retention"
)

var (
	id     = "CP-implementing-20260214T143000Z-1f0c9a2b"
	older  = "CP-enrich-20260213T090000Z-00c0ffee"
	commit = "0123456789abcdef0123456789abcdef01234567"
	made   = time.Date(2026, 2, 14, 15, 30, 0, 123456789, time.FixedZone("", 3600))
)

func saved(kind string) Save {
	return Save{
		Type: kind, CheckpointID: id, Issue: "42", Commit: commit, Ref: "refs/checkpoints/42", Trigger: "batch_complete",
		Phase: "implementing", CreatedAt: made, Files: 3, Pruned: []string{older}, Warnings: []string{"a <b> & \"c\""},
	}
}

func status(kind string) Status {
	return Status{
		Type: kind, CheckpointID: id, Issue: "PROJ-42", Action: "prompt_user", CanResume: true, Warnings: []string{"w"},
		Reasons:    []ReasonRecord{{Check: "body", Severity: "question", Message: "Issue body modified since checkpoint"}},
		ResumeFrom: "batch_3_task_1", CurrentPhase: "implementing", CompletedPhases: []string{"enrich", "ready"},
		Remaining: []string{"validation"}, Batches: Batches{[]int{1, 2}, 3, [][]string{{"T4"}, {"T5", "T6"}}}, Stories: []Story{{"AB-1", "STAGE_2", 1, "they differ"}, {"AB-2", "", 0, ""}}, PendingCaptures: []string{"KE-1"}, Changed: []string{"src/a.go"},
		AutoResume: true, AutoResumeReason: "All conditions met", AwaitingApproval: []string{"design"},
		SkippedPhases: []string{"docs"}, Replans: map[string]int{"ready": 2}, PreservedMinutes: 12.5, Next: "respawn:pm",
		ArtifactPaths: json.RawMessage(`{"test_results":"out"}`), ContextMetadata: json.RawMessage(`{"plan_metadata":{}}`),
		SessionID: "ses_1", SessionAgent: "claude", SessionTranscript: "/home/u/t.jsonl", SessionCommand: "claude --resume ses_1", NotPushed: "not pushed: origin does not answer",
		Artifacts: []progress.Of{{Phase: "ready", Artifact: progress.Artifact{Path: "plan.md", Size: 12, Digest: "blob:0123", Title: "The plan"}}, {Phase: "ready", Artifact: progress.Artifact{Path: "old.md"}}},
		Tokens:    &use.Tokens, Spent: []checkpoint.Spent{use, {Tokens: checkpoint.Tokens{Output: 1}}},
		SavedBy: "Ann", WentBack: &WentBack{id, "Ann", made, []string{older}}, Parallel: parallel, Fork: fork,
	}
}

var fork = &checkpoint.Fork{Issue: "42", ID: checkpoint.ID(older), Name: "a"}

var use = checkpoint.Spent{Agent: "claude", Model: "claude-big-1", Phase: "implementing", Tokens: checkpoint.Tokens{Input: 1000, Output: 200, CacheRead: 30000, CacheWrite: 4000}}

var parallel = []Parallel{{older, "Ann", made, []string{"src/a.go"}, "", "git checkpoint restore 42 1f0c9a2b --changed merge"}}

func record() *checkpoint.Record {
	r, err := checkpoint.Decode([]byte("checkpoint_id: " + id + "\nversion: \"1.0\"\nissue_number: 42\nmine: {b: 1.50, a: \"<\\u202e>\"}\n"))
	if err != nil {
		panic(err)
	}
	return r
}

// samples returns one complete record of each type. It also returns an empty record if
// its encoding differs. Keys are names of golden files.
func samples() map[string]any {
	r := record()
	step := func(kind string) WorkflowStep {
		return WorkflowStep{saved(kind), Progress{Current: "implementing", Completed: []string{"enrich"}, Skipped: []string{"ready"}, Remaining: []string{"docs"}, Total: 4, Replans: map[string]int{"enrich": 2}, Awaiting: []string{"docs"}}}
	}
	result := func(kind, done string) ActionResult {
		return ActionResult{Type: kind, Issue: "42", CheckpointIDs: []string{id}, Result: done}
	}
	synced := func(kind string) Sync {
		return Sync{Type: kind, DryRun: true, Remote: "origin", Issues: []Synced{{"42", 1, 2, true, "joined", 4, 1}, {Issue: "43", Result: "up to date"}}}
	}
	checked := func(kind string) Verify {
		return Verify{Type: kind, Errors: []string{"e"}, Warnings: []string{"w"}, Checked: 7, Fixed: []string{"f"}}
	}
	summaries := []IssueSummary{
		{"42", id, made, "feature/issue-42", true, "prompt_user", false, "phase 2 of 3 (implementing)", "implementing", []string{"ready"}, []string{"implementing", "docs"}, "a note"},
		{Issue: "9"},
	}
	return map[string]any{
		"save": saved("save"), "start": saved("start"), "run": saved("run"),
		"save-dry-run": Save{Type: "save", DryRun: true, Issue: "42", Trigger: "manual", Files: 1},
		"save-skipped": Save{Type: "save", Issue: "42", Trigger: "agent_complete", Skipped: "trigger agent_complete is off (default)"},
		"phase":        step("phase"), "task": Tasks{
			step("task"),
			[]tasks.Task{{ID: "T1", Status: "failed", Attempts: 2, Output: "out/T1.json", Error: "no disk", Needs: []string{"T0"}, By: "worker 7", WaitsFor: "T0"}, {ID: "T2", Status: "pending"}},
			[][]string{{"T1"}, {"T2", "T3"}},
			[]string{"T4"},
		}, "finish": step("finish"), "finish-empty": WorkflowStep{Save: Save{Type: "finish"}},
		"list": CheckpointList{Type: "list", Issue: "42", Latest: id, TotalCheckpoints: 2, Parallel: parallel, Fork: fork, Checkpoints: []ListRow{
			{Listed{id, "42", commit, made, made, "manual", "implementing", "feature/issue-42", true, true, false, true, false, false, nil, "caf\u00e9\nsecond line", "Ann"}, new(17), new(2), new(12), new(0), "ses_1", "claude", []string{"a.go", "b.go"}, []checkpoint.Spent{use}, []string{id}},
			{Listed: Listed{Commit: commit, Note: "\x1b[31m\u202e\u009b\U000e0041\xff"}},
		}},
		"list-overview":   ListOverview{CheckpointList{Type: "list"}, summaries, 3},
		"list-operations": Operations{CheckpointList{Type: "list"}, []Operation{{2, "undone", "adopt", []string{"42", "42+a"}, made, id, "refs/git-checkpoint/operations/_main/0000000002", false}, {Number: 1, State: "done", Command: "drop", Issues: []string{"42"}, At: made, Ref: "refs/git-checkpoint/operations/w-x/0000000001", Gone: true}}},
		"status-overview": StatusOverview{Status{Type: "status"}, summaries, 3},
		"list-empty":      CheckpointList{Type: "list"},
		"show":            Show{"show", r, commit, "Ann", true, []string{commit}, parallel, fork},
		"show-value":      Value{"show", id, "note", "text", commit},
		"diff": CheckpointDiff{"diff", older, id, []diff.FieldChange{
			{Path: "workflow_state.phase_attempt", Op: diff.Changed, Old: checkpoint.Number("1"), New: checkpoint.Number("2")},
			{Path: "note", Op: diff.Added, New: "text"},
			{Path: "mine", Op: diff.Removed, Old: mustLookup(r, "mine")},
			{Path: "list", Op: diff.Changed, Old: []any{}, New: []any{"x", true, nil}},
		}, []FileChange{{"src/a.go", "modified", "", new(12), new(0)}, {"b.go", "renamed", "a.go", nil, nil}}, new(2), new(12), new(0)},
		"diff-empty": CheckpointDiff{Type: "diff"},
		"bisect":     Bisect{"bisect", "42", id, older, new(7), "claude", "0d5a0e0e", "fix the parser", 5, 1, true, "git checkpoint restore 42 " + older},
		"fork":       Fork{"fork", true, "42", id, []ForkEntry{{"42+a", "a", older, "issue-42-a", "/w-a"}, {Issue: "42+b", Name: "b"}}},
		"compare": Compare{"compare", "42", []AttemptRecord{
			{"42+a", id, "failed", new(2), new(3), new(12), new(4), new(90), 5, nil, false}, {Issue: "42+b", CheckpointID: older, Best: true},
		}},
		"adopt": Adopt{"adopt", true, "42", "42+a", id, []string{"a", "d"}, []string{"d"}, []string{"b"}, []string{"c"}, []string{"a"}, []string{"42+b"}, "refs/git-checkpoint/operations/_main/0000000001"},
		"blame": Blame{"blame", "42", "src/parser.go", []BlameSource{
			{Checkpoint: id, Trigger: "turn", Turn: new(7), Agent: "claude", Session: "0d5a0e0e", Request: "fix the parser", Author: "Ann", Time: made, Summary: "fix the parser", Saved: true},
			{Commit: commit, Author: "Ann", Time: made, Summary: "first", Saved: true},
			{},
		}, []BlameLine{{1, 0, "package src"}, {2, 2, ""}}},
		"status": status("status"), "status-empty": Status{Type: "status", Action: "none"},
		"resume":       Resume{status("resume"), true, []string{"src/a.go", "b.go"}, []string{"b.go"}, []string{"src/a.go"}, "refs/git-checkpoint/operations/_main/0000000001", r, 2, []string{"state:docs"}, []string{"state:ready"}, []string{"codex", "Continue"}},
		"resume-empty": Resume{Status: Status{Type: "resume", Action: "none"}},
		"restore":      Restore{"restore", true, id, []string{"a", "d"}, []string{"d"}, []string{"b"}, []string{"c"}, []string{"e"}, []checkpoint.Skipped{{Path: "g", Size: 5, Reason: "larger than 4 bytes", CarriedFrom: checkpoint.ID(older)}}, []string{"f"}, []string{"a"}, []SessionFile{{"f", "ses_1", "claude"}}, "refs/git-checkpoint/operations/_main/0000000001", []string{"git diff"}, "nothing to restore: the changes of the checkpoint are here", true},
		"prune":        Prune{"prune", "1f0c9a2b", true, []Decision{{retention.Decision{ID: checkpoint.ID(id), Keep: true, Rule: "tip"}, "42"}, {retention.Decision{ID: checkpoint.ID(older), Rule: "batch_complete: newest 3 per phase"}, "42"}}, []string{older}, []string{id}},
		"prune-empty":  Prune{Type: "prune"},
		"pin":          result("pin", "pinned"), "drop": result("drop", "dropped"), "archive": result("archive", "archived"),
		"undo": Undo{"undo", "42", []string{}, "restore", true, made, id, []string{"a", "d"}, []string{"d"}, []string{"b", "c"}, []string{"c"}, 7, "main"},
		"redo": Undo{Type: "redo", Issue: "42", CheckpointIDs: []string{id}, Result: "drop", At: made, Number: 8},
		"sync": synced("sync"), "push": synced("push"), "fetch": synced("fetch"),
		"verify": checked("verify"), "doctor": Doctor{checked("doctor"), []Size{{"42", 7, 4096}}}, "verify-empty": Verify{Type: "verify", Valid: true},
		"scan":    Scan{"scan", []gitstore.Secret{{ID: checkpoint.ID(id), Path: "checkpoint.yaml", Line: 3, Rule: "aws-key"}}, []Skipped{{"untracked/a.zip", "compressed"}}},
		"import":  Import{"import", true, "crunch", []string{id}, []Skipped{{"x.yaml", "no record"}}, []string{"w"}},
		"tuple":   Tuple{"tuple", "42", "CP-b", "CP-a", "abc", Listed{CheckpointID: "CP-b", Issue: "42"}, nil},
		"export":  Export{"export", "42", "crunch", "/w", []string{"a.yaml"}, []string{"b.yaml"}, "states-of-42", commit, []string{"w"}},
		"web":     Web{"web", "http://127.0.0.1:8042/?token=x", true, "", nil},
		"config":  Config{"config", []Setting{{"push", "never", "default"}}},
		"version": Version{"version", "v1.0.0", commit, "2026-02-14", "go1.26", "1.0"},
		"hooks": Hooks{
			"hooks", "status", false,
			[]string{"write .git/hooks/pre-push"},
			[]Kept{{".claude/settings.json", ".git/git-checkpoint/before/settings.json-0123abcd"}},
			[]Hook{{"pre-push", "file", ".git/hooks/pre-push", "lefthook", true, "", "push"}, {Event: "post-checkout", Setting: "tell"}},
			[]Agent{{"claude", ".claude/settings.json", []string{"SessionStart"}, []AgentRun{{"SessionStart", made}, {Event: "SessionEnd"}}, "w", "o"}},
			[]string{".claude/skills/git-checkpoint/SKILL.md"},
		},
		"hooks-empty": Hooks{Type: "hooks", Action: "install", DryRun: true},
		"help":        Help{"help", "usage: git checkpoint <command>\n"},
		"error":       Error{Type: "error", Code: 3, Kind: "none", Message: "No checkpoint found for issue #42", Hint: "git checkpoint save 42"},
	}
}

func mustLookup(r *checkpoint.Record, path string) any {
	v, ok := r.Doc().Lookup(path)
	if !ok {
		panic(path)
	}
	return v
}
