package interchange

import (
	"path/filepath"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/layoutfiles"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore/layout"

	"github.com/urfave/cli/v2"
)

// ExportCommand declares git checkpoint export.
var ExportCommand = invoke.Command{
	Name: "export", Usage: "write an issue's checkpoints as another system's files", Args: "[ISSUE]", Max: 1, Category: "Share",
	Description: "Writes the files where that system looks for them, or into --dir: for crunch every\n" +
		"checkpoint, an index and a link to the newest; for the others the newest state.\n" +
		"What was read from such a file and did not change is written back byte for byte.\n" +
		"jsonl is one object a line, each checkpoint with the one before it and its record.\n" +
		"A file that is something else is not overwritten, and the dotagent files of\n" +
		"another workflow are moved to .archive first.",
	Examples: []string{
		"git checkpoint export 42 --as crunch",
		"git checkpoint export PROJ-42 --as pipeline --dir ../pipeline",
		"git checkpoint export 42 --as jsonl > 42.jsonl",
	},
	Flags: exportFlags,
	Run:   runExport,
}

func exportFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "as", Usage: "the `LAYOUT`: crunch, claude, recovery, dotagent or pipeline, or jsonl for analysis"},
		&cli.StringFlag{Name: "dir", Usage: "write into `DIR`"},
		&cli.BoolFlag{Name: "force", Usage: "overwrite files that are something else"},
	}
}

func runExport(c *invoke.Invocation) error {
	if c.Flags.String("as") == "jsonl" {
		return exportLines(c)
	}
	as, err := invoke.LayoutFlag(c)
	if err != nil {
		return err
	}
	if as == "" {
		return exit.Usagef("export: --as: which layout? crunch, claude, recovery, dotagent or pipeline")
	}
	if err := c.Open(); err != nil {
		return err
	}
	issue, err := c.Issue()
	if err != nil {
		return err
	}
	records, err := layoutfiles.RecordsToExport(c, issue, as)
	if err != nil {
		return err
	}
	files, err := layout.Files(as, records)
	if err != nil {
		return exit.Errorf(exit.Failure, "", "export: issue %s: %w", issue, err)
	}
	x := &exporting{c: c, as: as, issue: issue}
	if err := x.write(files); err != nil {
		return err
	}
	if x.root == c.Store.Root() && c.Flags.String("dir") == "" {
		layoutfiles.ExcludeFolder(c, layoutfiles.FolderPattern(c, as))
	}
	return x.show()
}

// folder returns the target directory: a root that paths must not escape, and the path
// below it.
func (x *exporting) folder() (root, below string, err error) {
	switch dir := x.c.Flags.String("dir"); {
	case dir != "":
		return dir, ".", nil
	case x.c.Store.Root() == "":
		return "", "", exit.Usagef("export: --dir: which directory? The repository has no worktree")
	}
	folder := layoutfiles.LayoutFolder(x.c, x.as, x.issue)
	if !filepath.IsLocal(filepath.FromSlash(folder)) { // trusted settings may name any directory
		return filepath.FromSlash(folder), ".", nil
	}
	return x.c.Store.Root(), folder, nil
}

func (x *exporting) show() error {
	if x.c.JSON {
		return x.c.WriteJSON(output.Export{
			Type: "export", Issue: string(x.issue), Layout: string(x.as), Dir: phrase.QuotePath(filepath.Join(x.root, filepath.FromSlash(x.below))),
			Files: phrase.QuotePaths(x.written), Unchanged: phrase.QuotePaths(x.unchanged), Warnings: x.c.TakeWarnings(),
		})
	}
	for _, name := range x.written {
		x.c.Printf("%s\n", phrase.QuotePath(filepath.Join(x.root, filepath.FromSlash(x.below), filepath.FromSlash(name))))
	}
	return nil
}
