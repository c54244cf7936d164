package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// A Worker holds the data for the restart of a crashed pipeline worker. The lead first
// resumes the old worker, which still has the context, then spawns a new worker with a
// summary. Values under stage.spawn in the record override the defaults.
type Worker struct {
	Story, Stage, Agent string
	Name                string // name of the new worker
	Team                string
	Model, Kind, Mode   string
	Answers             string // answers of people as JSON, "" if unknown
	Worktree            string // worktree of the story, "" if unknown
	Block               string // completed and remaining tasks
}

// Leads reports whether a record is the state of a pipeline lead and contains the story.
func Leads(r *checkpoint.Record, story string) bool {
	return r.Layout() == string(Name) && values.Has(values.Sub(r.Doc(), "layout.files.state.document.story_state"), story)
}

// HasStage reports whether a record is the state of a story in a stage.
func HasStage(r *checkpoint.Record) bool { return values.Text(r.Doc(), "stage.number") != "" }

// WorkerOf returns the worker of a story from its own record and the lead's record, which
// may be nil. It fails if the record has no stage.
func WorkerOf(r, lead *checkpoint.Record) (Worker, error) {
	stage := values.Sub(r.Doc(), "stage")
	number := values.Text(stage, "number")
	if number == "" {
		return Worker{}, errors.New("the record has no stage")
	}
	story := cmp.Or(values.Text(stage, "story"), string(r.Issue()))
	state := checkpoint.NewMap()
	if lead != nil {
		state = values.Sub(lead.Doc(), "layout.files.state.document")
	}
	done, left := workflow.Tasks(r)
	w := Worker{
		Story: values.Line(story), Stage: values.Line(number), Agent: values.Line(values.Text(stage, "agent")),
		Name:     fmt.Sprintf("story-%s-s%s-retry", values.Line(story), values.Line(number)),
		Team:     values.Line(cmp.Or(values.Text(stage, "spawn.team"), values.Text(state, "team_name"), "pipeline-"+r.CreatedAt().UTC().Format("2006-01-02"))),
		Model:    values.Line(cmp.Or(values.Text(stage, "spawn.model"), "opus")),
		Kind:     values.Line(cmp.Or(values.Text(stage, "spawn.subagent_type"), "general-purpose")),
		Mode:     values.Line(cmp.Or(values.Text(stage, "spawn.mode"), "bypassPermissions")),
		Worktree: values.Line(values.AsText(values.Get(state, checkpoint.PathOf("worktree_map", story)))),
		Block: fmt.Sprintf("CHECKPOINT RESUME \u2014 DO NOT re-execute completed work.\n"+
			"Tasks already completed: %s\nTasks remaining: %s\nLast action: %s\nContinue from remaining tasks only.\n",
			values.Line(strings.Join(done, ", ")), values.Line(strings.Join(left, ", ")), values.Line(values.Text(stage, "last_action"))),
	}
	if answers := values.Sub(state, "business_answers"); answers.Len() > 0 {
		if data, err := answers.MarshalJSON(); err == nil {
			w.Answers = string(data)
		}
	}
	return w, nil
}

// resumeTexts returns the lead's instructions to restart a worker, or the state of the
// lead's own stories.
func resumeTexts(r *checkpoint.Record) (codec.Texts, error) {
	if story.IsLead(r) {
		return codec.Texts{Resumed: leadText(r)}, nil
	}
	w, err := WorkerOf(r, nil)
	if err != nil {
		return codec.Texts{}, err
	}
	return codec.Texts{Resumed: w.Plan(false), Prompt: w.Prompt("", "")}, nil
}

// leadText returns the state of a lead after its restart: the team, a line for each story
// that is not done, and the queue.
func leadText(r *checkpoint.Record) string {
	state := values.Sub(r.Doc(), "layout.files.state.document")
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, values.Line(text))
		}
	}
	line("team", values.Text(state, "team_name"))
	line("last_check", values.Text(state, "last_check"))
	var queue []string
	for _, s := range story.Stories(r) {
		switch s.State {
		case story.Done:
		case "":
			queue = append(queue, s.ID)
		default:
			text := s.State
			if n := story.CrashCount.Count(r, s.ID); n > 0 {
				text += fmt.Sprintf(", crash_count %d", n)
			}
			if worker := values.AsText(values.Get(state, checkpoint.PathOf("worker_map", s.ID))); worker != "" {
				text += ", worker " + worker
			}
			if dir := Worktree(r, s.ID); dir != "" {
				text += ", worktree " + dir
			}
			line("story "+values.Line(s.ID), text)
		}
	}
	line("queue", strings.Join(queue, ", "))
	return b.String()
}

// Plan returns the steps to restart the worker, followed by the block. The mode is a
// permission: it is included only on request and never used by git-checkpoint.
func (w Worker) Plan(mode bool) string {
	lines := []string{"fallback: " + w.Name, "team: " + w.Team, "model: " + w.Model, "subagent_type: " + w.Kind}
	if w.Agent != "" {
		lines = slices.Insert(lines, 0, "resume: "+w.Agent)
	}
	if mode {
		lines = append(lines, "mode: "+w.Mode)
	}
	return strings.Join(lines, "\n") + "\n" + w.Block
}

// Prompt returns the instructions for the new worker: the expanded template, then the
// block. Without a template, each known value is a line.
func (w Worker) Prompt(template, root string) string {
	known := [][2]string{
		{"story", w.Story},
		{"stage", w.Stage},
		{"business_answers", w.Answers},
		{"worktree", w.Worktree},
		{"project_root", values.Line(root)},
	}
	var text strings.Builder
	if template != "" {
		var pairs []string
		for _, k := range known {
			pairs = append(pairs, "{"+k[0]+"}", k[1])
		}
		text.WriteString(strings.TrimRight(strings.NewReplacer(pairs...).Replace(template), "\n") + "\n")
	}
	for _, k := range known {
		if template == "" && k[1] != "" {
			fmt.Fprintf(&text, "%s: %s\n", k[0], k[1])
		}
	}
	return text.String() + w.Block
}
