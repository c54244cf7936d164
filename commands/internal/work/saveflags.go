package work

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/gitstore/failure"

	"github.com/urfave/cli/v2"
)

// SaveOptions are the flags of a save. The field of a flag that a command does not have is
// zero.
type SaveOptions struct {
	Phase      string
	Batch      int  // batch of the trigger, from 1
	BatchGiven bool // --batch is given
	Agent      string
	Action     string
	Conflict   string
	Session    string
	Message    string
	Summary    string
	Decisions  []string // decisions to add
	Replaces   []string // decisions that the new decision replaces
	ResumeFrom string
	NoResume   string   // reason why the checkpoint cannot be resumed, or ""
	State      string   // file to merge into the record, - for standard input, or ""
	Sets       []string // assignments PATH=VALUE
	Strict     bool     // fail if the phase is unknown
	Replace    bool     // start from an empty record
	Artifacts  []string // paths as typed
	Staged     bool     // capture the staged files only
	Old        string   // first given flag of OldFlags, or ""
	NoBody     bool     // record only a digest of the issue's body
	NoPrune    bool     // apply no retention
	IfChanged  bool     // save nothing if nothing has changed
	DryRun     bool     // write nothing
	Issue      IssueOptions
	Push       PushOptions
}

// ContentFlags returns the flags that set the content of a checkpoint.
func ContentFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "phase", Usage: "current phase of the workflow (`PHASE`)"},
		&cli.IntFlag{Name: "batch", Usage: "number of the batch that begins or ends (`N`)"},
		&cli.StringFlag{Name: "agent", Usage: "agent that has completed --action (`AGENT`)"},
		&cli.StringFlag{Name: "action", Usage: "action that --agent has completed (`ACTION`)"},
		&cli.StringFlag{Name: "conflict", Usage: "conflict that started or was resolved (`ID`)"},
		&cli.StringFlag{Name: "session", Usage: "session of the checkpoint (`UUID`)"},
		&cli.StringFlag{Name: "message", Aliases: []string{"m"}, Usage: "note about this checkpoint (`NOTE`)"},
		&cli.StringFlag{Name: "summary", Usage: "summary of the work so far, for the next session (`TEXT`)"},
		&cli.StringSliceFlag{Name: "decision", Usage: "decision that later sessions have to know (`TEXT`)"},
		&cli.StringSliceFlag{Name: "replaces", Usage: "with --decision: the decision that it replaces, or a part of its `TEXT`"},
		&cli.StringFlag{Name: "resume-from", Usage: "where to continue (`TEXT`)"},
		&cli.StringFlag{Name: "no-resume", Usage: "mark the checkpoint as not resumable, and say why (`REASON`)"},
		&cli.StringFlag{Name: "state", Usage: "merge `FILE` (YAML or JSON, - for standard input) into the record"},
		&cli.StringSliceFlag{Name: "set", Usage: "set `PATH=VALUE` in the record; null deletes"},
		&cli.BoolFlag{Name: "strict", Usage: "refuse an unknown phase"},
		&cli.BoolFlag{Name: "replace", Usage: "start from an empty record"},
		&cli.StringSliceFlag{Name: "artifact", Usage: "also capture the file at `PATH`, even if git ignores it"},
		StagedFlag(),
		IssueFileFlag("read the issue's title, body and labels from `FILE`"),
		&cli.BoolFlag{Name: "no-body", Usage: "record a digest of the issue's body instead of its text"},
		OfflineFlag(),
	}
}

// ReadSaveOptions returns the values of the content flags, --push, --no-prune, --if-changed and
// --dry-run.
func ReadSaveOptions(c *invoke.Invocation) SaveOptions {
	f := c.Flags
	o := SaveOptions{
		Phase: f.String("phase"), Batch: f.Int("batch"), BatchGiven: f.IsSet("batch"), Agent: f.String("agent"), Action: f.String("action"),
		Conflict: f.String("conflict"), Session: f.String("session"), Message: f.String("message"),
		Summary: f.String("summary"), Decisions: c.Lists["decision"], Replaces: c.Lists["replaces"], ResumeFrom: f.String("resume-from"), NoResume: f.String("no-resume"),
		State: f.String("state"), Sets: c.Lists["set"], Strict: f.Bool("strict"), Replace: f.Bool("replace"), Artifacts: c.Lists["artifact"],
		NoBody:  f.Bool("no-body"),
		NoPrune: f.Bool("no-prune"), IfChanged: f.Bool("if-changed"), DryRun: f.Bool("dry-run"), Issue: ReadIssueOptions(c),
	}
	o.ReadFiles(c)
	o.Push = ReadPushOptions(c, o.DryRun)
	return o
}

// StagedFlag returns the flag that limits a checkpoint to the index.
func StagedFlag() cli.Flag {
	return &cli.BoolFlag{Name: "staged", Usage: "capture the staged files only, not the other files of the worktree"}
}

// OldFlags returns flags of earlier versions, in which a checkpoint had only the staged files
// by default. They are accepted, and no help lists them.
func OldFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "all", Aliases: []string{"a"}},
		&cli.BoolFlag{Name: "worktree"},
		&cli.BoolFlag{Name: "untracked"},
	}
}

// ReadFiles reads the flags that choose the files. The old flag --worktree=false means --staged.
func (o *SaveOptions) ReadFiles(c *invoke.Invocation) {
	o.Staged = c.Flags.Bool("staged")
	for _, f := range OldFlags() {
		name := f.Names()[0]
		if !c.Flags.IsSet(name) {
			continue
		}
		o.Old = cmp.Or(o.Old, name)
		o.Staged = o.Staged || name == "worktree" && !c.Flags.Bool(name)
	}
}

// warnOld warns about a flag of OldFlags, and about the setting save.include.
func (o *SaveOptions) warnOld(c *invoke.Invocation) {
	if o.Old != "" {
		c.Warnf("--%s is a flag of earlier versions: a checkpoint has staged, modified and untracked files, and --staged limits it to the staged files", o.Old)
	}
	if !c.Settings.IsDefault("save.include") {
		c.Warnf("save.include is a setting of earlier versions: a checkpoint has all files, and --staged limits it to the staged files")
	}
}

// check returns an error for an invalid value. command is the command's name.
func (o *SaveOptions) check(command string) error {
	for _, text := range []struct{ flag, value string }{
		{"phase", o.Phase},
		{"agent", o.Agent},
		{"action", o.Action},
		{"conflict", o.Conflict},
		{"session", o.Session},
		{"message", o.Message},
		{"resume-from", o.ResumeFrom},
		{"no-resume", o.NoResume},
		{"summary", o.Summary},
	} {
		if !utf8.ValidString(text.value) {
			return failure.Usagef("%s: --%s: not valid UTF-8", command, text.flag)
		}
	}
	for _, text := range o.Decisions {
		if text == "" || !utf8.ValidString(text) {
			return failure.Usagef("%s: --decision: %q: want a text", command, text)
		}
	}
	if len(o.Replaces) > 0 && (len(o.Decisions) != 1 || slices.Contains(o.Replaces, "")) {
		return failure.Usagef("%s: --replaces: want the text of a decision, and one --decision", command)
	}
	if (o.Agent == "") != (o.Action == "") {
		return failure.Usagef("%s: --agent and --action go together", command)
	}
	if o.BatchGiven && o.Batch < 1 {
		return failure.Usagef("%s: --batch: want 1 or more, got %d", command, o.Batch)
	}
	return nil
}
