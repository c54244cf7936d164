package layout

import (
	"bytes"
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"git-checkpoint/gitstore/checkpoint"
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

func crunchStory() *kind {
	return &kind{
		layout: Crunch, name: "story",
		lines: storyLines,
		rules: func(*checker) {},
		key:   func(m *object) string { return text(m, "name") },
		apply: applyStoryLog,
		file:  func(m *object) string { return text(m, "name") + ".yaml" },
	}
}

// isStoryLog reports whether a file is a story log. The caller has excluded other
// documents.
func isStoryLog(as Name, file string, data []byte) bool {
	ext := path.Ext(file)
	return (as == "" || as == Crunch) && (ext == ".yaml" || ext == ".yml") && strings.Contains("/"+file, storyFolder) &&
		!isJSON(data) && len(bytes.TrimSpace(data)) > 0 && len(data) <= maxText && utf8.Valid(data) && bytes.IndexByte(data, 0) < 0
}

// storyLines returns the document of a log: base name and events.
func storyLines(file string, data []byte) *object {
	base := path.Base(file)
	events := []any{}
	for line := range strings.Lines(string(data)) {
		m := eventLine().FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		status := map[string]string{"✓": completed, `"COMPLETE"`: completed, "✗": failed, "SKIP": skipped}[m[2]]
		e := newObject("phase", m[1], "status", status)
		if at := timeOfDay().FindStringSubmatch(m[3]); at != nil {
			e.Set("at", at[1])
		}
		putText(e, "text", strings.TrimSpace(m[3]))
		events = append(events, e)
	}
	if len(events) == 0 {
		events = phaseEvents(data)
	}
	return newObject("name", strings.TrimSuffix(base, path.Ext(base)), "events", events)
}

// phaseEvents returns the phases of a log with valid YAML: a list, or a mapping by name.
func phaseEvents(data []byte) []any {
	events := []any{}
	m, err := checkpoint.DecodeDocument(data, checkpoint.DefaultLimits)
	if err != nil {
		return events
	}
	add := func(name string, phase *object) {
		if status := text(phase, "status"); name != "" && status != "" {
			events = append(events, newObject("phase", name, "status", cmp.Or(statusOf(status), status)))
		}
	}
	for name, v := range sub(m, "phases").All() {
		phase, _ := v.(*object)
		add(name, phase)
	}
	list, _ := get(m, "phases").([]any)
	for _, v := range list {
		phase, _ := v.(*object)
		add(text(phase, "phase"), phase)
	}
	return events
}

// readStoryLog parses a log. A decoder error becomes a warning, so that only strict
// reading rejects the log.
func readStoryLog(file string, data []byte, syntax error) *File {
	k := crunchStory()
	f := &File{Layout: Crunch, Kind: k.name, Path: file, kind: k, data: data, doc: storyLines(file, data)}
	if syntax != nil {
		p := syntaxProblem(data, syntax)
		p.Warning, p.Msg = true, "kept as it is, its lines are read: "+p.Msg
		f.Problems = append(f.Problems, p)
	}
	events, _ := get(f.doc, "events").([]any)
	for _, e := range events {
		if at := text(e.(*object), "at"); at != "" {
			f.Problems = append(f.Problems, Problem{Rule: "time", Msg: at + " and the like are times without a date", Warning: true})
			break
		}
	}
	return f
}

// applyStoryLog sets the phases of the record from the events.
func applyStoryLog(m *object, r *checkpoint.Record) {
	last := map[string]string{}
	current := ""
	events, _ := get(m, "events").([]any)
	for _, e := range events {
		event, _ := e.(*object)
		current = text(event, "phase")
		last[current] = text(event, "status")
	}
	var names, done []string
	for name, status := range last {
		names = append(names, name)
		if over(status) {
			done = append(done, name)
		}
	}
	slices.Sort(names)
	slices.Sort(done)
	setWorkflow(r, "description", text(m, "name"))
	r.Doc().Delete("progress")
	if len(names) > 0 {
		r.SetProgress(checkpoint.Progress{Current: current, Completed: done, Names: names})
	}
	r.SetPhase(current)
}
