package crunch

import (
	"bytes"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// A story log resembles YAML, but several agents append lines to it. So keys can repeat,
// and its syntax can be invalid:
//
//	P3: ✓ backend-dev 14:23 files:5 tests:12/12
//	P5: ✗ code-reviewer 18:49 issues:2 decision:REQUEST_CHANGES
//	P1: SKIP not needed
//
// The log is stored unchanged. Each line is an event; the last event of a phase
// determines its status.

// storyFolder is the folder of story logs.
const storyFolder = "/.claude/checkpoints/"

var eventLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:- )?(P[0-9]+[a-z]?)(?:-[A-Z]+)?:\s*(✓|✗|SKIP|"COMPLETE")\s*(.*)$`)
})

var timeOfDay = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|\s)([0-2][0-9]:[0-5][0-9])(?:\s|$)`) })

func storyKind() *codec.Kind {
	return &codec.Kind{
		Name: "story",
		Log: func(file string, data []byte) bool {
			ext := path.Ext(file)
			return (ext == ".yaml" || ext == ".yml") && strings.Contains("/"+file, storyFolder) &&
				!codec.IsJSON(data) && len(bytes.TrimSpace(data)) > 0 && len(data) <= codec.MaxText && utf8.Valid(data) && bytes.IndexByte(data, 0) < 0
		},
		Lines: storyLines,
		Rules: func(c *codec.Checker) { // about the first event with a time of day
			for _, event := range c.Doc.Maps("events") {
				if at := event.Text("at"); at != "" {
					c.Warn("", "time", "%s and the like are times without a date", at)
					return
				}
			}
		},
		Key:   func(m *checkpoint.Map) string { return values.Text(m, "name") },
		Apply: applyStoryLog,
		File:  func(m *checkpoint.Map) string { return values.Text(m, "name") + ".yaml" },
	}
}

// storyLines returns the document of a log: base name and events.
func storyLines(file string, data []byte) *checkpoint.Map {
	base := path.Base(file)
	events, over := []any{}, ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		if word, ok := strings.CutPrefix(line, "status:"); ok {
			over = workflow.StatusOf(strings.Trim(word, ` "'`))
		}
		m := eventLine().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		status := map[string]string{"✓": workflow.Completed, `"COMPLETE"`: workflow.Completed, "✗": workflow.Failed, "SKIP": workflow.Skipped}[m[2]]
		e := values.NewMap("phase", m[1], "status", status)
		if at := timeOfDay().FindStringSubmatch(m[3]); at != nil {
			e.Set("at", at[1])
		}
		values.PutText(e, "text", strings.TrimSpace(m[3]))
		events = append(events, e)
	}
	if len(events) == 0 {
		events = phaseEvents(data)
	}
	doc := values.NewMap("name", strings.TrimSuffix(base, path.Ext(base)), "events", events)
	if over == workflow.Completed {
		doc.Set("status", over)
	}
	return doc
}

// phaseEvents returns the phases of a log with valid YAML: a list, or a mapping by name.
func phaseEvents(data []byte) []any {
	events := []any{}
	m, err := checkpoint.DecodeDocument(data, checkpoint.DefaultLimits)
	if err != nil {
		return events
	}
	phases, _ := workflow.PhaseStates(values.Get(m, "phases"), "")
	for _, p := range phases {
		if p.Status != "" {
			events = append(events, values.NewMap("phase", p.Name, "status", p.Status))
		}
	}
	return events
}

// applyStoryLog sets the phases of the record from the events. The phases of a log are not the
// total, because a line is written at the end of a phase, unless the log states that the work is
// completed or names a phase that is not over.
func applyStoryLog(m *checkpoint.Map, r *checkpoint.Record) {
	last := map[string]string{}
	current := ""
	for _, event := range m.Maps("events") {
		current = event.Text("phase")
		last[current] = event.Text("status")
	}
	p, open := checkpoint.Progress{Current: current}, false
	for _, name := range slices.Sorted(maps.Keys(last)) {
		p.Names = append(p.Names, name)
		if workflow.IsDone(last[name]) {
			p.Completed = append(p.Completed, name)
		}
		open = open || last[name] == workflow.Pending
	}
	status := values.Text(m, "status")
	workflow.Set(r, "description", values.Text(m, "name"), "status", status)
	if status == "" && !open {
		p.Names = nil
	}
	r.Doc().Delete("progress")
	workflow.PutProgress(r, p)
}
