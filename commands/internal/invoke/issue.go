package invoke

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/document"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/recovery"

	"github.com/urfave/cli/v2"
)

// Issue returns the issue for commands with [ISSUE] as the only argument.
func (c *Invocation) Issue() (i checkpoint.Issue, err error) {
	defer func() { c.Subject.Issue = i }()
	if len(c.Line.Args) == 0 {
		return c.InferIssue()
	}
	if i, err = c.ParseIssueArg(c.Line.Args[0]); err == nil {
		err = Agree(c, i)
		c.warnOtherIssue(i, "")
	}
	return i, err
}

// ParseIssue parses the key of an issue on the command line.
func ParseIssue(s string) (checkpoint.Issue, error) {
	i, err := checkpoint.ParseIssue(s)
	if err != nil {
		return "", failure.Usagef("%w", err)
	}
	return i, nil
}

// ParseIssueArg parses a positional key. White space in a key without checkpoints is an
// error, because it is probably a note without -m.
func (c *Invocation) ParseIssueArg(s string) (checkpoint.Issue, error) {
	i, err := ParseIssue(s)
	if err != nil || !hasSpace(s) || c.Store != nil && c.Store.HasIssue(c.Ctx, i) {
		return c.ofPlan(i), err
	}
	note := ""
	if c.HasFlag("message") {
		note = "a note goes after -m, "
	}
	return "", failure.Usagef("%s: %q is not an issue key here; %sa key with spaces goes after --issue", c.Line.Name, s, note)
}

// planID is the form of a workflow id of the recovery system.
var planID = document.Pattern(`^[0-9a-f]{32}$`)

// ofPlan returns the issue whose workflow has the other one of the two ids that its plan can
// have. It returns other keys, and those of existing issues, unchanged.
func (c *Invocation) ofPlan(i checkpoint.Issue) checkpoint.Issue {
	if !planID().MatchString(string(i)) || c.Store == nil || c.Store.HasIssue(c.Ctx, i) {
		return i
	}
	issues, err := c.IssuesWithCheckpoints()
	if err != nil {
		return i
	}
	for _, other := range issues {
		if !planID().MatchString(string(other)) {
			continue
		}
		if _, r, err := c.Store.NewestValid(c.Ctx, other); err == nil && slices.Contains(recovery.PlanIDs(r.PlanPath()), string(i)) {
			return other
		}
	}
	return i
}

func hasSpace(s string) bool { return strings.ContainsFunc(s, unicode.IsSpace) }

// Agree returns an error if --issue differs from the issue of the arguments, because one
// of them would be ignored.
func Agree(c *Invocation, i checkpoint.Issue) error {
	if other := c.Line.Common.Issue; other != "" && other != string(i) {
		return failure.Usagef("%s: conflicting issues: %s and --issue %s", c.Line.Name, i, other)
	}
	return nil
}

// IssueAndName returns the issue and the checkpoint name of a command with the arguments
// [ISSUE] [ID]. A single argument is the issue if an issue of that name exists. The flag --turn
// is another form of ID.
func (c *Invocation) IssueAndName() (i checkpoint.Issue, name string, err error) {
	defer func() { c.Subject.Issue = i }()
	if err := c.takeTurn(); err != nil {
		return "", "", err
	}
	switch len(c.Line.Args) {
	case 0:
		i, err = c.InferIssue()
		return i, gitstore.Latest, err
	case 1:
		return c.IssueOrName(c.Line.Args[0])
	}
	if i, err = c.ParseIssueArg(c.Line.Args[0]); err == nil {
		err = Agree(c, i)
	}
	return i, c.Line.Args[1], err
}

// IssueOrName decides whether a single argument is an issue or a checkpoint name.
// Checkpoint names have many forms, including imported ids. If no checkpoint matches, the
// argument is an issue without checkpoints, unless its form is that of a checkpoint name.
func (c *Invocation) IssueOrName(arg string) (checkpoint.Issue, string, error) {
	i, err := c.ParseIssueArg(arg)
	if err == nil && c.Store.HasIssue(c.Ctx, i) {
		return i, gitstore.Latest, Agree(c, i)
	}
	isName := NamesCheckpoint(arg) || err != nil && !hasSpace(arg)
	inferred, inferErr := c.InferIssue()
	if inferErr == nil {
		_, findErr := c.Find(inferred, arg)
		if !notFound(findErr) || isName || c.Line.Common.Issue != "" {
			return inferred, arg, nil
		}
	} else if isName {
		return "", "", inferErr
	}
	c.Subject.announcement, c.Subject.Inferred, c.Subject.NamedAfterBranch = "", false, false
	return i, gitstore.Latest, err
}

// NamesCheckpoint reports whether a word has the form of a checkpoint name. A number
// counts as an issue.
func NamesCheckpoint(s string) bool {
	return strings.HasPrefix(s, "CP-") || strings.HasPrefix(s, ":/") || strings.HasPrefix(s, "@{") || strings.HasPrefix(s, gitstore.Latest) || s == gitstore.First ||
		len(s) >= 4 && len(s) <= 2*len(gitstore.Checkpoint{}.Commit) && strings.Trim(s, "0123456789abcdef") == "" && strings.ContainsAny(s, "abcdef")
}

// CheckpointArgs returns the valid checkpoints that the arguments [ISSUE] ID... name, each once.
// They must name one.
func (c *Invocation) CheckpointArgs() ([]gitstore.Checkpoint, error) {
	if len(c.Line.Args) == 0 {
		return nil, failure.Errorf(failure.Usage, "git checkpoint list", "%s: no checkpoint given", c.Line.Name)
	}
	names := c.Line.Args
	issue, name, err := c.IssueOrName(names[0])
	c.Subject.Issue = issue
	if err != nil {
		return nil, err
	}
	if name == gitstore.Latest && names[0] != gitstore.Latest {
		names = names[1:] // behind an issue
	}
	if len(names) == 0 {
		return nil, failure.Errorf(failure.Usage, "git checkpoint list "+view.IssueArg(issue), "%s: issue %s: no checkpoint given", c.Line.Name, issue)
	}
	var found []gitstore.Checkpoint
	for _, name := range names {
		cp, err := c.Find(issue, name)
		if err != nil {
			return nil, err
		}
		if cp.ID == "" {
			return nil, failure.Errorf(failure.Invalid, "git checkpoint list "+view.IssueArg(issue), "%s: commit %s: %s", c.Line.Name, cp.Commit, cp.Problem)
		}
		if !slices.ContainsFunc(found, func(f gitstore.Checkpoint) bool { return f.Commit == cp.Commit }) {
			found = append(found, *cp)
		}
	}
	return found, nil
}

// PointArg returns the checkpoint that the arguments name, otherwise the one from which the
// work on the issue goes on. The point is nil if the arguments name a checkpoint.
func (c *Invocation) PointArg() (*gitstore.Checkpoint, *gitstore.Point, error) {
	issue, name, err := c.IssueAndName()
	if err != nil {
		return nil, nil, err
	}
	if name == gitstore.Latest && (len(c.Line.Args) == 0 || c.Line.Args[len(c.Line.Args)-1] != gitstore.Latest) {
		p, err := c.Store.Point(c.Ctx, issue)
		if err != nil {
			return nil, nil, err
		}
		return p.Checkpoint, p, nil
	}
	cp, err := c.Find(issue, name)
	return cp, nil, err
}

// TurnFlag is the flag --turn of commands that use IssueAndName.
func TurnFlag() cli.Flag {
	return &cli.IntFlag{Name: "turn", Usage: "the turn of an agent with number `N`, as of list --turns"}
}

func (c *Invocation) takeTurn() error {
	if !c.Line.Flags.IsSet("turn") {
		return nil
	}
	n := c.Line.Flags.Int("turn")
	if n < 1 {
		return failure.Usagef("%s: --turn: %d is no number of a turn", c.Line.Name, n)
	}
	if len(c.Line.Args) > 1 {
		return failure.Usagef("%s: --turn and the name of a checkpoint cannot be combined", c.Line.Name)
	}
	c.Line.Args = append(c.Line.Args, fmt.Sprintf("@{turn:%d}", n))
	return nil
}

// Find returns the checkpoint of an issue that matches a name, as Store.Find does. The file
// that the layout of the issue has for its newest state also names the newest checkpoint,
// without its extension. Find prints that the id of the checkpoint has another content too.
func (c *Invocation) Find(issue checkpoint.Issue, name string) (*gitstore.Checkpoint, error) {
	cp, err := c.Store.Find(c.Ctx, issue, name)
	if err == nil && cp.Double && c.Subject.double != cp.Commit.String() {
		c.Subject.double = cp.Commit.String()
		c.Infof("%s: %s", cp.Name(), view.DoubleText(cp))
	}
	if !errors.As(err, new(*gitstore.NotFoundError)) {
		return cp, err
	}
	newest, r, validErr := c.Store.NewestValid(c.Ctx, issue)
	if validErr != nil || r.Layout() == "" {
		return nil, err
	}
	files, filesErr := layout.Find(layout.Name(r.Layout())).FilesOf([]*checkpoint.Record{r})
	if filesErr != nil || !slices.ContainsFunc(files, func(f layout.Output) bool { return path.Base(f.Path) == name+".json" }) {
		return nil, err
	}
	return newest, nil
}

// HasFlag reports whether the command has a flag of this name.
func (c *Invocation) HasFlag(name string) bool {
	return c.Line.Command != nil && slices.ContainsFunc(c.Line.Command.OwnFlags(), func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
}

// ShowIssue prints the announced issue.
func (c *Invocation) ShowIssue() {
	text := c.Subject.announcement
	c.SkipIssue()
	if text != "" && text != announced {
		c.Infof("%s", text)
	}
}

// TakeAnnouncement returns the announced issue for a line that the command prints itself, or
// text if the command line names the issue.
func (c *Invocation) TakeAnnouncement(text string) string {
	if c.Subject.announcement != "" && c.Subject.announcement != announced {
		text = c.Subject.announcement
	}
	c.SkipIssue()
	return text
}

// SkipIssue suppresses the announced issue, for a command with output that names it.
func (c *Invocation) SkipIssue() {
	if c.Subject.announcement != "" {
		c.Subject.announcement = announced
	}
}

// announced replaces an announcement that was printed.
const announced = "-"

// IssuesWithCheckpoints returns the issues whose chain is not empty, sorted. A damaged chain counts
// too.
func (c *Invocation) IssuesWithCheckpoints() ([]checkpoint.Issue, error) {
	tips, _, err := c.Store.NewestOfEach(c.Ctx)
	slices.SortFunc(tips, func(a, b gitstore.Tip) int { return checkpoint.CompareIssues(a.Issue, b.Issue) })
	return issuesOf(tips), err
}

func issuesOf(tips []gitstore.Tip) []checkpoint.Issue {
	var issues []checkpoint.Issue
	for _, t := range tips {
		issues = append(issues, t.Issue)
	}
	return issues
}

// TellStrange warns of refs among the chains whose names are not issue keys.
func TellStrange(c *Invocation, names []string) {
	for _, name := range view.Few(names, 3) {
		c.Warnf("%s is ignored: not a valid issue key", view.Truncate(name, 100))
	}
}

// DamageHint returns the commands that recover from damage of an issue, or "" if it has none.
func DamageHint(c *Invocation, issue checkpoint.Issue) string {
	r, err := c.Store.Verify(c.Ctx, issue)
	if err != nil || len(r.Errors) == 0 {
		return ""
	}
	return RecoveryHint(c, r, false)
}

// RecoveryHint returns the commands that recover from the damage in a report, one a line, or "". The
// first one gets whole copies of damaged objects. The last one deletes damaged checkpoints, if no copy
// is known; an intact checkpoint is never deleted. searched means that doctor --fix found no copy.
func RecoveryHint(c *Invocation, r *gitstore.Report, searched bool) string {
	arg := view.IssueArg(r.Issue)
	l, err := c.Store.List(c.Ctx, r.Issue, 0)
	isDamaged := func(cp gitstore.Checkpoint) bool {
		return cp.ID == "" || slices.Contains(r.Broken, string(cp.ID)) || slices.Contains(r.Broken, cp.Commit.String())
	}
	var commands []string
	elsewhere := !searched && len(r.Lost) > 0 && (len(c.Store.RemoteNames()) > 0 || c.Store.Borrows()) // until doctor --fix has searched, a copy can be anywhere
	// Doctor also sets a ref back.
	if elsewhere || r.BrokenRef {
		commands = append(commands, "git checkpoint doctor --fix")
	}
	if p, pointErr := c.Store.Point(c.Ctx, r.Issue); err == nil && (pointErr != nil || isDamaged(*p.Checkpoint)) && slices.ContainsFunc(l.Checkpoints, func(cp gitstore.Checkpoint) bool { return !isDamaged(cp) }) {
		commands = append(commands, "git checkpoint resume "+arg+" --fallback")
	}
	switch {
	case elsewhere || r.BrokenRef:
	case len(r.Broken) > 0:
		drop := "git checkpoint drop " + arg
		for _, name := range r.Broken {
			drop += " " + view.QuoteArg(name)
		}
		commands = append(commands, drop+" # deletes the damaged checkpoint in every clone")
	case len(r.Lost) > 0:
		commands = append(commands, "git remote add backup <path> && git checkpoint doctor --fix # with another clone or a backup that is whole")
	}
	return strings.Join(commands, "\n")
}

// Remote returns the first of PushRemotes.
func (c *Invocation) Remote(named string, issues ...checkpoint.Issue) (string, error) {
	names, err := c.PushRemotes(named, issues...)
	if err != nil {
		return "", err
	}
	return names[0], nil
}

// FetchRemotes is PushRemotes for a fetch, which needs no choice of a remote for pushes.
func (c *Invocation) FetchRemotes(named string, issues ...checkpoint.Issue) ([]string, error) {
	names, err := c.PushRemotes(named, issues...)
	if len(names) > 0 {
		err = nil
	}
	return names, err
}

// PushRemotes returns the given remote, otherwise those of the settings and of git as Store.Remotes does,
// that of pushes first. The given remote is the name of a configured remote, a URL or a path.
func (c *Invocation) PushRemotes(named string, issues ...checkpoint.Issue) ([]string, error) {
	plain := named != "" && named[0] != '-' && !strings.ContainsAny(named, `/\:`)
	if plain && !slices.Contains(c.Store.RemoteNames(), named) {
		if _, err := os.Stat(named); err != nil && !c.gitKnowsRemote(named) {
			meant := Nearest(named, c.Store.RemoteNames())
			if meant != "" {
				meant = "; did you mean " + meant + "?"
			}
			return nil, failure.Errorf(failure.Remote, "git remote -v", "%s: %s: there is no such remote%s", c.Line.Name, named, meant)
		}
	}
	if name := cmp.Or(named, c.Settings.String("remote")); name != "" {
		return []string{name}, nil
	}
	if err := c.CheckRemoteSetting(); err != nil {
		return nil, err
	}
	return c.Store.Remotes(c.Ctx, issues...)
}

// gitKnowsRemote reports whether git has a URL for a name outside of remote.*.url: from
// url.*.insteadOf, remote.*.pushurl or a file in .git/remotes.
func (c *Invocation) gitKnowsRemote(name string) bool {
	fetched, err := c.Store.Git().Output(c.Ctx, "ls-remote", "--get-url", name)
	if err != nil || strings.TrimSpace(string(fetched)) != name {
		return true // git names the cause of an error
	}
	return slices.ContainsFunc(c.Store.Config(), func(e gitstore.ConfigEntry) bool { return e.Key == "remote."+name+".pushurl" })
}

// RemoteTimeout returns the time limit of one connection.
func (c *Invocation) RemoteTimeout() time.Duration {
	return time.Duration(c.Settings.Int("timeouts.remote")) * time.Second
}

// CheckLayout returns an error if a value of --as names no layout.
func (c *Invocation) CheckLayout(as layout.Name) error {
	if as == "" {
		return nil
	}
	if _, err := layout.Parse(string(as)); err != nil {
		return failure.Usagef("%s: --as: %w", c.Line.Name, err)
	}
	return nil
}

// notFound reports whether the error means that no checkpoint has the name, or that the
// issue has no checkpoint at all.
func notFound(err error) bool {
	var missing *gitstore.NotFoundError
	var none *gitstore.NoneError
	return errors.As(err, &missing) || errors.As(err, &none)
}
