package commands

import (
	"path/filepath"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/output"
	"git-checkpoint/gitstore/layout"

	"github.com/urfave/cli/v2"
)

var exportCommand = command{
	name: "export", usage: "write an issue's checkpoints as another system's files", args: "[ISSUE]", max: 1, category: "Share",
	description: "Writes the files where that system looks for them, or into --dir: for crunch every\n" +
		"checkpoint, an index and a link to the newest; for the others the newest state.\n" +
		"What was read from such a file and did not change is written back byte for byte.\n" +
		"jsonl is one object a line, each checkpoint with the one before it and its record.\n" +
		"A file that is something else is not overwritten, and the dotagent files of\n" +
		"another workflow are moved to .archive first.",
	examples: []string{
		"git checkpoint export 42 --as crunch",
		"git checkpoint export PROJ-42 --as pipeline --dir ../pipeline",
		"git checkpoint export 42 --as jsonl > 42.jsonl",
	},
	flags: exportFlags,
	run:   runExport,
}

func exportFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "as", Usage: "the `LAYOUT`: crunch, claude, recovery, dotagent or pipeline, or jsonl for analysis"},
		&cli.StringFlag{Name: "dir", Usage: "write into `DIR`"},
		&cli.BoolFlag{Name: "force", Usage: "overwrite files that are something else"},
	}
}

func runExport(c *Invocation) error {
	if c.flags.String("as") == "jsonl" {
		return c.exportLines()
	}
	as, err := c.layoutFlag()
	if err != nil {
		return err
	}
	if as == "" {
		return exit.Usagef("export: --as: which layout? crunch, claude, recovery, dotagent or pipeline")
	}
	if err := c.open(); err != nil {
		return err
	}
	issue, err := c.issue()
	if err != nil {
		return err
	}
	records, err := c.recordsToExport(issue, as)
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
	if x.root == c.store.Root() && c.flags.String("dir") == "" {
		c.excludeFolder(c.folderPattern(as))
	}
	return x.show()
}

// folder returns the target directory: a root that paths must not escape, and the path
// below it.
func (x *exporting) folder() (root, below string, err error) {
	switch dir := x.c.flags.String("dir"); {
	case dir != "":
		return dir, ".", nil
	case x.c.store.Root() == "":
		return "", "", exit.Usagef("export: --dir: which directory? The repository has no worktree")
	}
	folder := x.c.layoutFolder(x.as, x.issue)
	if !filepath.IsLocal(filepath.FromSlash(folder)) { // trusted settings may name any directory
		return filepath.FromSlash(folder), ".", nil
	}
	return x.c.store.Root(), folder, nil
}

func (x *exporting) show() error {
	if x.c.json {
		return x.c.write(output.Export{
			Type: "export", Issue: string(x.issue), Layout: string(x.as), Dir: phrase.QuotePath(filepath.Join(x.root, filepath.FromSlash(x.below))),
			Files: phrase.QuotePaths(x.written), Unchanged: phrase.QuotePaths(x.unchanged), Warnings: x.c.takeWarnings(),
		})
	}
	for _, name := range x.written {
		x.c.print("%s\n", phrase.QuotePath(filepath.Join(x.root, filepath.FromSlash(x.below), filepath.FromSlash(name))))
	}
	return nil
}
