// Package invoke has the context that all commands share: streams, flags, the store, the
// settings, questions at a terminal and the issue that a command is about.
package invoke

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"git-checkpoint/commands/internal/config"
	"git-checkpoint/commands/internal/terminal"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// An Invocation is one run of one command: its command line, its streams, the store and the
// settings, and the issue that it is about.
type Invocation struct {
	Ctx     context.Context
	Env     *Env
	Line    Line
	Out     Output
	Subject Subject

	Needs    Needs
	Store    *gitstore.Store
	Settings *config.Settings
	Detached bool // a goroutine still uses the store

	input       *inputCopy                                // read from standard input before Open
	mirror      MirrorKeeper                              // nil if no layout is mirrored
	StartMirror func(*Invocation) MirrorKeeper            // nil for a dry run
	RunLine     func(context.Context, *Env, []string) int // runs another command line
}

// A Line is a parsed command line.
type Line struct {
	Name   string   // name of the command, for messages
	Args   []string // before "--"
	Paths  []string // after "--"
	Flags  *cli.Context
	Common Common
	JSON   bool

	Command  *Command   // declaration of this command
	Commands []*Command // all commands, for help
	startDir string     // working directory before -C, "" without -C
}

// An Output is standard output, the line on the terminal and the warnings of a command.
type Output struct {
	*Writer
	Ticker   *ticker  // may own a line on the terminal; can be nil
	Quiet    bool     // suppress warnings
	Warnings []string // with --json, printed at the end

	settingsWarning string // last warning about invalid settings
}

// A Subject is the issue of a command, and what is known about the choice.
type Subject struct {
	Issue            checkpoint.Issue // "" while it is unknown
	Inferred         bool             // the command line does not name it
	NamedAfterBranch bool             // its key is the name of the branch
	Unfetched        string           // why a fetch got no checkpoint of it, or ""
	RemoteAnswered   bool             // the remote has no checkpoint of it

	announcement string                      // line about the issue, to be printed before the next output
	renamed      map[string]checkpoint.Issue // of findRenamed, by branch
	localCommits map[string]bool             // commits that WarnLocalCommits has named
	double       string                      // commit whose other contents Find has named
}

// Needs say how Open opens the store.
type Needs struct {
	WillSave        bool // the index will be needed
	OwnProcessGroup bool // terminal signals do not reach git
	Offline         bool // ask no program and no forge for the issue: a hook must not wait
	NoRepository    bool // outside of a repository, an empty one is opened; after Open, this has happened
}

// Open opens the repository, reads the settings and starts the mirror. If it returns a
// *config.SettingError, the store is open nevertheless. Only commands that are declared
// with NeedsSettings get this error. In a repository of another object
// format, Open runs the program for that format instead.
func (c *Invocation) Open() error { return c.handOver(c.OpenOwnFormat()) }

// OpenOwnFormat is Open for repositories of this program's object format. It fails with
// *gitstore.ObjectFormatError for the other format.
func (c *Invocation) OpenOwnFormat() error {
	options := gitstore.Options{
		Now: c.Env.Now, Apart: c.Needs.OwnProcessGroup, Asks: func() bool { return !c.Needs.Offline && terminal.Has() }, // a hook must not wait for a password
		Notify: func(line string) { c.Warnf("%s", line) }, Repair: c.changes(), Like: c.Env.Like,
	}
	store, err := gitstore.Open(c.Ctx, options)
	if options.Empty = c.Needs.NoRepository && errors.Is(err, gitstore.ErrNotRepository); options.Empty {
		store, err = gitstore.Open(c.Ctx, options)
	}
	if err != nil {
		return err
	}
	c.Store, c.Needs.NoRepository = store, options.Empty
	err = c.loadSettings()
	if err == nil && c.mirror == nil && c.StartMirror != nil {
		c.mirror = c.StartMirror(c)
	}
	return err
}

// OpenIn changes to a directory, and opens the repository there instead of the open one.
func (c *Invocation) OpenIn(dir string) error {
	if err := os.Chdir(dir); err != nil {
		return err
	}
	c.CloseMirror()
	c.Close()
	c.mirror, c.Store = nil, nil
	return c.Open()
}

// A MirrorKeeper synchronizes a layout's files with the checkpoints.
type MirrorKeeper interface {
	End(*Invocation) // writes the files of the issues that the command has changed
	Close()
}

// EndMirror writes the checkpoint changes since the last call to the mirrored files. It is
// called at the end of a command, and by run after each save.
func (c *Invocation) EndMirror() {
	if c.mirror != nil {
		c.mirror.End(c)
	}
}

// Fork returns a copy of c for a concurrent task, which opens the repository itself and
// starts no mirror.
func (c *Invocation) Fork(ctx context.Context) *Invocation {
	own := *c
	own.Ctx, own.Store, own.Out.Warnings, own.mirror, own.StartMirror = ctx, nil, nil, nil, nil
	return &own
}

// With returns a copy of c that works on another store until ctx ends, and keeps the same mirror.
// The copy collects its own warnings.
func (c *Invocation) With(ctx context.Context, store *gitstore.Store) *Invocation {
	own := c.Fork(ctx)
	own.Store, own.mirror = store, c.mirror
	return own
}

// CloseMirror closes the folder of the mirrored files.
func (c *Invocation) CloseMirror() {
	if c.mirror != nil && !c.Detached {
		c.mirror.Close()
	}
}

// Close closes the store.
func (c *Invocation) Close() {
	if c.Store != nil && !c.Detached {
		c.Store.Close()
	}
}

// Warnf prints a warning to standard error. With --json the warning is deferred: if the
// command fails, standard error contains only the JSON object of the error.
func (c *Invocation) Warnf(format string, args ...any) {
	c.ShowIssue()
	text := fmt.Sprintf(format, args...)
	if c.Line.JSON {
		c.Out.Warnings = append(c.Out.Warnings, text)
		return
	}
	printWarning(c, text)
}

// WarnAlways is Warnf for work that may be lost: --quiet does not suppress it.
func (c *Invocation) WarnAlways(format string, args ...any) {
	c.ShowIssue()
	if c.Line.JSON || c.Out.Quiet {
		c.Warnf(format, args...)
		return
	}
	writeWarning(c, fmt.Sprintf(format, args...))
}

// FlushWarnings prints the warnings that were not added to a record.
func (c *Invocation) FlushWarnings() {
	for _, w := range c.TakeWarnings() {
		printWarning(c, w)
	}
}

// TakeWarnings returns and clears collected warnings, for a JSON record's warnings field.
func (c *Invocation) TakeWarnings() []string {
	taken := c.Out.Warnings
	c.Out.Warnings = nil
	return taken
}

// Infof prints the current step to standard error, unless --quiet or --json is set.
func (c *Invocation) Infof(format string, args ...any) {
	c.ShowIssue()
	if !c.Line.Common.Quiet && !c.Line.JSON {
		c.Out.Ticker.hide()
		fmt.Fprintf(c.Env.Stderr, "%s\n", view.Clean(fmt.Sprintf(format, args...)))
	}
}

func (c *Invocation) Printf(format string, args ...any) {
	c.ShowIssue()
	c.Out.Ticker.hide()
	fmt.Fprintf(c.Out, format, args...)
}

func (c *Invocation) WriteJSON(v any) error { return view.Write(c.Out, v) }

// A Writer keeps the first error, so that a result that could not be printed makes the
// command fail.
type Writer struct {
	W   io.Writer
	Err error
}

// Write writes to the output until a write fails.
func (w *Writer) Write(p []byte) (int, error) {
	if w.Err != nil {
		return 0, w.Err
	}
	n, err := w.W.Write(p)
	w.Err = err
	return n, err
}

// Each calls do for every issue and returns the joined errors. An error with the same text for
// several issues is named once, with their number.
func (c *Invocation) Each(issues []checkpoint.Issue, do func(checkpoint.Issue) error) error {
	var texts []string
	times, failed := map[string]int{}, 0
	var last error
	t := c.Tick(c.Line.Name)
	defer t.End()
	for k, i := range issues {
		if len(issues) > 1 {
			t.At(k, len(issues))
		}
		if err := do(i); err != nil {
			failed, last = failed+1, err
			if times[err.Error()]++; times[err.Error()] == 1 {
				texts = append(texts, err.Error())
			}
		}
	}
	switch {
	case last == nil:
		return nil
	case len(issues) == 1:
		return last
	}
	for k, text := range texts {
		if n := times[text]; n > 1 {
			texts[k] = fmt.Sprintf("%s (%d issues)", text, n)
		}
	}
	return failure.Errorf(failure.Partial, "", "%d of %d issues failed:\n%s", failed, len(issues), strings.Join(texts, "\n"))
}

// An Env holds the process environment: streams, variables and clock.
type Env struct {
	Argv    []string // command line of this process, nil if another program runs the command
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Environ []string
	Getenv  func(string) string
	Now     func() time.Time
	Tty     func() (io.ReadWriteCloser, error) // opens the terminal for questions
	InHook  bool                               // an agent's hook runs the command, and the agent waits
	Turn    *Turn                              // of the agent whose hook runs the command, or nil
	Like    *gitstore.Store                    // of the hook that runs the command in the same directory, or nil
}

// A Turn has the texts of an agent's last turn, shortened and without secrets, and its tokens.
type Turn struct {
	Agent   string // name of the agent, or ""
	Request string // last request of a person, or ""
	Answer  string // end of the agent's answer, or ""
	Hand    bool   // changes before a turn: a person's, or made while Agent is in another turn

	Usage   []checkpoint.Spent // tokens of the turn by model, nil if unknown
	UsageOf string             // identity of the turn within its transcript, or ""
	Commits []string           // commits that were made in this worktree during the turn, in hex
	Counted []checkpoint.Spent // tokens of the same turn in an earlier checkpoint, before turns of other sessions
}

// OSEnv returns the environment of this process.
func OSEnv() (*Env, error) {
	e := &Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Environ: os.Environ(), Getenv: os.Getenv, Now: time.Now, Tty: openTty,
	}
	if !terminal.Is(os.Stdout) {
		e.Stdout = view.ForRunner(os.Stdout, os.Getenv)
	}
	if !terminal.Is(os.Stderr) {
		e.Stderr = view.ForRunner(os.Stderr, os.Getenv)
	}
	if fixed := os.Getenv("GIT_CHECKPOINT_NOW"); fixed != "" {
		at, err := time.Parse(time.RFC3339Nano, fixed)
		if err != nil {
			return nil, failure.Usagef("GIT_CHECKPOINT_NOW: %q is not an RFC 3339 time", fixed)
		}
		e.Now = func() time.Time { return at }
	}
	return e, nil
}

// IsOff reports whether git reads a variable's value as false.
func IsOff(value string) bool {
	switch strings.ToLower(value) {
	case "0", "false", "no", "off":
		return true
	}
	return false
}

// A Command is the declaration of one subcommand.
type Command struct {
	Name, Alias string
	Category    string
	Usage       string
	Args        string // arguments, as shown in the help
	Max         int    // maximum number of arguments
	Description string
	Examples    []string // full command lines
	ShortHelp   []string // flags that the short help lists; nil for all flags
	Everyday    bool     // the short list of commands has this command
	Hidden      bool     // no list of commands has this command
	MayBeEmpty  []string // flags that accept an empty value

	// ReadsOnly is set if the command changes no checkpoints. Without a named issue, it may
	// then read the only issue that has checkpoints.
	ReadsOnly    bool
	ChangesFiles bool     // it changes files or branches nevertheless
	ReadingVerbs []string // first arguments with which a command that writes only reads

	Saves bool // the command saves the state of the work, so a warning names another issue of the branch

	// NeedsSettings is set if the command shows or applies the settings themselves. Open then
	// fails if a setting is invalid; otherwise Open prints a warning.
	NeedsSettings bool

	Run func(*Invocation) error // of a command without flags

	// New returns the flags of one run of the command, and the run, which finds their values in
	// its options.
	New func() ([]cli.Flag, func(*Invocation) error)
}

// Bind returns the New of a command with options of type O: flags declares each flag with the
// field that gets its value.
func Bind[O any](flags func(*O) []cli.Flag, run func(*Invocation, *O) error) func() ([]cli.Flag, func(*Invocation) error) {
	return func() ([]cli.Flag, func(*Invocation) error) {
		o := new(O)
		return flags(o), func(c *Invocation) error { return run(c, o) }
	}
}

// Start returns the flags of one run of the command without those of every command, and the
// run.
func (d *Command) Start() ([]cli.Flag, func(*Invocation) error) {
	if d.New == nil {
		return nil, d.Run
	}
	return d.New()
}

// OwnFlags returns the flags of the command without those of every command.
func (d *Command) OwnFlags() []cli.Flag {
	flags, _ := d.Start()
	return flags
}

// A List is the value of a repeatable flag: a cli.GenericFlag, because the library splits the
// values of its own repeatable flags at commas and loses invalid UTF-8.
type List []string

// Set adds a value.
func (l *List) Set(value string) error {
	*l = append(*l, value)
	return nil
}

// String returns "", as lists have no default.
func (l *List) String() string { return "" }

// Common has the flags of every command, except --json.
type Common struct {
	Quiet   bool   // print results only
	Verbose bool   // print more
	Dir     string // directory to run in, or ""
	Issue   string // value of --issue, or ""
}

// Flags returns the flags of every command.
func (o *Common) Flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "json", Usage: "print one JSON object on one line"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print results only", Destination: &o.Quiet},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "print more details", Destination: &o.Verbose},
		&cli.StringFlag{Name: "C", Usage: "run as if started in `DIR`", Destination: &o.Dir},
		&cli.StringFlag{Name: "issue", Usage: "`ISSUE` of the command", Destination: &o.Issue},
	}
}

// CommonFlags returns the flags of every command, to describe them.
func CommonFlags() []cli.Flag { return new(Common).Flags() }

// An OptionalFlag is a flag with an optional value. A value is attached with "=". The
// word after the flag is an argument: in "--push 42", 42 is an issue.
type OptionalFlag struct{ *cli.StringFlag }

// TakesValue returns false, so that the next word is not parsed as the value.
func (OptionalFlag) TakesValue() bool { return false }

// LeftOut is the value of an optional flag that is given without a value.
const LeftOut = "-"

// An Optional is what the command line says about an OptionalFlag: "" if it is not given.
type Optional string

// Given reports whether the flag is given.
func (o Optional) Given() bool { return o != "" }

// Value returns the value of the flag, or "" without one.
func (o Optional) Value() string {
	if o == LeftOut {
		return ""
	}
	return string(o)
}

// Nearest returns the candidate that a mistyped word probably means, or "". A candidate
// that is a prefix of the word, or the reverse, comes first. Otherwise the edit distance
// is at most two, and at most a third of the word's length.
func Nearest(word string, candidates []string) string {
	if word == "" {
		return ""
	}
	best, least := "", 1+min(2, len(word)/3)
	for _, c := range candidates {
		if strings.HasPrefix(c, word) || strings.HasPrefix(word, c) {
			return c
		}
		if n := config.EditDistance(word, c); n < least {
			best, least = c, n
		}
	}
	return best
}

// UnknownVerb returns the error for an unknown or missing verb. The hint is the probable
// verb, or usual, a verb that changes nothing.
func UnknownVerb(cmd, word, usual string, verbs []string) error {
	hint := "git checkpoint " + cmd + " " + cmp.Or(Nearest(word, verbs), usual)
	if word == "" {
		return failure.Errorf(failure.Usage, hint, "%s: no action given: use %s", cmd, view.List(verbs))
	}
	return failure.Errorf(failure.Usage, hint, "%s: %q is not one of %s", cmd, word, view.List(verbs))
}

func printWarning(c *Invocation, text string) {
	if !c.Out.Quiet && !c.Line.Common.Quiet {
		writeWarning(c, text)
	}
}

func writeWarning(c *Invocation, text string) {
	c.Out.Ticker.hide()
	fmt.Fprintf(c.Env.Stderr, "warning: %s\n", view.Clean(text))
}

// openTty opens the terminal for questions to a person. Standard input must be a
// terminal. The controlling terminal is no substitute: the command line of an agent or an
// editor has one too, but no person reads it.
func openTty() (io.ReadWriteCloser, error) {
	if IsOff(os.Getenv("GIT_TERMINAL_PROMPT")) {
		return nil, errors.New("GIT_TERMINAL_PROMPT disables questions")
	}
	switch {
	case !term.IsTerminal(int(os.Stdin.Fd())):
		return nil, errors.New("there is no terminal")
	case term.IsTerminal(int(os.Stderr.Fd())):
		return stdTty{os.Stderr}, nil
	}
	return stdTty{os.Stdin}, nil // a terminal is open for reading and writing
}

// stdTty reads from standard input and writes to out.
type stdTty struct{ out *os.File }

func (stdTty) Read(p []byte) (int, error)    { return os.Stdin.Read(p) }
func (t stdTty) Write(p []byte) (int, error) { return t.out.Write(p) }
func (stdTty) Close() error                  { return nil }
