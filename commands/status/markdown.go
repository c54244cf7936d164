package status

import (
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/internal/standing"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// markdownStatus prints a status in the form of an issue comment.
func markdownStatus(c *invoke.Invocation, cp *gitstore.Checkpoint, r *checkpoint.Record, v freshness.Verdict) {
	c.Printf("**Issue %s**\n\n", code(strings.TrimPrefix(standing.Heading(cp, r), "Issue ")))
	c.Printf("- Checkpoint: %s, %s\n", code(string(cp.ID)), phrase.Ago(r.CreatedAt(), c.Env.Now()))
	c.Printf("- Progress: %s\n", code(standing.ProgressLine(r)))
	for _, line := range standing.PhaseLines(r) {
		c.Printf("- %s: %s\n", line.Name, code(line.Text))
	}
	if cp.Branch != "" {
		c.Printf("- Branch: %s\n", code(cp.Branch))
	}
	c.Printf("- Resume: %s", code(v.Action.String()))
	if v.CanResume {
		c.Printf(", from %s", code(standing.ContinueFrom(r)))
	}
	c.Printf("\n")
	for _, reason := range v.WorstFirst() {
		c.Printf("- %s: %s\n", reason.Severity, code(reason.Message))
	}
}

// code returns text as a Markdown code span, in which links, images and mentions have no
// effect.
func code(s string) string {
	return "`" + strings.ReplaceAll(output.Clean(s), "`", "'") + "`"
}
