package story

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/tasks"
	"git-checkpoint/gitstore/failure"
)

// A Field is a value that a stage of a story must have at its end. The pipeline's documents and
// the steps of this program share these rules.
type Field struct {
	Stage    int
	Key      string   // below stage in the record
	Document string   // in the document of a story
	Min, Max int      // range of a number, if Max is not 0
	Words    []string // possible values of a word, or nil
	For      string   // verdict that requires the field; "" means always
}

// Fields returns the fields of all stages.
func Fields() []Field {
	return []Field{
		{Stage: 0, Key: "plan_score", Document: "planScore", Max: 4},
		{Stage: Validation, Key: "readiness", Document: "readiness", Min: 1, Max: 10},
		{Stage: Validation, Key: "verdict", Document: "verdict", Words: []string{"GO", NoGo}},
		{Stage: Validation, Key: "reason", Document: "reason", For: NoGo},
		{Stage: Quality, Key: "verdict", Document: "verdict", Words: []string{"PASS", "CONCERNS", "WAIVED", Fail}},
		{Stage: Quality, Key: "quality_score", Document: "qualityScore", Max: 100},
		{Stage: Quality, Key: "issues", Document: "issues", For: Fail},
	}
}

// wrong returns the error about a missing or invalid value of a stage.
func (f Field) wrong(issue checkpoint.Issue, value string) error {
	text := fmt.Sprintf("%.60q: want %s", value, f.want())
	if value == "" {
		text = fmt.Sprintf("required at the end of stage %d, want %s", f.Stage, f.want())
	}
	hint := "git checkpoint save " + failure.IssueArg(string(issue)) + " --set stage." + f.Key + "=VALUE"
	return failure.New(invalidDocument, hint, "stage."+f.Key+": "+text)
}

// invalidDocument is the exit code of a document that breaks the rules of its system.
const invalidDocument = 6

func (f Field) want() string {
	switch {
	case f.Max > 0:
		return fmt.Sprintf("a number from %d to %d", f.Min, f.Max)
	case f.Words != nil:
		return strings.Join(f.Words, ", ")
	}
	return "a text"
}

// allows reports whether a value is valid.
func (f Field) allows(value string) bool {
	switch {
	case f.Max > 0:
		n, err := strconv.ParseFloat(value, 64)
		return err == nil && n >= float64(f.Min) && n <= float64(f.Max)
	case f.Words != nil:
		return slices.Contains(f.Words, value)
	}
	return true
}

// CheckValues returns an error for the first value of a story that no stage allows.
func CheckValues(r *checkpoint.Record) error {
	stage := r.Doc().Sub("stage")
	if stage == nil {
		return nil
	}
	for _, f := range Fields() {
		same := func(o Field) bool { return o.Key == f.Key && o.allows(stage.Text(f.Key)) }
		if value := stage.Text(f.Key); value != "" && !slices.ContainsFunc(Fields(), same) {
			return f.wrong(r.Issue(), value)
		}
	}
	return nil
}

// CheckStage returns an error about the first field that a story lacks at the end of a stage, or about
// open tasks at the end of stage 2 or 3. A record without the phases of a story passes.
func CheckStage(r *checkpoint.Record, phase string) error {
	n := slices.Index(stagesOf(r), phase)
	if n < 0 {
		return nil
	}
	stage := r.Doc().Sub("stage")
	for _, f := range Fields() {
		if f.Stage != n || f.For != "" && stage.Text("verdict") != f.For {
			continue
		}
		if value := stage.Text(f.Key); value == "" || !f.allows(value) {
			return f.wrong(r.Issue(), value)
		}
	}
	passes := n == Work || n == Quality && stage.Text("verdict") != Fail
	if left := tasks.Of(r).Left(); passes && len(left) > 0 {
		hint := "git checkpoint task done " + failure.Quote(left[0]) + " --issue " + failure.Quote(string(r.Issue()))
		return failure.New(invalidDocument, hint, "tasks are open: "+strings.Join(left[:min(len(left), 5)], ", "))
	}
	return nil
}

// SendBack opens the stages to which the verdict of a story returns it: stage 1 after NO-GO, stage
// 2 after FAIL. It counts the verdict, and pauses the story if that exceeds the limit. It does
// nothing unless the stage of the verdict is over.
func SendBack(r *checkpoint.Record) {
	counter, ok := verdict(r)
	p := r.Progress()
	n := Stage(r.Doc().Sub("stage").Text("number"))
	if names := stagesOf(r); !ok || n < 0 || n >= len(names) || !p.Over(names[n]) {
		return
	}
	to := Validation
	if n == Quality {
		to = Work
	}
	open := func(name string) bool { return slices.Index(p.Names, name) >= to }
	p.Completed, p.Skipped = slices.DeleteFunc(p.Completed, open), slices.DeleteFunc(p.Skipped, open)
	p.Current, p.Remaining = p.Names[to], nil
	r.SetProgress(p)
	r.SetPhase(p.Current)
	r.SetResumeFrom("")
	counter.move(r, Of(r))
}

// Begin removes the values of a stage that begins, which are those of a former attempt.
func Begin(r *checkpoint.Record, phase string) {
	n := slices.Index(stagesOf(r), phase)
	if n < 0 {
		return
	}
	for _, f := range Fields() {
		if f.Stage == n {
			r.Doc().Sub("stage").Delete(f.Key)
		}
	}
}

// stagesOf returns the phases of a story that are its stages, or nil.
func stagesOf(r *checkpoint.Record) []string {
	names := r.Progress().Names
	if !Is(r) || len(names) != Quality+1 || Stage(names[0]) != 0 {
		return nil
	}
	return names
}
