package config

import (
	"strconv"
	"sync"
)

const (
	maxKeep = 1_000_000
	maxMB   = 1 << 20
	// maxDays prevents overflow of a time.Duration in days.
	maxDays = 36_500
)

// groups lists the settings that are mappings.
var groups = []Group{
	{"triggers", "TRIGGER", "Triggers that save a checkpoint: true, or false to skip these saves."},
	{"retention", "TRIGGER", "Number of checkpoints that retention keeps for each trigger: -1 keeps all, 0 none, N the newest N."},
	{"limits", "LIMIT", "Limits of sizes and of attempts."},
	{"timeouts", "TIMEOUT", "Limits of times, in seconds."},
	{"forges", "FORGE", "Hosts of each kind of forge, by name or URL. Tokens of the environment are sent to these hosts."},
}

// table lists all settings. The parser, checks, command `config` and documentation use
// this table.
var table = sync.OnceValue(func() []Key {
	return []Key{
		{Name: "enabled", Type: Bool, Default: "true", Doc: "Save checkpoints. With false, automatic saves and hooks do nothing. Manual saves are refused too, unless a worktree file sets this."},
		{Name: "auto_checkpoint", Type: Bool, Default: "true", Doc: "Save automatically. With false, only manual saves, interrupts and session ends are saved."},

		trigger("phase_transition", "true", "A phase ends."),
		trigger("batch_complete", "true", "A batch ends."),
		trigger("agent_complete", "false", "An agent has delivered its output."),
		trigger("conflict_events", "true", "A conflict starts or is resolved."),
		trigger("batch_start", "false", "A batch begins."),
		trigger("before_agent", "true", "An agent is about to start."),
		strict(trigger("user_interrupt", "true", "The user interrupts the work.")),
		strict(trigger("session_end", "true", "A session ends or times out.")),
		trigger("task_update", "true", "The state of a task changes."),
		trigger("interval", "true", "An interval of run --every has passed."),
		trigger("turn", "true", "A turn of an agent ends."),

		keep("phase_transition", "-1", "Phase transitions."),
		keep("batch_complete", "3", "Completed batches, in each phase."),
		keep("agent_complete", "1", "Outputs of agents, in each phase."),
		keep("conflict_start", "-1", "Conflicts."),
		keep("conflict_resolved", "-1", "Resolved conflicts."),
		keep("user_interrupt", "1", "Interrupts."),
		keep("session_end", "1", "Session ends."),
		keep("manual", "-1", "Manual checkpoints."),
		keep("batch_start", "1", "Started batches, in each phase."),
		keep("before_agent", "1", "Checkpoints before agents, in each phase."),
		keep("interval", "1", "Checkpoints at intervals."),
		keep("turn", "20", "Turns of agents, on each branch."),
		keep("task_update", "1", "Updates of tasks, in each phase."),

		{Name: "max_age_days", Type: Days, Default: "off", Trust: Tighten, Doc: "Age of the newest checkpoint at which a chain is archived. The default for chains of the claude layout is 7."},
		{Name: "on_success", Type: Enum, Default: "archive", Values: []string{"drop", "archive", "keep"}, Trust: Tighten, Doc: "What happens to a chain when its workflow completes."},
		{Name: "on_failure", Type: Enum, Default: "archive", Values: []string{"archive", "keep"}, Trust: Tighten, Doc: "What happens to a chain when its workflow fails or is abandoned."},
		{Name: "archive_days", Type: Outcome, Default: "7,30", Trust: Tighten, Doc: "Days until archived chains expire: completed chains, and all others. A single number sets both."},
		{Name: "auto_prune", Type: Bool, Default: "true", Doc: "Apply retention and the age limits after every save."},

		limit("phase_replans", 2, 0, 1000, "Replans of a phase."),
		limit("phase_retries", 3, 0, 1000, "New starts of a phase after it failed."),
		limit("task_retries", 3, 0, 1000, "New starts of a task after it failed or its worker was lost."),
		limit("tokens", 0, 0, 2_000_000_000, "Tokens that agents spend on an issue, without those that are read from a cache. Above the limit resume asks a person. 0 means no limit."),
		limit("stale_minutes", 1440, 0, 525_600, "Minutes without a save, or without a heartbeat of a pipeline's lead, until doctor warns. task recover leaves the claims of workers alone that are younger. 0 means no limit."),
		crunch(limit("checkpoint_mb", 50, 1, maxMB, "New content of one checkpoint with its record, and size of one file in a push, in MiB."), "storage.max_size_mb"),
		limit("file_kb", 1024, 1, maxMB<<10, "Size of one untracked file, in KiB."),
		limit("untracked_files", 10_000, 1, 10_000_000, "New untracked files of one directory. A directory with more of them is left out as a whole, and named."),
		private(limit("capture_ms", 0, 0, 3_600_000, "Time for reading unstaged and untracked files in a save, in milliseconds. Files that are not read in time are named and left out. 0 means no limit.")),

		timeout("issue", 3, 1, 60, "Wait for the current state of the issue. After that, the command continues without it."),
		timeout("issue_cache", 60, 0, 3600, "Age at which status and the web page ask a forge again. 0 asks each time. resume, save, and status with --json or --check always ask."),
		timeout("remote", 120, 0, 86_400, "One connection to a remote. 0 means no limit."),
		timeout("session", 2, 0, 60, "The fetch of the issue by the hook of a new session, if push is auto. 0 means no fetch."),
		timeout("sync", 600, 0, 604_800, "A whole sync. 0 means no limit."),
		timeout("hook", 10, 1, 3600, "The push of checkpoints by the pre-push hook."),

		{Name: "transitions", Type: List, Doc: "Allowed transitions between phases, each as FROM TO; * stands for any phase. phase start and phase done refuse others. Without a value, all are allowed."},
		{Name: "min_interval", Type: Int, Default: "0", Min: 0, Max: 3600, Doc: "Seconds after a checkpoint of the branch and the session in which intervals, started batches and checkpoints before agents are not saved. Turns that changed files are always saved."},

		{Name: "storage.location", Type: Path, Default: ".claude/crunch/{issue}/checkpoints", Trust: Inside, Doc: "Directory of the crunch layout for export and mirror."},
		{Name: "storage.compress", Type: Bool, Default: "false", Refused: "git compresses its objects, and content that is compressed before needs more space", Doc: "Accepted for crunch."},
		{Name: "mirror", Type: Enum, Default: "off", Values: []string{"off", "crunch", "claude", "recovery", "dotagent", "pipeline"}, Doc: "Layout of another system whose files are updated at every save, and read back."},

		{Name: "issue_pattern", Type: Pattern, Doc: "Pattern of the issue in a branch name: its first group, or the whole match. It replaces the built-in rules."},
		{Name: "labels_to_phase", Type: Mapping, Doc: "Phases of labels, in addition to labels that begin with state:."},
		{Name: "phases", Type: List, Doc: "Known phases, in order. save and verify warn about others. Without a value, these are the phases of the workflow."},
		{Name: "resume.compat", Type: List, Doc: "Commands that may resume the work of others, for resume --by: each as FROM TO [SCOPE...]. Without a scope, all workflows."},
		{Name: "issue_source", Type: Enum, Default: "auto", Values: []string{"none", "auto", "file", "command", "github", "gitlab", "gitea"}, NotFile: []string{"command"}, Doc: "Source of the issue's current state. auto uses issue_command if it is set, then the issue's file, then the forge of the remote's URL. Only status and resume ask a forge that was guessed."},
		{Name: "issue_file", Type: Path, Trust: Inside, Doc: "Path of the issue's file, instead of the default paths."},
		{Name: "issue_command", Type: Text, Trust: Never, Doc: "Program that prints the issue as JSON. A shell runs it, with the issue as argument."},
		{Name: "issue_project", Type: Text, Trust: Never, Doc: "Project of the issues, as owner/name or a URL, instead of the project of the remote."},

		forge("github", "GitHub servers, in addition to github.com."),
		forge("gitlab", "GitLab servers, in addition to gitlab.com."),
		forge("gitea", "Gitea and Forgejo servers, in addition to gitea.com and codeberg.org."),

		{Name: "scan_command", Type: Text, Trust: Never, Doc: "Another program that searches for secrets before a push, such as \"betterleaks dir\" or \"gitleaks dir\". A shell runs it, with a directory of the files as argument. It exits with 0 if it finds nothing, and can print <file>:<line> of a finding."},
		{Name: "scan_allow", Type: List, Trust: Never, Doc: "Findings to ignore: a rule, a path in which * stands for any text, or rule:path. A line with checkpoint:allow is ignored too."},
		{Name: "remote", Type: Text, Trust: Never, Doc: "Remote of the checkpoints. By default they are pushed where git push goes: branch.<name>.pushRemote, remote.pushDefault, branch.<name>.remote or origin. A fetch also reads the remote of git fetch."},
		{Name: "push", Type: Enum, Default: "never", Values: []string{"never", "auto", "required"}, Trust: Never, Doc: "Push checkpoints after every save. With auto, a push that fails is a warning. With required, the command exits with 13 after a secret, otherwise with 11; the checkpoint is saved. Hooks of agents push in the background after a turn, and fetch at the start of a session."},
		{Name: "publish_commits", Type: Bool, Default: "false", Trust: Never, Doc: "Let pushes of checkpoints publish commits that the remote does not have. With false, push, sync and --push ask. Hooks, automatic pushes and commands without a terminal refuse; push and sync then need --yes."},
		{Name: "redact", Type: Enum, Default: "mask", Values: []string{"warn", "mask", "block"}, Trust: Stricter, Doc: "What happens to possible secrets: warn prints a warning, mask also removes secrets from the saved record and stops pushes of others, block stops every push."},
		{Name: "hooks.pre_push", Type: Enum, Default: "off", Values: []string{"off", "push", "block"}, Trust: Never, Doc: "Action of the pre-push hook: nothing, push the checkpoints, or also stop git push if this fails."},
		{Name: "hooks.requests", Type: Bool, Default: "true", Doc: "Store the last request to an agent and the end of its answer with each turn, for the next session. Secrets are masked. With false, no text of a conversation is stored or handed over."},
		{Name: "hooks.post_checkout", Type: Enum, Default: "tell", Values: []string{"off", "tell"}, Trust: Never, Doc: "Whether the post-checkout hook prints a line if the branch has a checkpoint."},
	}
})

// trigger returns the row of a trigger's switch. conflict_events is for two triggers.
func trigger(name, def, doc string) Key {
	return crunch(Key{Name: switches + name, Type: Bool, Default: def, Doc: doc}, "checkpoint_triggers."+name)
}

func keep(trigger, def, doc string) Key {
	return Key{Name: keeps + trigger, Type: Int, Default: def, Min: -1, Max: maxKeep, Trust: Tighten, Doc: doc}
}

func limit(name string, def, least, most int, doc string) Key {
	return Key{Name: "limits." + name, Type: Int, Default: strconv.Itoa(def), Min: least, Max: most, Doc: doc}
}

func timeout(name string, def, least, most int, doc string) Key {
	return private(Key{Name: "timeouts." + name, Type: Int, Default: strconv.Itoa(def), Min: least, Max: most, Doc: doc})
}

func forge(kind, doc string) Key {
	return private(Key{Name: "forges." + kind, Type: List, Doc: doc})
}

// crunch makes files accept the name of the key in crunch's settings file too.
func crunch(k Key, name string) Key { k.Crunch = name; return k }

// strict lets a worktree file only set values that keep more than the default.
func strict(k Key) Key { k.Trust = Tighten; return k }

// private keeps a worktree file from setting the key.
func private(k Key) Key { k.Trust = Never; return k }
