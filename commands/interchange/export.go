package interchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/mirror"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/pipeline"

	"github.com/urfave/cli/v2"
)

// ExportCommand declares git checkpoint export.
var ExportCommand = invoke.Command{
	Name: "export", Usage: "write an issue's checkpoints as another system's files", Args: "[ISSUE] [ID or BRANCH]", Max: 2, Category: "Share",
	Description: "Writes the files where that system looks for them, or into --dir: for crunch every\n" +
		"checkpoint, an index and a link to the newest; for the others the newest state.\n" +
		"With an ID, and for work that is archived as a whole, one checkpoint is written.\n" +
		"What was read from such a file and did not change is written back byte for byte.\n" +
		"jsonl is one object a line, each checkpoint with the one before it and its record.\n" +
		"With --as commits the second argument is a new branch: it gets a commit for each\n" +
		"checkpoint, with the whole state of the work, so that every git tool reads them.\n" +
		"A file that is something else is not overwritten, and the dotagent files of\n" +
		"another workflow are moved to .archive first.",
	Examples: []string{
		"git checkpoint export 42 --as crunch",
		"git checkpoint export PROJ-42 --as pipeline --dir ../pipeline",
		"git checkpoint export 42 --as jsonl > 42.jsonl",
		"git checkpoint export 42 --as commits states-of-42",
	},
	ReadsOnly: true,
	New:       invoke.Bind((*exportOptions).flags, runExport),
}

func (o *exportOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "as", Usage: "`LAYOUT` of the files: " + view.OneOf(layout.Names()) + ", jsonl for analysis, or commits for a branch", Destination: (*string)(&o.as)},
		&cli.StringFlag{Name: "dir", Usage: "write into `DIR`", Destination: &o.target},
		&cli.BoolFlag{Name: "force", Usage: "overwrite files that are not from an export", Destination: &o.force},
	}
}

// Values of --as that are no layouts.
const (
	jsonLines layout.Name = "jsonl"
	commits   layout.Name = "commits"
)

// exportOptions holds the flags of export.
type exportOptions struct {
	as     layout.Name // a layout or jsonLines
	target string      // directory to write to, "" for the layout's own
	force  bool        // overwrite files of another format
}

// check returns an error for invalid values, and for flags that do not go together.
func (o *exportOptions) check(c *invoke.Invocation) error {
	switch {
	case o.as == jsonLines && c.Line.JSON && o.target == "":
		return failure.Usagef("export: --as jsonl already prints JSON: omit --json, or give --dir")
	case o.as == commits && (o.target != "" || o.force):
		return failure.Usagef("export: --as commits writes a branch: it takes no --dir and no --force")
	case o.as == jsonLines && len(c.Line.Args) > 1:
		return failure.Usagef("export: --as jsonl writes all checkpoints of an issue: give no ID")
	case o.as == "":
		return failure.Usagef("export: no layout given: use --as with %s", view.OneOf(layout.Names()))
	case o.as == jsonLines, o.as == commits:
		return nil
	}
	return c.CheckLayout(o.as)
}

func runExport(c *invoke.Invocation, o *exportOptions) error {
	if err := o.check(c); err != nil {
		return err
	}
	if err := c.Open(); err != nil {
		return err
	}
	if o.as == commits {
		return exportCommits(c)
	}
	x, name := &exporting{c: c, exportOptions: *o}, "" // of the checkpoint
	var err error
	if len(c.Line.Args) < 2 {
		x.issue, err = c.Issue()
	} else {
		x.issue, name, err = c.IssueAndName()
	}
	if err != nil {
		return err
	}
	if o.as == jsonLines {
		return x.exportLines()
	}
	t := c.Tick("export: reading checkpoints")
	defer t.End()
	files, err := x.files(name)
	if err != nil {
		return err
	}
	if err := x.write(files); err != nil {
		return err
	}
	if x.root == c.Store.Root() && o.target == "" {
		work.ExcludeFolder(c, work.FolderPattern(c, o.as))
	}
	return x.show()
}

// exportCommits creates the branch that the arguments [ISSUE] BRANCH name.
func exportCommits(c *invoke.Invocation) (err error) {
	if len(c.Line.Args) == 0 {
		return failure.Errorf(failure.Usage, "git checkpoint export --as commits BRANCH", "export: no branch given")
	}
	branch := c.Line.Args[len(c.Line.Args)-1]
	c.Line.Args = c.Line.Args[:len(c.Line.Args)-1]
	issue, err := c.Issue()
	if err != nil {
		return err
	}
	tip, n, err := c.Store.CreateBranch(c.Ctx, issue, branch)
	if err != nil {
		return err
	}
	if c.Line.JSON {
		return c.WriteJSON(view.Export{Type: "export", Issue: string(issue), Layout: string(commits), Branch: branch, Commit: tip.String(), Warnings: c.TakeWarnings()})
	}
	c.Printf("%s\n", branch)
	c.Infof("branch %s: %s, one commit for each checkpoint of issue %s", view.Clean(branch), view.Plural(n, "state"), issue)
	return nil
}

// files returns the files of the named checkpoint. Without a name they are those of the issue,
// or of its newest archived checkpoint if the whole chain is archived. Work that failed goes to
// the layout's folder for it.
func (x *exporting) files(name string) ([]layout.Output, error) {
	if name == "" {
		records, err := work.RecordsToExport(x.c, x.issue, x.as)
		switch l, archiveErr := x.c.Store.Archived(x.c.Ctx, x.issue, 1); {
		case err == nil:
			return x.filesOf(records)
		case !errors.As(err, new(*gitstore.NoneError)) || archiveErr != nil || len(l.Checkpoints) == 0:
			return nil, err
		default:
			name = string(l.Checkpoints[0].ID)
		}
	}
	cp, err := x.c.Find(x.issue, name)
	if err != nil {
		return nil, err
	}
	r, err := x.c.Store.VerifiedRecord(cp)
	if err != nil {
		return nil, err
	}
	if work.IsFailure(x.as, cp) {
		if files, err := layout.Find(x.as).FailedFilesOf([]*checkpoint.Record{r}); err == nil && len(files) > 0 {
			return files, nil
		}
	}
	return x.filesOf([]*checkpoint.Record{r})
}

func (x *exporting) filesOf(records []*checkpoint.Record) ([]layout.Output, error) {
	if x.as == pipeline.Name {
		records[0] = joinedLead(x.c, records[0])
	}
	files, err := layout.Find(x.as).FilesOf(records)
	if err != nil {
		return nil, fmt.Errorf("export: issue %s: %w", x.issue, err)
	}
	return files, nil
}

// joinedLead returns the joined record of a pipeline's lead, or another record unchanged. It
// warns about the conflicts that the files do not have.
func joinedLead(c *invoke.Invocation, r *checkpoint.Record) *checkpoint.Record {
	joined, all := work.JoinStories(c, r)
	paused := false
	for _, s := range all {
		switch text := s.Conflict(); {
		case text == "":
		case s.Own == story.Paused:
			paused = true
		default:
			c.Warnf("%s", text)
		}
	}
	if paused {
		pipeline.CountStories(joined)
	}
	addStats(c, joined, all)
	return joined
}

// addStats adds the times of the stages and the changes of each story with a checkpoint of its
// own to the lead's document: the changes since the story's oldest checkpoint.
func addStats(c *invoke.Invocation, lead *checkpoint.Record, all []story.Standing) {
	var own []story.Standing
	var pairs []gitstore.Pair
	for _, s := range all {
		if s.Record == nil {
			continue
		}
		l, err := c.Store.List(c.Ctx, s.Record.Issue(), 0)
		if err != nil || len(l.Checkpoints) == 0 {
			continue
		}
		own = append(own, s)
		pairs = append(pairs, gitstore.Pair{From: &l.Checkpoints[len(l.Checkpoints)-1], To: &l.Checkpoints[0]})
	}
	for i, total := range c.Store.Files.TotalsOf(c.Ctx, pairs) {
		git := pipeline.GitStats{}
		if total != nil {
			git = pipeline.GitStats(*total)
		}
		pipeline.AddStats(lead, own[i].Record, own[i].Story, git)
	}
}

// folder returns the target directory: a root that paths must not escape, and the path
// below it.
func (x *exporting) folder() (root, below string, err error) {
	switch {
	case x.target != "":
		return x.target, ".", nil
	case x.c.Store.Root() == "":
		return "", "", failure.Usagef("export: the repository has no worktree: give a directory with --dir")
	}
	folder := work.LayoutFolder(x.c, x.as, x.issue)
	if !filepath.IsLocal(filepath.FromSlash(folder)) { // trusted settings may name any directory
		return filepath.FromSlash(folder), ".", nil
	}
	return x.c.Store.Root(), folder, nil
}

func (x *exporting) show() error {
	if x.c.Line.JSON {
		return x.c.WriteJSON(view.Export{
			Type: "export", Issue: string(x.issue), Layout: string(x.as), Dir: view.QuotePath(filepath.Join(x.root, filepath.FromSlash(x.below))),
			Files: view.QuotePaths(x.written), Unchanged: view.QuotePaths(x.unchanged), Warnings: x.c.TakeWarnings(),
		})
	}
	for _, name := range x.written {
		x.c.Printf("%s\n", view.QuotePath(filepath.Join(x.root, filepath.FromSlash(x.below), filepath.FromSlash(name))))
	}
	return nil
}

// exportLines writes the issue's checkpoints for analysis, oldest first. Each line is a
// JSON object with the id of the previous checkpoint and the whole record, which is left out if
// it cannot be read. Without --dir, exportLines writes to standard output.
func (x *exporting) exportLines() error {
	l, err := x.c.Store.List(x.c.Ctx, x.issue, 0)
	if err == nil && len(l.Checkpoints) == 0 {
		l, err = x.c.Store.Archived(x.c.Ctx, x.issue, 0)
	}
	if err == nil && len(l.Checkpoints) == 0 {
		err = &gitstore.NoneError{Issue: x.issue}
	}
	if err != nil {
		return err
	}
	var lines bytes.Buffer
	before := ""
	for _, cp := range slices.Backward(l.Checkpoints) {
		t := view.Tuple{
			Type: "tuple", ThreadID: string(cp.Issue), CheckpointID: string(cp.ID), ParentCheckpointID: before,
			Commit: cp.Commit.String(), Metadata: view.ListedRecord(&cp),
		}
		before = t.CheckpointID
		if r, err := x.c.Store.Record(&cp); err != nil {
			x.c.Warnf("%s has no record: %v", cp.ID, err)
		} else if data, err := r.JSON(); err != nil {
			return err
		} else {
			t.Checkpoint = json.RawMessage(data)
		}
		if err := view.Write(&lines, t); err != nil {
			return err
		}
	}
	if x.target == "" {
		_, err := lines.WriteTo(x.c.Out)
		return err
	}
	name := x.issue.RefName() + ".jsonl"
	x.root, x.below, x.written = x.target, ".", []string{name}
	if err := x.open(); err != nil {
		return err
	}
	defer x.dir.Close()
	if err := mirror.Replace(x.dir, name, layout.Output{Path: name, Data: lines.Bytes()}); err != nil {
		return fmt.Errorf("export: %s: %w", view.QuotePath(name), err)
	}
	return x.show()
}
