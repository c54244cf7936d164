package status

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// statusShort prints one line for the prompt of a shell or an editor. It reads no issue
// source and computes no verdict. Without a checkpoint it prints nothing.
func statusShort(c *invoke.Invocation) error {
	for _, other := range []string{"check", "done", "description", "for-plan", "markdown", "json"} {
		if c.Flags.IsSet(other) {
			return exit.Usagef("status: --short does not go with --%s", other)
		}
	}
	issue, err := c.Issue()
	var unknown *exit.Error
	if errors.As(err, &unknown) && len(c.Args) == 0 {
		return exit.Silent{Code: exit.None} // the branch belongs to no issue
	}
	if err != nil {
		return err
	}
	cp, err := c.Store.Newest(c.Ctx, issue)
	if errors.As(err, new(*gitstore.NoneError)) {
		return exit.Silent{Code: exit.None}
	}
	if err != nil {
		return err
	}
	r, err := c.Store.VerifiedRecord(cp)
	if err != nil {
		return err
	}
	c.Printf("%s\n", output.Clean(shortStatus(r, string(issue), phrase.Briefly(cp.Created, c.Env.Now()))))
	return nil
}

// shortStatus returns a text such as "42 implementing 2/5 12m", with "!" at the end if
// the checkpoint cannot be resumed.
func shortStatus(r *checkpoint.Record, issue, age string) string {
	p := r.Progress()
	words := []string{issue}
	if phase := cmp.Or(p.Current, r.Phase()); phase != "" {
		words = append(words, phase)
	}
	if p.Total > 0 {
		words = append(words, fmt.Sprintf("%d/%d", len(p.Completed)+len(p.Skipped), p.Total))
	}
	words = append(words, age)
	if !r.CanResume() {
		words = append(words, "!")
	}
	return strings.Join(words, " ")
}
