package commands

import (
	"slices"
	"strings"

	"git-checkpoint/commands/internal/complete"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/manual"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/tasks"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout"
)

var completionCommand = invoke.Command{
	Name: "completion", Usage: "print the completion script of a shell", Args: "bash|zsh|fish | words -- CMD...", Max: 1, Category: "Setup",
	Description: "Write the output to a file that the shell reads:\n\n" +
		"    bash  ~/.local/share/bash-completion/completions/git-checkpoint\n" +
		"    zsh   _git-checkpoint in a directory of fpath, before compinit\n" +
		"    fish  ~/.config/fish/conf.d/git-checkpoint.fish\n\n" +
		"words prints the possible next words after the words behind --. The scripts use\n" +
		"it.",
	Examples:  []string{"git checkpoint completion bash > git-checkpoint.bash", "git checkpoint completion words -- save --tr"},
	ReadsOnly: true,
	Run:       runCompletion,
}

func runCompletion(c *invoke.Invocation) error {
	if len(c.Line.Args) == 0 {
		return failure.Usagef("completion: no shell given: use bash, zsh or fish")
	}
	text := complete.Script(c.Line.Args[0])
	if c.Line.Args[0] == "words" {
		next := complete.At(declared(c.Line.Commands), c.Line.Paths)
		text = next.Lines(candidates(c, &next))
	} else if text == "" {
		return failure.Usagef("completion: %q is not one of %s", c.Line.Args[0], strings.Join(complete.Shells(), ", "))
	}
	if c.Line.JSON {
		return c.WriteJSON(view.Help{Type: "completion", Text: text})
	}
	c.Printf("%s", text)
	return nil
}

// candidates returns the words that may come next. Errors are dropped, because a shell
// does not show the errors of a completion.
func candidates(c *invoke.Invocation, next *complete.Next) []complete.Word {
	dir := ""
	for _, d := range next.Line.Dirs {
		dir = joinDir(dir, d)
	}
	if c.Chdir(dir) != nil {
		return nil
	}
	c.Out.Quiet = true
	var found []complete.Word
	for _, kind := range next.Kinds {
		found = append(found, candidatesOf(c, kind, &next.Line)...)
	}
	return found
}

func candidatesOf(c *invoke.Invocation, kind complete.Kind, line *complete.CommandLine) []complete.Word {
	switch kind {
	case complete.Command:
		var words []complete.Word
		for _, cmd := range c.Line.Commands {
			if cmd.Hidden {
				continue
			}
			words = append(words, complete.Word{Text: cmd.Name, About: cmd.Usage})
			if cmd.Alias != "" {
				words = append(words, complete.Word{Text: cmd.Alias, About: cmd.Usage})
			}
		}
		return words
	case complete.Guide:
		return view.Each(manual.Topics(), func(g manual.Guide) complete.Word {
			return complete.Word{Text: g.Name, About: g.Usage}
		})
	case complete.Trigger:
		return plainWords(checkpoint.Triggers())
	case complete.Layout:
		return plainWords(layout.Names())
	}
	if c.Store == nil && c.Open() != nil {
		return nil
	}
	switch kind {
	case complete.Issue:
		issues, _ := c.IssuesWithCheckpoints()
		return plainWords(issues)
	case complete.Remote:
		return plainWords(c.Store.RemoteNames())
	case complete.Branch:
		out, _ := c.Store.Git().Output(c.Ctx, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads")
		return plainWords(strings.Fields(string(out)))
	}
	return candidatesIn(c, kind, line)
}

func plainWords[T ~string](list []T) []complete.Word {
	return view.Each(list, func(text T) complete.Word { return complete.Word{Text: string(text)} })
}

// candidatesIn returns the candidates that depend on the issue of the command line.
func candidatesIn(c *invoke.Invocation, kind complete.Kind, line *complete.CommandLine) []complete.Word {
	issue, err := lineIssue(c, line)
	if err != nil {
		return nil
	}
	l, err := c.Store.List(c.Ctx, issue, 50) // the newest ones
	if err != nil || len(l.Checkpoints) == 0 {
		return nil
	}
	switch kind {
	case complete.ID:
		words := []complete.Word{{Text: gitstore.Latest, About: "the newest one"}, {Text: gitstore.First, About: "the oldest one"}}
		for i := range l.Checkpoints {
			cp := &l.Checkpoints[i]
			about := string(cp.Trigger) + " " + view.Ago(cp.Created, c.Env.Now())
			if cp.Phase != "" {
				about = cp.Phase + ", " + about
			}
			words = append(words, complete.Word{Text: string(cp.ID), About: about})
		}
		return words
	case complete.Phase:
		var names []string
		if r, err := c.Store.Record(&l.Checkpoints[0]); err == nil {
			names = work.VerdictRules(c, work.JudgeOptions{}).KnownPhases(r)
		}
		for i := range l.Checkpoints {
			names = append(names, l.Checkpoints[i].Phase)
		}
		return plainWords(names)
	case complete.Task:
		return taskWords(c, l, line.Args)
	}
	return nil
}

func lineIssue(c *invoke.Invocation, line *complete.CommandLine) (checkpoint.Issue, error) {
	if line.Issue != "" {
		return invoke.ParseIssue(line.Issue)
	}
	for _, arg := range line.Args {
		if i, err := checkpoint.ParseIssue(arg); err == nil && c.Store.HasIssue(c.Ctx, i) {
			return i, nil
		}
	}
	defer c.SkipIssue()
	return c.InferIssue()
}

// taskWords returns the tasks of the newest record that a verb accepts: all tasks for
// `task list`, open tasks for other verbs.
func taskWords(c *invoke.Invocation, l *gitstore.List, args []string) []complete.Word {
	r, err := c.Store.Record(&l.Checkpoints[0])
	if err != nil || args[0] == "add" {
		return nil
	}
	var words []complete.Word
	for _, t := range tasks.Of(r).All() {
		if (args[0] == "list" || !t.Over()) && !slices.Contains(args[1:], t.ID) {
			words = append(words, complete.Word{Text: t.ID, About: t.Status})
		}
	}
	return words
}
