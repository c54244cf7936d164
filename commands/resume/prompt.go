package resume

import (
	"errors"
	"fmt"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout/claude"
)

// A prompt is the question about a checkpoint and its answers.
type prompt struct {
	text     string // printed before the question
	question string
	answers  map[string]string
	help     string // the answer to ?, "" if the prompt has no ? and no q
	drop     string // the question after d, "" if d drops at once
}

// promptHead returns the lines that describe the checkpoint: the start of the workflow,
// otherwise of the checkpoint, and with saved the time of the checkpoint if it is later.
func promptHead(s *view.Standing, saved bool) string {
	r, now := s.Record, s.Now
	began, at := r.WorkflowStarted(), r.CreatedAt()
	if began.IsZero() || began.After(at) {
		began = at
	}
	text := fmt.Sprintf("Found existing checkpoint for \"%s\"\n", view.Clean(s.WorkName())) + timeLine("Created", began, now)
	if saved && at.After(began) {
		text += timeLine("Saved", at, now)
	}
	return text + fmt.Sprintf("Progress: %s\n", view.Clean(view.ProgressLine(r)))
}

func timeLine(name string, t, now time.Time) string {
	return fmt.Sprintf("%s: %s (%s)\n", name, t.In(now.Location()).Format("2006-01-02 15:04:05"), view.Ago(t, now))
}

// promptOf returns the question about the checkpoint of a resumption: that of the claude system with
// --as, otherwise one that names how many checkpoints an answer moves.
func promptOf(c *invoke.Invocation, r *resumption) (prompt, error) {
	asClaude := r.options.as == claude.Name
	text := promptHead(&r.Standing, !asClaude) + "\nOptions:\n  (r)esume - Continue from " + view.Clean(r.ContinueFrom()) + "\n"
	if asClaude {
		return prompt{
			text: text +
				"  (s)tart fresh - Delete checkpoint and restart\n" +
				"  (v)iew details - Show checkpoint contents\n" +
				"  (d)elete - Remove checkpoint without starting\n\n",
			question: "Choice [r/s/v/d]: ",
			answers: map[string]string{
				"r": "r", "resume": "r", "s": "s", "start": "s", "start fresh": "s",
				"v": "v", "view": "v", "view details": "v", "d": "d", "delete": "d",
			},
		}, nil
	}
	ids, err := liveIDs(c, r)
	these, all := "this checkpoint", "this checkpoint"
	if n := len(ids); n != 1 {
		these, all = fmt.Sprintf("these %d checkpoints", n), fmt.Sprintf("all %d checkpoints", n)
	}
	undo := "git checkpoint undo " + view.IssueArg(r.Checkpoint.Issue)
	return prompt{
		text: text +
			"  (s)tart over - Archive " + these + "\n" +
			"  (v)iew - Show the checkpoint and the findings\n" +
			"  (d)rop - Drop " + all + " (asks again)\n" +
			"  (q)uit - Change nothing\n\n",
		question: "Choice [r/s/v/d/q/?]: ",
		answers: map[string]string{
			"r": "r", "resume": "r", "s": "s", "start": "s", "start over": "s", "start fresh": "s",
			"v": "v", "view": "v", "d": "d", "drop": "d", "delete": "d", "q": "q", "quit": "q", "?": "?", "help": "?",
		},
		help: view.Clean("r - restore the files of the checkpoint and continue; files that changed since are asked about") + "\n" +
			view.Clean("s - move "+these+" to the archive, so that work starts over; `"+undo+"` restores them") + "\n" +
			"v - show the checkpoint's record and all findings, then ask again\n" +
			view.Clean("d - drop "+all+", after another question; `"+undo+"` restores them") + "\n" +
			"q - change nothing and exit with 3\n\n",
		drop: view.Clean(fmt.Sprintf("Drop %s of issue %s? [y/N] ", all, r.Checkpoint.Issue)),
	}, err
}

// askChoice asks what to do with the checkpoint, and after r the remaining questions. It
// returns r, s or d. After q or at the end of the input it returns an error that exits
// with failure.None.
func askChoice(c *invoke.Invocation, d *invoke.Dialog, r *resumption) (string, error) {
	if r.texts.Question != "" {
		return askAs(c, d, r)
	}
	p, err := promptOf(c, r)
	if err != nil {
		return "", err
	}
	for {
		if _, err := d.TTY.Write([]byte(p.text + reasonLines(r.Verdict))); err != nil {
			return "", err
		}
		choice, err := askHelped(d, p)
		switch {
		case errors.Is(err, invoke.ErrEndOfInput) && p.help != "", choice == "q":
			return "", failure.Silent{Code: failure.None}
		case err != nil:
			return "", unanswered(r, r.answers("--choice r"), err)
		case choice == "v":
			if err := viewDetails(c, d, r); err != nil {
				return "", err
			}
		case choice == "r":
			return choice, askRest(c, d, r)
		case choice == "d" && p.drop != "":
			switch answer, err := d.Ask(p.drop, invoke.YesNo); {
			case errors.Is(err, invoke.ErrEndOfInput):
				return "", failure.Silent{Code: failure.None}
			case err != nil:
				return "", unanswered(r, "--choice d", err)
			case answer == "y":
				return choice, nil
			}
		default:
			return choice, nil
		}
	}
}

// askHelped asks for a choice. After ? it prints the help and asks again.
func askHelped(d *invoke.Dialog, p prompt) (string, error) {
	for {
		choice, err := d.Ask(p.question, p.answers)
		if err != nil || choice != "?" {
			return choice, err
		}
		if _, err := d.TTY.Write([]byte(p.help)); err != nil {
			return "", err
		}
	}
}
