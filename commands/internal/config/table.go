package config

import (
	"strings"
)

// Type is the type of a key's values.
type Type int

// Types of keys.
const (
	Bool    Type = iota // true or false; outside JSON also yes, no, on, off, 1, 0
	Int                 // whole number from Key.Min to Key.Max
	Days                // number of days; off, 0 or -1 means never
	Outcome             // days for completed chains and, after a comma, other chains; 0 means at once, off or -1 means never
	Enum                // one of Key.Values
	Text                // one line of text
	Path                // path; {issue} is replaced by the issue
	Pattern             // regular expression (RE2)
	List                // ordered names
	Mapping             // mapping of labels to phases
)

// String describes the type for users.
func (t Type) String() string {
	return [...]string{
		"true or false", "number", "days or off", "days or off, for completed and for other chains",
		"one of", "text", "path", "regular expression", "list", "mapping",
	}[t]
}

// Trust limits the values of a key that a worktree file can set.
type Trust int

// Trust levels.
const (
	Free    Trust = iota // any valid value
	Tighten              // values that keep more, or are stricter, than the default
	Inside               // paths inside the worktree
	Never                // no value
)

// String answers the question "can a worktree file set this key?" for users.
func (t Trust) String() string {
	return [...]string{"yes", "only to keep more or be stricter", "inside the worktree only", "no"}[t]
}

// Key is one row in the table of settings.
type Key struct {
	Name     string
	Type     Type
	Default  string
	Values   []string // values of an Enum, weakest first
	Min, Max int      // range of an Int
	Trust    Trust
	NotFile  []string // values of an Enum forbidden in worktree files
	Refused  string   // reason that a Bool stays false, with a warning
	Doc      string   // one sentence
}

// GitName returns the key's documented name in git's configuration.
func (k *Key) GitName() string {
	return "checkpoint." + strings.ReplaceAll(k.Name, "_", "-")
}

// Variable returns the name of the key's environment variable.
func (k *Key) Variable() string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(k.Name, ".", "_"))
}

// Keys returns a copy of the table, in documentation order.
func Keys() []Key {
	keys := make([]Key, len(table))
	copy(keys, table)
	return keys
}

// Takes describes the key's values for users, with literal values in backquotes.
func (k *Key) Takes() string {
	if k.Type != Enum {
		return k.Type.String()
	}
	values := make([]string, len(k.Values))
	for i, v := range k.Values {
		values[i] = code(v)
	}
	return orWords(values)
}

// FromFile describes for users whether a worktree file can set the key.
func (k *Key) FromFile() string {
	if len(k.NotFile) > 0 {
		return "yes, but not " + code(strings.Join(k.NotFile, ", "))
	}
	return k.Trust.String()
}

// EditDistance returns the number of single-byte insertions, deletions, replacements and
// swaps of adjacent bytes that turn a into b.
func EditDistance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

const (
	maxKeep = 1_000_000
	maxMB   = 1 << 20
	// maxDays prevents overflow of a time.Duration in days.
	maxDays = 36_500
)

// table lists all settings. The parser, checks, command `config` and documentation use
// this table.
var table = []Key{
	{Name: "enabled", Type: Bool, Default: "true", Doc: "Save checkpoints. false skips automatic saves and hooks; unless a worktree file says it, manual saves are refused too."},
	{Name: "auto_checkpoint", Type: Bool, Default: "true", Doc: "Save automatically. false leaves manual saves, interrupts and session ends."},

	{Name: "checkpoint_triggers.phase_transition", Type: Bool, Default: "true", Doc: "Save when a phase ends."},
	{Name: "checkpoint_triggers.batch_complete", Type: Bool, Default: "true", Doc: "Save after a batch."},
	{Name: "checkpoint_triggers.agent_complete", Type: Bool, Default: "false", Doc: "Save after an agent's output."},
	{Name: "checkpoint_triggers.conflict_events", Type: Bool, Default: "true", Doc: "Save when a conflict starts and when it is resolved."},
	{Name: "checkpoint_triggers.batch_start", Type: Bool, Default: "false", Doc: "Save before a batch."},
	{Name: "checkpoint_triggers.before_agent", Type: Bool, Default: "true", Doc: "Save before an agent is started."},
	{Name: "checkpoint_triggers.user_interrupt", Type: Bool, Default: "true", Trust: Tighten, Doc: "Save when the user interrupts."},
	{Name: "checkpoint_triggers.session_end", Type: Bool, Default: "true", Trust: Tighten, Doc: "Save when a session ends or times out."},
	{Name: "checkpoint_triggers.task_update", Type: Bool, Default: "true", Doc: "Save when a task of a story or of an execution moves."},
	{Name: "checkpoint_triggers.interval", Type: Bool, Default: "true", Doc: "Save at intervals, where they are asked for."},
	{Name: "checkpoint_triggers.turn", Type: Bool, Default: "true", Doc: "Save at the end of each turn of an agent."},

	keep("phase_transition", "-1", "phase transitions"),
	keep("batch_complete", "3", "completed batches, in each phase"),
	keep("agent_complete", "1", "agents' outputs, in each phase"),
	keep("conflict_start", "-1", "conflicts"),
	keep("conflict_resolved", "-1", "resolved conflicts"),
	keep("user_interrupt", "1", "interrupts"),
	keep("session_end", "1", "session ends"),
	keep("manual", "-1", "manual checkpoints"),
	keep("batch_start", "1", "started batches, in each phase"),
	keep("before_agent", "1", "checkpoints before agents, in each phase"),
	keep("interval", "1", "interval checkpoints"),
	keep("turn", "20", "turns of agents, on each branch"),
	keep("task_update", "1", "updates of tasks, in each phase"),

	{Name: "max_age_days", Type: Days, Default: "off", Trust: Tighten, Doc: "Archive chains whose newest checkpoint is older; 7 for chains of the claude layout while not set."},
	{Name: "on_success", Type: Enum, Default: "archive", Values: []string{"drop", "archive", "keep"}, Trust: Tighten, Doc: "What happens to a chain when its workflow completes."},
	{Name: "on_failure", Type: Enum, Default: "archive", Values: []string{"archive", "keep"}, Trust: Tighten, Doc: "What happens to a chain when its workflow fails or is abandoned."},
	{Name: "archive_days", Type: Outcome, Default: "7,30", Trust: Tighten, Doc: "When archived chains expire: completed ones, and failed, aged or abandoned ones. One number stands for both."},
	{Name: "auto_prune", Type: Bool, Default: "true", Doc: "Apply retention, and the limits of age, after every save."},

	{Name: "phase_replans", Type: Int, Default: "2", Min: 0, Max: 1000, Doc: "Limit of replans of a phase."},
	{Name: "task_retries", Type: Int, Default: "3", Min: 0, Max: 1000, Doc: "How often a task that failed or was lost may be begun again."},
	{Name: "phase_retries", Type: Int, Default: "3", Min: 0, Max: 1000, Doc: "How often a phase that failed may be begun again."},

	{Name: "transitions", Type: List, Doc: "The ways that work may go from phase to phase, each as FROM TO, * for any: phase start and phase done refuse others. None is every way."},
	{Name: "stale_minutes", Type: Int, Default: "1440", Min: 0, Max: 525_600, Doc: "How long, in minutes, a workflow may not be saved, and the lead of a pipeline have no heartbeat, before doctor warns, and how long a worker's claim of a task is live for task recover; 0 for ever."},
	{Name: "min_interval", Type: Int, Default: "0", Min: 0, Max: 3600, Doc: "Automatic saves at the end of a turn, at intervals, before batches and before agents are skipped that follow another checkpoint of the branch within so many seconds; 60 for the turns of agents while not set."},

	{Name: "save.include", Type: Enum, Default: "staged", Values: []string{"staged", "tracked", "all"}, NotFile: []string{"all"}, Doc: "The files of a save without --all, --worktree or --untracked: staged, tracked with unstaged changes too, or all with untracked files too. run and the hooks take all."},

	{Name: "storage.location", Type: Path, Default: ".claude/crunch/{issue}/checkpoints", Trust: Inside, Doc: "Where the crunch layout is exported and mirrored."},
	{Name: "storage.compress", Type: Bool, Default: "false", Refused: "git compresses what it stores, and what is compressed before that takes more room", Doc: "Compress bulky files before git does. true is left out with a warning: versions of a file that are compressed beforehand take more room, as git finds no differences between them."},
	{Name: "storage.max_size_mb", Type: Int, Default: "50", Min: 1, Max: maxMB, Doc: "Limit for the new content of one checkpoint, in MiB."},
	{Name: "storage.max_file_kb", Type: Int, Default: "1024", Min: 1, Max: maxMB << 10, Doc: "Limit for one untracked file, in KiB."},
	{Name: "storage.budget_ms", Type: Int, Default: "0", Min: 0, Max: 3_600_000, Trust: Never, Doc: "Time for reading unstaged and untracked files in a save, in milliseconds; what is not read by then is named and left out. 0 is no limit."},
	{Name: "mirror", Type: Enum, Default: "off", Values: []string{"off", "crunch", "claude", "recovery", "dotagent", "pipeline"}, Doc: "Layout whose files are kept in step with the checkpoints."},

	{Name: "issue_pattern", Type: Pattern, Doc: "How an issue is found in a branch name, instead of the built-in rules: the first group, else the whole match."},
	{Name: "labels_to_phase", Type: Mapping, Doc: "Phases that labels stand for, beside the state: labels."},
	{Name: "phases", Type: List, Doc: "The known phases, in order; save and verify warn about others. None: those of the workflow, or every phase."},
	{Name: "resume.compat", Type: List, Doc: "Which commands may resume what others began, each as FROM TO [SCOPE...]: workflows of these scopes, of all where none is named. For resume --by."},
	{Name: "issue_source", Type: Enum, Default: "auto", Values: []string{"none", "auto", "file", "command", "github", "gitlab", "gitea"}, NotFile: []string{"command"}, Doc: "Where the current state of an issue comes from; auto is issue_command where it is set, else the issue's file, else what the remote's URL looks like, which only status and resume ask."},
	{Name: "issue_file", Type: Path, Trust: Inside, Doc: "The issue file of the file source, instead of the places it looks in."},
	{Name: "issue_command", Type: Text, Trust: Never, Doc: "The program of the command source: a shell runs it with the issue as argument, and it prints the issue as JSON."},
	{Name: "issue_project", Type: Text, Trust: Never, Doc: "The project that has the issues, as owner/name or a URL, instead of the one of the remote's URL."},
	{Name: "issue_timeout", Type: Int, Default: "3", Min: 1, Max: 60, Trust: Never, Doc: "How many seconds a command may wait for the issue, which is not checked after that."},
	{Name: "issue_cache_seconds", Type: Int, Default: "60", Min: 0, Max: 3600, Trust: Never, Doc: "How old what a forge said may be for status and the page to take it without asking again, in seconds; 0 is for asking always. resume, save, and status with --json or --check ask anew."},
	{Name: "github_hosts", Type: List, Trust: Never, Doc: "Hosts that are GitHub servers beside github.com, by name or URL; tokens of the environment may go there."},
	{Name: "gitlab_hosts", Type: List, Trust: Never, Doc: "Hosts that are GitLab servers beside gitlab.com, by name or URL; tokens of the environment may go there."},
	{Name: "gitea_hosts", Type: List, Trust: Never, Doc: "Hosts that are Gitea or Forgejo servers beside gitea.com and codeberg.org, by name or URL; tokens of the environment may go there."},
	{Name: "scan_command", Type: Text, Trust: Never, Doc: "A further program that looks for secrets before a push, such as betterleaks or gitleaks (\"betterleaks dir\", \"gitleaks dir\"): a shell runs it with a folder of the files as argument. It exits with 0 if it finds nothing, and can print <file>:<line> of a finding."},
	{Name: "scan_allow", Type: List, Trust: Never, Doc: "What is no secret: rules, paths in which * stands for any text, or rule:path. A single line is allowed where it says checkpoint:allow."},
	{Name: "remote", Type: Text, Trust: Never, Doc: "Where checkpoints are pushed to and fetched from, instead of the branch's upstream's remote or origin."},
	{Name: "remote_timeout", Type: Int, Default: "120", Min: 0, Max: 86_400, Trust: Never, Doc: "How many seconds one connection to a remote may take, 0 for as long as it wants."},
	{Name: "sync_timeout", Type: Int, Default: "600", Min: 0, Max: 604_800, Trust: Never, Doc: "How many seconds a sync may take in all, 0 for as long as it wants."},
	{Name: "push", Type: Enum, Default: "never", Values: []string{"never", "auto"}, Trust: Never, Doc: "Push checkpoints after every save."},
	{Name: "publish_commits", Type: Bool, Default: "false", Trust: Never, Doc: "Let push and sync publish commits that the remote does not have. false asks, and without a terminal refuses unless --yes is given."},
	{Name: "redact", Type: Enum, Default: "mask", Values: []string{"warn", "mask", "block"}, Trust: Tighten, Doc: "What happens to secrets: warn tells of them, mask takes them out of the record that is saved and stops the push of others, block stops the push."},
	{Name: "hooks.pre_push", Type: Enum, Default: "off", Values: []string{"off", "push", "block"}, Trust: Never, Doc: "What the pre-push hook does: nothing, push the checkpoints too, or also stop the push when that fails."},
	{Name: "hooks.seconds", Type: Int, Default: "10", Min: 1, Max: 3600, Trust: Never, Doc: "How long the pre-push hook may take to push checkpoints."},
	{Name: "hooks.post_checkout", Type: Enum, Default: "tell", Values: []string{"off", "tell"}, Trust: Never, Doc: "Whether the post-checkout hook tells of a checkpoint of the branch."},
}

// keep returns the table row for a trigger's retention.
func keep(trigger, def, what string) Key {
	return Key{
		Name: "retention." + trigger, Type: Int, Default: def, Min: -1, Max: maxKeep, Trust: Tighten,
		Doc: "How many to keep of " + what + ": -1 all, 0 none, n the newest n.",
	}
}

func code(s string) string {
	if s == "" {
		return "none"
	}
	return "`" + s + "`"
}

// find returns the index of the key called name, or -1.
func find(name string) int {
	for i := range table {
		if table[i].Name == name {
			return i
		}
	}
	return -1
}

// isSection reports whether the table has keys in section name.
func isSection(name string) bool {
	for i := range table {
		if section, _, ok := strings.Cut(table[i].Name, "."); ok && section == name {
			return true
		}
	}
	return false
}

// unknown returns the message for an unknown name. The function names returns a key's
// name in the source's notation.
func unknown(name string, names func(*Key) string) string {
	if best := nearest(name, names); best != "" {
		return "unknown setting; did you mean " + best + "?"
	}
	return "unknown setting"
}

// nearest returns the most similar known name, or "" if no name is similar.
func nearest(name string, names func(*Key) string) string {
	if len(name) > 80 {
		return ""
	}
	best, least := "", 1+min(3, len(name)/3)
	for i := range table {
		known := names(&table[i])
		for _, candidate := range parts(known) {
			if d := candidate.cost + EditDistance(name, candidate.text); d < least {
				best, least = candidate.shown, d
			}
		}
	}
	return best
}

// parts returns the forms of a known name that users may have misspelt: the whole name, its
// section, or its last word at the wrong level.
func parts(known string) []candidate {
	all := []candidate{{known, known, 0}}
	if dot := strings.LastIndexByte(known, '.'); dot > 0 {
		all = append(all, candidate{known[dot+1:], known, 1})
		if section := known[:dot]; section != rootKey {
			all = append(all, candidate{section, section, 0})
		}
	}
	return all
}

type candidate struct {
	text, shown string
	cost        int
}
