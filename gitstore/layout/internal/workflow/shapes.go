package workflow

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/values"
)

// Documents write progress in these shapes. The functions of this file read them for all
// systems:
//
//	a list                completed_phases: [1, plan, {phase: build, completed_at: ...}]
//	a mapping by number   completed_phases: {"1": {completed_at: ...}, "2": true}
//	a mapping by name     phases: {plan: completed, build: {status: pending}}
//	a list of mappings    phases: [{name: plan, status: completed}]
//	two lists             completed: [plan], pending: [build]

// Keys of progress in documents of related tools, in order of precedence. Case, "_" and "-" do
// not count.
var (
	currentKeys = []string{"currentphase", "currentphaseid", "currentstage", "currentmilestone", "currentstep", "phase", "stage", "step"}
	doneKeys    = []string{"completedphases", "phasescompleted", "completedstages", "stagescompleted", "completedmilestones", "completedsteps", "stepscompleted", "completed"}
	skippedKeys = []string{"skippedphases", "skippedstages", "skippedsteps", "skipped"}
	openKeys    = []string{"pendingphases", "remainingphases", "phasesremaining", "pendingstages", "remainingstages", "pendingsteps", "remainingsteps", "pending", "remaining"}
	totalKeys   = []string{"totalphases", "phasestotal", "totalstages", "totalmilestones", "totalsteps"}
	nameKeys    = []string{"phasenames", "stagenames", "stepnames"}
	allKeys     = []string{"phases", "stages", "milestones", "steps"}
)

// A Phase is the state of a phase in a document: Status is a status of records, or "" if the
// document gives the phase alone.
type Phase struct{ Name, Status string }

// PhaseStates returns the phases of a value in any shape, and false if the value has another
// shape. A phase without a status of its own has the status assumed.
func PhaseStates(v any, assumed string) (phases []Phase, ok bool) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			name, status := PhaseOf(e), assumed
			if m, isMap := e.(*checkpoint.Map); isMap {
				name, status = PhaseName(values.First(m, "phase", "name", "id")), stateOf(m, assumed)
			}
			if name == "" {
				return nil, false
			}
			phases = append(phases, Phase{name, status})
		}
		return phases, true
	case *checkpoint.Map:
		for key, e := range v.All() {
			status := stateOf(e, assumed)
			if word, isText := e.(string); isText && status == "" && word != "" {
				return nil, false // a mapping of other texts, such as titles
			}
			phases = append(phases, Phase{PhaseName(key), status})
		}
		return phases, true
	}
	return nil, false
}

// stateOf returns the status in the value of a phase, or assumed.
func stateOf(v any, assumed string) string {
	switch v := v.(type) {
	case bool:
		return map[bool]string{true: Completed, false: Pending}[v]
	case string:
		return StatusOf(v)
	case *checkpoint.Map:
		if word := values.Text(v, "status", "state"); word != "" {
			return StatusOf(word)
		}
		for _, key := range []string{"completed", "complete", "done"} {
			if done, isBool := values.Get(v, key).(bool); isBool {
				return map[bool]string{true: Completed, false: Pending}[done]
			}
		}
		switch {
		case values.Text(v, "completed_at", "completedAt", "finished_at") != "":
			return Completed
		case values.Text(v, "started_at", "startedAt") != "" && assumed == "":
			return InProgress
		}
		return assumed
	case nil:
		return Pending
	}
	return assumed
}

// ReadProgress returns the progress of a document of a related tool, and the keys whose values
// look like progress and were not understood. Without a stated total, the phases in sight are
// the total only if the document names open phases or says that the work is completed.
func ReadProgress(m *checkpoint.Map) (p checkpoint.Progress, unread []string) {
	d := &progressReader{doc: m, keys: map[string]string{}}
	plain := strings.NewReplacer("_", "", "-", "", " ", "")
	for key := range m.All() {
		if word := plain.Replace(strings.ToLower(key)); d.keys[word] == "" {
			d.keys[word] = key
		}
	}
	p.Current = PhaseName(d.text(currentKeys))
	p.Total = phaseTotal(d.text(totalKeys))
	named := d.take(nameKeys)
	list, _ := named.([]any)
	byNumber, _ := named.(*checkpoint.Map)
	p.Total = cmp.Or(p.Total, len(list)+byNumber.Len())
	all := d.phases(allKeys, "")
	done := d.phases(doneKeys, Completed)
	skipped := d.phases(skippedKeys, Skipped)
	open := d.phases(openKeys, Pending)
	for _, phase := range slices.Concat(all, done, skipped, open) {
		switch {
		case phase.Status == Completed && !slices.Contains(p.Completed, phase.Name):
			p.Completed = append(p.Completed, phase.Name)
		case phase.Status == Skipped && !slices.Contains(p.Skipped, phase.Name):
			p.Skipped = append(p.Skipped, phase.Name)
		}
		if !slices.Contains(p.Names, phase.Name) {
			p.Names = append(p.Names, phase.Name)
		}
	}
	left := slices.ContainsFunc(p.Names, func(name string) bool { return !p.Over(name) })
	if p.Total > 0 || !left && StatusOf(values.Text(m, "status")) != Completed {
		p.Names = nil
	}
	if i := slices.IndexFunc(all, func(p Phase) bool { return p.Status == InProgress }); i >= 0 && p.Current == "" && p.Total == 0 {
		p.Current = all[i].Name
	}
	p.Completed = sortedNumbers(p.Completed)
	return p, d.unread()
}

// A progressReader reads the progress of one document.
type progressReader struct {
	doc  *checkpoint.Map
	keys map[string]string // plain form of each key
	seen []string          // keys that were understood
}

// take returns the value of the first given key, or nil.
func (d *progressReader) take(words []string) any {
	for _, word := range words {
		if key := d.keys[word]; key != "" {
			if v, _ := d.doc.Get(key); v != nil {
				d.seen = append(d.seen, key)
				return v
			}
		}
	}
	return nil
}

// text returns the first given key with a text or a number, or "".
func (d *progressReader) text(words []string) string {
	for _, word := range words {
		v, _ := d.doc.Get(d.keys[word])
		if s := values.AsText(v); d.keys[word] != "" && s != "" {
			d.seen = append(d.seen, d.keys[word])
			return s
		}
	}
	return ""
}

// phases returns the phases of all given keys with a shape that PhaseStates reads.
func (d *progressReader) phases(words []string, assumed string) (all []Phase) {
	for _, word := range words {
		if d.keys[word] == "" {
			continue
		}
		v, _ := d.doc.Get(d.keys[word])
		if phases, ok := PhaseStates(v, assumed); ok {
			all = append(all, phases...)
			d.seen = append(d.seen, d.keys[word])
		}
	}
	return all
}

// unread returns the keys that sound like progress, have a list, a mapping or a number, and
// were not understood.
func (d *progressReader) unread() (keys []string) {
	for key, v := range d.doc.All() {
		if slices.Contains(d.seen, key) || !soundsLikeProgress(key) {
			continue
		}
		list, _ := v.([]any)
		m, _ := v.(*checkpoint.Map)
		if _, isNumber := v.(checkpoint.Number); isNumber || len(list)+m.Len() > 0 {
			keys = append(keys, key)
		}
	}
	return keys
}

// soundsLikeProgress reports whether a key begins or ends with a word of progress.
func soundsLikeProgress(key string) bool {
	words := strings.FieldsFunc(splitCamel(key), func(r rune) bool { return r == '_' || r == '-' || r == ' ' })
	if len(words) == 0 {
		return false
	}
	first, last := words[0], words[len(words)-1]
	return slices.Contains([]string{"completed", "pending", "remaining", "skipped"}, first) && last != "at" ||
		slices.Contains([]string{"completed", "pending", "remaining", "phases", "stages", "steps", "milestones", "progress"}, last)
}

// splitCamel returns a key in lower case with "_" before each word: completed_steps for
// completedSteps.
func splitCamel(key string) string {
	var b strings.Builder
	lower := false
	for _, r := range key {
		if unicode.IsUpper(r) && lower {
			b.WriteByte('_')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
