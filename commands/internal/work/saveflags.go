package work

import (
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
	Batch      int // batch of the trigger, from 1
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
	NoBody     bool     // record only a digest of the issue's body
	NoPrune    bool     // apply no retention
	IfChanged  bool     // save nothing if nothing has changed
	DryRun     bool     // write nothing
	Issue      IssueOptions
	Push       invoke.Optional // remote of --push
}

// ContentFlags returns the flags that set the content of a checkpoint.
func (o *SaveOptions) ContentFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "phase", Usage: "current phase of the workflow (`PHASE`)", Destination: &o.Phase},
		&cli.IntFlag{Name: "batch", Usage: "number of the batch that begins or ends (`N`)", Destination: &o.Batch},
		&cli.StringFlag{Name: "agent", Usage: "agent that has completed --action (`AGENT`)", Destination: &o.Agent},
		&cli.StringFlag{Name: "action", Usage: "action that --agent has completed (`ACTION`)", Destination: &o.Action},
		&cli.StringFlag{Name: "conflict", Usage: "conflict that started or was resolved (`ID`)", Destination: &o.Conflict},
		&cli.StringFlag{Name: "session", Usage: "session of the checkpoint (`UUID`)", Destination: &o.Session},
		&cli.StringFlag{Name: "message", Aliases: []string{"m"}, Usage: "note about this checkpoint (`NOTE`)", Destination: &o.Message},
		&cli.StringFlag{Name: "summary", Usage: "summary of the work so far, for the next session (`TEXT`)", Destination: &o.Summary},
		&cli.GenericFlag{Name: "decision", Usage: "decision that later sessions have to know (`TEXT`)", Value: (*invoke.List)(&o.Decisions)},
		&cli.GenericFlag{Name: "replaces", Usage: "with --decision: the decision that it replaces, or a part of its `TEXT`", Value: (*invoke.List)(&o.Replaces)},
		&cli.StringFlag{Name: "resume-from", Usage: "where to continue (`TEXT`)", Destination: &o.ResumeFrom},
		&cli.StringFlag{Name: "no-resume", Usage: "mark the checkpoint as not resumable, and say why (`REASON`)", Destination: &o.NoResume},
		&cli.StringFlag{Name: "state", Usage: "merge `FILE` (YAML or JSON, - for standard input) into the record", Destination: &o.State},
		&cli.GenericFlag{Name: "set", Usage: "set `PATH=VALUE` in the record; null deletes", Value: (*invoke.List)(&o.Sets)},
		&cli.BoolFlag{Name: "strict", Usage: "refuse an unknown phase", Destination: &o.Strict},
		&cli.BoolFlag{Name: "replace", Usage: "start from an empty record", Destination: &o.Replace},
		&cli.GenericFlag{Name: "artifact", Usage: "also capture the file at `PATH`, even if git ignores it", Value: (*invoke.List)(&o.Artifacts)},
		o.StagedFlag(),
		o.Issue.FileFlag("read the issue's title, body and labels from `FILE`"),
		&cli.BoolFlag{Name: "no-body", Usage: "record a digest of the issue's body instead of its text", Destination: &o.NoBody},
		o.Issue.OfflineFlag(),
	}
}

// StepFlags returns the given flags plus those that every step of a workflow has.
func (o *SaveOptions) StepFlags(own ...cli.Flag) []cli.Flag {
	return slices.Concat(own, []cli.Flag{
		&cli.StringFlag{Name: "message", Aliases: []string{"m"}, Usage: "note instead of the default note of the step (`NOTE`)", Destination: &o.Message},
		&cli.StringFlag{Name: "session", Usage: "session of the checkpoint (`UUID`)", Destination: &o.Session},
		&cli.StringFlag{Name: "state", Usage: "merge `FILE` (YAML or JSON, - for standard input) into the record", Destination: &o.State},
		&cli.GenericFlag{Name: "set", Usage: "set `PATH=VALUE` in the record; null deletes", Value: (*invoke.List)(&o.Sets)},
		o.StagedFlag(),
		o.Issue.FileFlag("read the issue's title, body and labels from `FILE`"),
		o.NoPruneFlag(),
		o.DryRunFlag(),
		o.Issue.OfflineFlag(),
		o.PushFlag(),
	})
}

// StagedFlag returns the flag that limits a checkpoint to the index.
func (o *SaveOptions) StagedFlag() cli.Flag {
	return &cli.BoolFlag{Name: "staged", Usage: "capture the staged files only, not the other files of the worktree", Destination: &o.Staged}
}

// NoPruneFlag returns the --no-prune flag.
func (o *SaveOptions) NoPruneFlag() cli.Flag {
	return &cli.BoolFlag{Name: "no-prune", Usage: "apply no retention now", Destination: &o.NoPrune}
}

// DryRunFlag returns the --dry-run flag.
func (o *SaveOptions) DryRunFlag() cli.Flag {
	return &cli.BoolFlag{Name: "dry-run", Usage: "run without writing anything", Destination: &o.DryRun}
}

// PushFlag returns the --push flag.
func (o *SaveOptions) PushFlag() cli.Flag {
	return invoke.OptionalFlag{StringFlag: &cli.StringFlag{
		Name: "push", Usage: "then push the issue's checkpoints, to `REMOTE` or the configured one, by the rules of push; --push=required fails with 11 or 13 if they stay here",
		Destination: (*string)(&o.Push),
	}}
}

// CheckUTF8 returns an error if the value of a flag is not UTF-8. texts are names of flags, each
// with its value.
func CheckUTF8(command string, texts ...string) error {
	for pair := range slices.Chunk(texts, 2) {
		if !utf8.ValidString(pair[1]) {
			return failure.Usagef("%s: --%s: not valid UTF-8", command, pair[0])
		}
	}
	return nil
}

func (o *SaveOptions) check(c *invoke.Invocation) error {
	command := c.Line.Name
	if err := CheckUTF8(
		command, "phase", o.Phase, "agent", o.Agent, "action", o.Action, "conflict", o.Conflict, "session", o.Session,
		"message", o.Message, "resume-from", o.ResumeFrom, "no-resume", o.NoResume, "summary", o.Summary,
	); err != nil {
		return err
	}
	if name := o.Push.Value(); name != required && !slices.Contains(c.Store.RemoteNames(), name) && invoke.Nearest(name, []string{required}) != "" {
		return failure.Usagef("%s: --push: %s: there is no such remote; did you mean --push=%s?", command, name, required)
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
	if c.Line.Flags.IsSet("batch") && o.Batch < 1 {
		return failure.Usagef("%s: --batch: want 1 or more, got %d", command, o.Batch)
	}
	return nil
}
