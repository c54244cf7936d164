// Package crunch describes the documents of the crunch system. A checkpoint has the same
// schema as a record, in YAML, or in JSON in its first version. A story is a line log of
// related tools, read even if it is not valid YAML.
package crunch

import (
	"errors"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/values"
)

// Name is the name of the system.
const Name codec.Name = "crunch"

// System returns the crunch system.
func System() *codec.System {
	return &codec.System{
		Name:   Name,
		Kinds:  []*codec.Kind{checkpointKind(), storyKind()},
		Folder: ".claude/crunch/{issue}/checkpoints",
		Files:  issueFiles,
		List:   listing,
		Phases: phases,
		Other: func(m *checkpoint.Map) string {
			if isIndex(m) {
				return "the index of a directory, not a checkpoint: export writes it"
			}
			return ""
		},
	}
}

// phases lists the phases of the crunch system in order.
var phases = []string{"enrich", "ready", "implementing", "validation", "docs"}

func checkpointKind() *codec.Kind {
	return &codec.Kind{
		Name: "checkpoint", Whole: document,
		Is: func(m *checkpoint.Map) bool {
			return values.HasAny(m, "checkpoint_id", "issue_number") && values.HasAny(m, "issue_number", "workflow_state", "recovery_info", "execution_graph") &&
				!values.HasAny(m, "workflow_type", "workflow_description", "checkpoints", "nodes")
		},
		Version: func(m *checkpoint.Map) string { return values.Text(m, "version") },
		Reads: func(version string) string {
			if major, _, _ := strings.Cut(version, "."); major != "" && major != "1" {
				return "version 1"
			}
			return ""
		},
		Rules:   rules,
		Key:     func(m *checkpoint.Map) string { return values.Text(m, "issue_number") },
		ID:      func(m *checkpoint.Map) string { return values.Text(m, "checkpoint_id") },
		At:      func(m *checkpoint.Map) any { return values.Get(m, "created_at") },
		Trigger: trigger,
		File:    func(m *checkpoint.Map) string { return values.Text(m, "checkpoint_id") + ".yaml" },
	}
}

// trigger returns the trigger of a document. The crunch system stores triggers only
// in its index.
func trigger(m *checkpoint.Map) checkpoint.Trigger {
	if t, err := checkpoint.ParseTrigger(values.Text(m, "trigger")); err == nil {
		return t
	}
	return checkpoint.Manual
}

// rules applies the rules of records, except the rule for a missing trigger.
func rules(c *codec.Checker) {
	r := checkpoint.FromDoc(c.Doc)
	if se, ok := errors.AsType[*checkpoint.SyntaxError](r.Check()); ok {
		c.Fail(se.Path, "kind", "%s", se.Msg)
		return
	}
	if !values.Has(c.Doc, "checkpoint_id") {
		c.Fail("checkpoint_id", "required", "missing")
	}
	for _, p := range r.Validate(checkpoint.CrunchPhases()...) {
		if p.Path == "trigger" || p.Path == "checkpoint_id" && !values.Has(c.Doc, "checkpoint_id") {
			continue
		}
		rule := "schema"
		if p.Msg == "missing" {
			rule = "required"
		}
		c.Add(p.Warning, p.Path, rule, "%s", p.Msg)
	}
	c.Named(values.Text(c.Doc, "checkpoint_id"))
}

// document returns the record without git-checkpoint's own keys. If the record came
// from the stored document, keys that the store added are removed too.
func document(r *checkpoint.Record, stored *checkpoint.Map) *checkpoint.Map {
	m := r.Clone().Doc()
	was, err := checkpoint.DecodeTolerant([]byte(values.Text(stored, "text")), checkpoint.DefaultLimits, func(int, int, string) {})
	own := err == nil && values.Same(values.Get(was, "checkpoint_id"), values.Get(m, "checkpoint_id"))
	for _, key := range codec.Reserved {
		v, had := was.Get(key)
		switch {
		case !own || !had:
			m.Delete(key)
		case key != "trigger":
			m.Set(key, v) // key of the document itself
		}
	}
	if !own {
		return m
	}
	for _, key := range []string{"version", "created_at", "files_modified", "issue_snapshot"} {
		if !values.Has(was, key) {
			m.Delete(key)
		}
	}
	if snapshot := values.Sub(m, "issue_snapshot"); !values.Has(values.Sub(was, "issue_snapshot"), "branch") {
		snapshot.Delete("branch")
	}
	return m
}

func indexEntry(r *checkpoint.Record) *checkpoint.Map {
	at, _ := r.Doc().Get("created_at")
	return values.NewMap(
		"checkpoint_id", string(r.ID()), "created_at", at, "trigger", string(r.Trigger()),
		"phase", r.Phase(), "can_resume", r.CanResume(),
	)
}

// Triggers returns the triggers in the index of a crunch folder, the only place with
// triggers in that system. It returns nil if data is not an index.
func Triggers(data []byte) map[checkpoint.ID]checkpoint.Trigger {
	m, err := checkpoint.DecodeDocument(data, checkpoint.DefaultLimits)
	if err != nil || !isIndex(m) {
		return nil
	}
	found := map[checkpoint.ID]checkpoint.Trigger{}
	for _, entry := range m.Maps("checkpoints") {
		if t, err := checkpoint.ParseTrigger(entry.Text("trigger")); err == nil {
			found[checkpoint.ID(entry.Text("checkpoint_id"))] = t
		}
	}
	return found
}

// IsIndex reports whether a text is the index of a crunch folder.
func IsIndex(data []byte) bool { return Triggers(data) != nil }

func isIndex(m *checkpoint.Map) bool {
	return m.List("checkpoints") != nil && values.HasAny(m, "latest", "total_checkpoints")
}

// Forget removes the document of a single checkpoint from the base of the next record.
func Forget(r *checkpoint.Record) {
	if len(values.Sub(r.Doc(), "layout.files.checkpoint").Keys()) > 0 && values.Text(r.Doc(), "layout.name") == string(Name) {
		r.Doc().Delete("layout")
	}
}
