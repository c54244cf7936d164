package resume

import (
	"fmt"
	"slices"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore"
)

// fileChoices maps the answers about a changed file. An empty line keeps the file.
var fileChoices = map[string]string{
	"m": "mine", "mine": "mine", "": "mine", "c": "checkpoint", "checkpoint": "checkpoint",
	"g": "merge", "merge": "merge", "d": "diff", "diff": "diff", "a": "abort", "abort": "abort",
}

// askFiles asks for each file that changed since the checkpoint which version to keep.
func askFiles(c *invoke.Invocation, d *invoke.Dialog, r *resumption) error {
	r.each = map[string]gitstore.Changed{}
	for _, path := range r.Verdict.Changed {
		if slices.Contains(r.Verdict.InTheWay, path) {
			continue // this file stays in any case
		}
		answer, err := askFile(c, d, r, path)
		if err != nil {
			return err
		}
		if answer == "abort" {
			return exit.Silent{Code: exit.None}
		}
		r.each[path] = gitstore.Changed(answer)
	}
	return nil
}

func askFile(c *invoke.Invocation, d *invoke.Dialog, r *resumption, path string) (string, error) {
	text := fmt.Sprintf("Changed since the checkpoint: %s\nKeep (m)ine, take the (c)heckpoint's, mer(g)e, show the (d)iff, or (a)bort? [m] ", phrase.QuotePath(path))
	for {
		answer, err := d.Ask(text, fileChoices)
		if err != nil {
			return "", unanswered(c, r, r.answers("--changed mine"), err)
		}
		if answer != "diff" {
			return answer, nil
		}
		diff, err := c.Store.DiffSince(c.Ctx, r.Checkpoint, path)
		if err != nil {
			diff = err.Error() + "\n"
		}
		if _, err := d.TTY.Write([]byte(output.CleanBlock(diff))); err != nil {
			return "", err
		}
	}
}
