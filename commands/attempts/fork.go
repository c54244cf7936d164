// Package attempts has the commands for several attempts from one checkpoint: fork, compare and
// adopt.
package attempts

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"

	"github.com/urfave/cli/v2"
)

// ForkCommand declares git checkpoint fork.
var ForkCommand = invoke.Command{
	Name: "fork", Usage: "start several attempts from one checkpoint", Args: "[ISSUE] NAME...", Max: 1000, Category: "Attempts",
	ShortHelp: []string{"from", "worktree"},
	Description: "For issue 42 and the names a and b it makes the issues 42+a and 42+b. The first checkpoint\n" +
		"of each has the files and the record of the checkpoint from which the work on issue 42 goes\n" +
		"on. With --worktree each has a worktree beside this one, with a branch of its own: a save\n" +
		"there belongs to the fork. Otherwise `git checkpoint resume 42+a` begins an attempt.",
	Examples: []string{
		"git checkpoint fork 42 a b --worktree",
		"git checkpoint fork 42 other --from latest~2",
	},
	ReadsOnly: true, ChangesFiles: true,
	New: invoke.Bind((*forkOptions).flags, runFork),
}

// maxForks limits the forks of one command, because their refs move in one transaction.
const maxForks = 64

type forkOptions struct {
	from     string // name of the checkpoint, or ""
	worktree bool
	dryRun   bool
}

func (o *forkOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "from", Usage: "start from checkpoint `ID` of the issue", Destination: &o.from},
		&cli.BoolFlag{Name: "worktree", Usage: "make a worktree and a branch for each fork, and restore the files there", Destination: &o.worktree},
		&cli.BoolFlag{Name: "dry-run", Usage: "print the forks without making them", Destination: &o.dryRun},
	}
}

type newFork struct {
	name       string
	issue      checkpoint.Issue
	branch     string // with --worktree, else ""
	dir        string // likewise
	checkpoint *gitstore.Checkpoint
}

func runFork(c *invoke.Invocation, o *forkOptions) error {
	if err := c.Open(); err != nil {
		return err
	}
	issue, names, err := forkArgs(c)
	if err != nil {
		return err
	}
	if len(names) > maxForks {
		return failure.Usagef("fork: at most %d forks at once, got %d", maxForks, len(names))
	}
	c.Subject.Issue = issue
	var from *gitstore.Checkpoint // of --from, otherwise the one from which the work goes on
	if o.from != "" {
		from, err = c.Find(issue, o.from)
	} else if p, pointErr := c.Store.Point(c.Ctx, issue); pointErr != nil {
		err = pointErr
	} else {
		from = p.Checkpoint
	}
	if err != nil {
		return err
	}
	forks := make([]newFork, len(names))
	for n, name := range names {
		forks[n] = newFork{name: name, issue: issue.ForkOf(name)}
	}
	if o.worktree {
		if err := planWorktrees(c, from, forks); err != nil {
			return err
		}
	}
	if err := makeForks(c, o, from, forks); err != nil {
		return err
	}
	if o.worktree && !o.dryRun {
		for n := range forks { // after it, the last worktree is the working directory
			if err := makeWorktree(c, &forks[n]); err != nil {
				hint := "git checkpoint resume " + view.IssueArg(forks[n].issue) + " --worktree " + view.Shell(forks[n].dir)
				return failure.Errorf(failure.Failure, hint, "fork: %s, but: %w", created(forks), err)
			}
		}
	}
	return showForks(c, o, from, forks)
}

// forkArgs returns the issue and the names of the arguments [ISSUE] NAME... The first of several
// arguments is the issue if it is a number, or if such an issue has checkpoints.
func forkArgs(c *invoke.Invocation) (issue checkpoint.Issue, names []string, err error) {
	names = c.Line.Args
	if len(names) > 1 && c.Line.Common.Issue == "" {
		i, err := checkpoint.ParseIssue(names[0])
		if _, isNumber := i.Number(); err == nil && (isNumber || c.Store.HasIssue(c.Ctx, i)) {
			issue, names = i, names[1:]
		}
	}
	if len(names) == 0 {
		return "", nil, failure.Errorf(failure.Usage, "git checkpoint fork a b", "fork: no name of a fork given")
	}
	for n, name := range names {
		if !checkpoint.IsForkName(name) {
			return "", nil, failure.Usagef("fork: %q cannot be the name of a fork: want a word without marks that git forbids in branches, without / and +", name)
		}
		if slices.Contains(names[:n], name) {
			return "", nil, failure.Usagef("fork: %s is named twice", name)
		}
	}
	if issue == "" {
		issue, err = c.InferIssue()
	}
	return issue, names, err
}

// planWorktrees sets branch and directory of each fork. It fails if a branch or a directory exists,
// except for those of a fork that a killed command has begun.
func planWorktrees(c *invoke.Invocation, from *gitstore.Checkpoint, forks []newFork) error {
	if c.Env.Getenv("GIT_INDEX_FILE") != "" {
		return failure.Usagef("fork: --worktree: GIT_INDEX_FILE is set, and git would write the new worktree's index there")
	}
	branch, err := c.CurrentBranch()
	if branch = cmp.Or(from.Branch, branch); err != nil || branch == "" {
		return cmp.Or(err, failure.Usagef("fork: --worktree: the checkpoint has no branch, and HEAD is detached"))
	}
	root := c.Store.Root()
	if root == "" {
		return failure.Usagef("fork: --worktree: there is no worktree here")
	}
	for n := range forks {
		f := &forks[n]
		f.branch, f.dir = branch+"-"+f.name, root+"-"+f.name
		if f.checkpoint = begun(c, from, f); f.checkpoint != nil || c.Store.HasIssue(c.Ctx, f.issue) {
			continue // makeForks refuses the latter
		}
		b, err := c.Store.Facts.FindBranch(c.Ctx, f.branch, time.Time{})
		if err != nil {
			return err
		}
		if b.Exists {
			return failure.Errorf(failure.Refused, "git branch -m "+view.QuoteArg(f.branch)+" NAME", "fork: branch %s exists", f.branch)
		}
		if _, err := os.Lstat(f.dir); !errors.Is(err, fs.ErrNotExist) {
			return failure.Errorf(failure.Refused, "git worktree list", "fork: %s exists", view.QuotePath(f.dir))
		}
	}
	return nil
}

// begun returns the checkpoint of a fork that was killed before its worktree had the files of the
// checkpoint, or nil.
func begun(c *invoke.Invocation, from *gitstore.Checkpoint, f *newFork) *gitstore.Checkpoint {
	p, r, err := c.Store.PointRecord(c.Ctx, f.issue)
	if err != nil || r.Fork().Issue != from.Issue || r.Fork().ID != from.ID || p.Branch != gitstore.RecordedBranch(f.branch) {
		return nil
	}
	if l, err := c.Store.List(c.Ctx, f.issue, 0); err != nil || len(l.Checkpoints) != 1 {
		return nil
	}
	if there, err := gitstore.Open(c.Ctx, gitstore.Options{Dir: f.dir}); err == nil {
		defer there.Close()
		if there.HasRestored(c.Ctx, f.issue) {
			return nil
		}
	}
	return p.Checkpoint
}

func makeForks(c *invoke.Invocation, o *forkOptions, from *gitstore.Checkpoint, forks []newFork) error {
	req := gitstore.ForkRequest{From: from, Branches: map[string]string{}, DryRun: o.dryRun}
	for _, f := range forks {
		if f.checkpoint != nil {
			continue
		}
		req.Names = append(req.Names, f.name)
		if f.branch != "" {
			req.Branches[f.name] = f.branch
		}
	}
	if len(req.Names) == 0 {
		return nil
	}
	made, err := c.Store.Fork(c.Ctx, req)
	for n := range made {
		k := slices.IndexFunc(forks, func(f newFork) bool { return f.name == req.Names[n] })
		forks[k].checkpoint = &made[n]
	}
	if err != nil && len(made) > 0 {
		return failure.DoneErrorf("fork: %s: %w", created(forks), err)
	}
	return err
}

// created names the issues of the forks in an error.
func created(forks []newFork) string {
	issues := view.Each(forks, func(f newFork) string { return string(f.issue) })
	if len(issues) == 1 {
		return "the fork " + issues[0] + " is created"
	}
	return "the forks " + view.List(issues) + " are created"
}

func makeWorktree(c *invoke.Invocation, f *newFork) error {
	if _, err := c.Store.Facts.FindOrAddWorktree(c.Ctx, f.checkpoint, f.dir); err != nil {
		return err
	}
	c.Close()
	if err := gitstore.EnterWorktree(f.dir); err != nil {
		return err
	}
	if err := c.Open(); err != nil {
		return err
	}
	t := c.TickFiles("fork: writing files")
	done, err := c.Store.Restore(c.Ctx, gitstore.RestoreRequest{Checkpoint: f.checkpoint, AnyHead: true})
	t.End()
	if err != nil {
		return err
	}
	if left := slices.Concat(done.Skipped, done.InTheWay); len(left) > 0 {
		return fmt.Errorf("%s: not restored: %s", view.QuotePath(f.dir), view.Files(left, 3))
	}
	if i, err := c.BranchIssue(f.branch); err == nil && i == f.issue {
		return nil
	}
	if err := c.NoteStart(f.issue); err != nil {
		return err
	}
	if i, err := c.NamedIssue(); err != nil || i != f.issue {
		c.Warnf("the branch %s names another issue: save with --issue %s there", f.branch, view.QuoteArg(string(f.issue)))
	}
	return nil
}

func showForks(c *invoke.Invocation, o *forkOptions, from *gitstore.Checkpoint, forks []newFork) error {
	record := view.Fork{Type: "fork", DryRun: o.dryRun, Issue: string(from.Issue), CheckpointID: string(from.ID)}
	for _, f := range forks {
		e := view.ForkEntry{Issue: string(f.issue), Name: f.name, Branch: f.branch, Worktree: f.dir}
		line := "would make " + view.Clean(string(f.issue))
		if f.checkpoint != nil {
			e.CheckpointID = string(f.checkpoint.ID)
			line = view.Clean(string(f.issue)) + " " + e.CheckpointID
		}
		if f.dir != "" {
			line += " " + view.QuotePath(f.dir)
		}
		record.Forks = append(record.Forks, e)
		if !c.Line.JSON {
			c.Printf("%s\n", line)
		}
	}
	if c.Line.JSON {
		return c.WriteJSON(record)
	}
	switch first := forks[0]; {
	case o.dryRun:
	case o.worktree:
		c.Infof("hint: cd %s", view.Shell(first.dir))
	default:
		c.Infof("hint: git checkpoint resume %s", view.IssueArg(first.issue))
	}
	return nil
}

// forksOf returns the issues of the forks of an issue. It fails if the issue has no forks.
func forksOf(c *invoke.Invocation, issue checkpoint.Issue) ([]checkpoint.Issue, error) {
	defer c.Store.CacheRefs(c.Ctx)()
	forks, err := c.Store.Forks(c.Ctx, issue)
	if err == nil && len(forks) == 0 {
		err = failure.Errorf(failure.None, "git checkpoint fork "+view.IssueArg(issue)+" a b", "%s: issue %s has no forks", c.Line.Name, issue)
	}
	return forks, err
}
