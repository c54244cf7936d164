package main

import "context"

// A row is one performance target.
type row struct {
	name    string
	what    string
	against string
	store   kind
	once    bool              // measures chains only: run at the smallest size only
	figures map[string]figure // figures by size; "" applies to any size
	run     func(context.Context, *repo) (result, error)
}

// figure returns the row's figure at a size. A tiny repository has no figures.
func (w row) figure(s scale) figure {
	if s == tiny {
		return figure{}
	}
	if f, ok := w.figures[s.name]; ok {
		return f
	}
	return w.figures[""]
}

func at(size string, f figure) map[string]figure { return map[string]figure{size: f} }

func anywhere(target float64) map[string]figure { return at("", figure{Target: target}) }

// rows lists all rows in table order.
var rows = append([]row{
	{
		name: "save", store: kindSave, run: runSave,
		what: "save, durable, nothing dropped", against: pipelineName,
		figures: map[string]figure{"1k": {0.6, 0.75}, "10k": {0.5, 0.65}, "100k": {0.22, 0.3}},
	},
	{
		name: "save-drop", store: kindSave, run: runSaveDrop,
		what: "save, dropping one by retention", against: pipelineName,
		figures: map[string]figure{"1k": {Must: 0.95}, "10k": {Must: 0.8}, "100k": {Must: 0.4}},
	},
	{
		name: "save-stash", store: kindSave, run: runSaveStash,
		what: "save, nothing dropped", against: "git stash create",
		figures: map[string]figure{"1k": {Target: 0.8}, "10k": {Target: 0.3}, "100k": {Target: 0.055}},
	},
	{
		name: "save-same", store: kindSave, run: runSaveSame,
		what: "save --staged, nothing staged since the last one", against: "git write-tree (cached) + commit-tree + update-ref",
		figures: map[string]figure{"1k": {Target: 1.0}, "10k": {Target: 0.9}, "100k": {Target: 0.5}},
	},
	{
		name: "save-long", store: kindSave, run: runSaveLong,
		what: "save on the long chain", against: "save on the short chain", figures: anywhere(1.1),
	},
	{
		name: "save-worktree", store: kindSave, run: runSaveWorktree,
		what: "save, whole state", against: "git stash create + git ls-files --others",
		figures: map[string]figure{"1k": {Target: 1.0}, "10k": {Target: 0.6}, "50k": {Target: 0.4}, "100k": {Target: 0.4}},
	},
	{
		name: "turn", store: kindTurns, run: runTurn,
		what: "hook of a turn, 3 changed and 2 untracked files", against: "git stash create, git ls-files --others",
		figures: map[string]figure{"1k": {Target: 1.0}, "10k": {Target: 0.6}, "50k": {Target: 0.4}, "100k": {Target: 0.4}},
	},
	{
		name: "turn-touched", store: kindTouched, run: runTurnTouched,
		what: "hook of a turn after a touch of all files", against: "hook of a turn without it", figures: anywhere(1.2),
	},
	{
		name: "turn-untracked", store: kindUntracked, run: runTurnUntracked,
		what: "hook of a turn, 5,000 untracked files", against: "git stash create, git ls-files --others",
	},
	{
		name: "turn-idle", store: kindUntracked, run: runTurnIdle,
		what: "hook of an idle turn, 5,000 untracked files", against: "git status -uall", figures: anywhere(1.5),
	},
	{
		name: "turn-late", store: kindManyTurns, once: true, run: runTurnLate,
		what: "hook of the turn after 999 others", against: "hook of the turn after 9 others", figures: anywhere(1.1),
	},
	{
		name: "blame", store: kindGrown, once: true, run: runBlame,
		what: "blame of 20 lines after 999 turns", against: "git blame of a commit for each turn",
	},
	{
		name: "blame-first", store: kindGrown, once: true, run: runBlameFirst,
		what: "the first blame after 999 turns", against: "git log -p of a commit for each turn", figures: anywhere(2),
	},
	{
		name: "list-packed", store: kindSave, once: true, run: runList,
		what: "list of the long chain, packed", against: logName, figures: anywhere(1.2),
	},
	{
		name: "list-loose", store: kindLoose, once: true, run: runList,
		what: "list of the long chain, loose", against: logName, figures: anywhere(1.0),
	},
	{
		name: "list-20", store: kindSave, run: runListNewest,
		what: "list -n 20 of the long chain", against: logName + " -n 20", figures: anywhere(2.6),
	},
	{
		name: "status", store: kindSave, run: runStatus,
		what: "status, offline, of the long chain", against: "git status --porcelain -uall",
		figures: at("100k", figure{Target: 1.2}),
	},
	{
		name: "status-many", store: kindWide, run: runStatusMany,
		what: "status, 5,000 changed files that the checkpoint has", against: "git status --porcelain", figures: anywhere(3),
	},
	{
		name: "restore-many", store: kindWide, run: runRestoreMany,
		what: "restore of 5,000 files", against: "git checkout of the same files",
	},
	{
		name: "restore", store: kindSave, run: runRestore,
		what: "restore of 10 files", against: readTreeName, figures: at("100k", figure{Target: 1.1}),
	},
	{
		name: "restore-staged", store: kindSave, run: runRestoreStaged,
		what: "restore --staged of 10 files", against: readTreeName, figures: at("100k", figure{Target: 0.5}),
	},
	{
		name: "prune", store: kindPrune, once: true, run: runPrune,
		what: "prune that drops the oldest tenth", against: "git rev-list of the chain", figures: anywhere(7),
	},
	{
		name: "sync-first", store: kindMany, once: true, run: runSyncFirst,
		what: "sync --all of many issues in a new clone", against: "git fetch of the same refs",
	},
	{
		name: "sync-idle", store: kindMany, once: true, run: runSyncIdle,
		what: "sync --all of many issues, nothing to do", against: lsRemoteName, figures: anywhere(2),
	},
	{
		name: "sync-one", store: kindMany, once: true, run: runSyncOne,
		what: "sync --all of many issues, one of them saved", against: lsRemoteName, figures: anywhere(3),
	},
	{
		name: "sync-push", store: kindMany, once: true, run: runSyncPush,
		what: "sync --all of many issues, one of them saved", against: "git push of its ref alone", figures: anywhere(1.5),
	},
	{
		name: "fetch-one", store: kindMany, once: true, run: runFetchOne,
		what: "fetch of one issue in a new clone, where there are many", against: "the same where there are a few",
		figures: anywhere(1.2),
	},
	{
		name: "line-idle", store: kindMany, once: true, run: runSyncIdleLine,
		what: "sync --all over a line, nothing to do", against: lsRemoteName + ", over it", figures: anywhere(2),
	},
	{
		name: "line-one", store: kindMany, once: true, run: runSyncOneLine,
		what: "sync --all over a line, one of them saved", against: lsRemoteName + ", over it", figures: anywhere(3),
	},
	{
		name: "line-fetch", store: kindMany, once: true, run: runFetchOneLine,
		what: "fetch of one issue over a line, in a new clone", against: "git fetch of its ref, over it", figures: anywhere(2),
	},
	{
		name: "trips-idle", store: kindMany, once: true, run: runSyncIdleTrips,
		what: "round trips of a sync --all with nothing to do", against: "those of " + lsRemoteName,
	},
	{
		name: "trips-fetch", store: kindMany, once: true, run: runFetchOneTrips,
		what: "round trips of a fetch of one issue in a new clone", against: "those of a git fetch of its ref",
	},
	{
		name: "start", store: kindSave, once: true, run: runStart,
		what: "version, for hooks with nothing to do", against: "git rev-parse HEAD", figures: anywhere(4),
	},
	{
		name: "prepush", store: kindSave, once: true, run: runPrePush,
		what: "pre-push with nothing to do", against: "git rev-parse HEAD", figures: anywhere(4),
	},
	{
		name: "postcheckout", store: kindSave, once: true, run: runPostCheckout,
		what: "post-checkout with nothing to do", against: "git rev-parse HEAD", figures: anywhere(4),
	},
	{
		name: "memory", store: kindSave, run: runMemory,
		what: "peak memory of save", against: "git write-tree", figures: at("100k", figure{Target: 0.8}),
	},
	{
		name: "objects", store: kindSave, run: runObjects,
		what: "objects of a save", against: "record, 3 commits, changed directories + 2 trees",
	},
	{
		name: "push", store: kindSave, run: runPush,
		what: "objects of a first push, one staged file", against: "at most 12",
	},
}, issueRows()...)

const (
	pipelineName = "git write-tree + hash-object + 2 mktree + commit-tree + update-ref"
	logName      = "git log --first-parent --format=%H%n%B"
	readTreeName = "git read-tree -m -u"
	lsRemoteName = "git ls-remote of the same refs"
)

func rowNames() []string {
	names := make([]string, len(rows))
	for i, w := range rows {
		names[i] = w.name
	}
	return names
}
