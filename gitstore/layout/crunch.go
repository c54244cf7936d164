package layout

import (
	"errors"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// crunchSystem returns the crunch system.
func crunchSystem() *system {
	return &system{
		name:  Crunch,
		kinds: []*kind{crunchCheckpoint(), crunchStory()},
		folder: func(issue checkpoint.Issue) string {
			return ".claude/crunch/" + issue.RefName() + "/checkpoints"
		},
		files: crunchFiles,
		list:  crunchList,
		begin: func(Start) (Beginning, error) { return Beginning{Phases: slices.Clone(crunchPhases)}, nil },
		other: func(m *object) string {
			if isCrunchIndex(m) {
				return "the index of a folder, not a checkpoint: export writes it anew"
			}
			return ""
		},
	}
}

// crunchPhases lists the phases of the crunch system in order.
var crunchPhases = []string{"enrich", "ready", "implementing", "validation", "docs"}

func crunchCheckpoint() *kind {
	return &kind{
		name: "checkpoint", whole: crunchDocument,
		is: func(m *object) bool {
			return hasAny(m, "checkpoint_id", "issue_number") && hasAny(m, "issue_number", "workflow_state", "recovery_info", "execution_graph") &&
				!hasAny(m, "workflow_type", "workflow_description", "checkpoints", "nodes")
		},
		version: func(m *object) string { return text(m, "version") },
		reads: func(version string) string {
			if major, _, _ := strings.Cut(version, "."); major != "" && major != "1" {
				return "version 1"
			}
			return ""
		},
		rules:   crunchRules,
		key:     func(m *object) string { return text(m, "issue_number") },
		id:      func(m *object) string { return text(m, "checkpoint_id") },
		at:      func(m *object) any { return get(m, "created_at") },
		trigger: crunchTrigger,
		file:    func(m *object) string { return text(m, "checkpoint_id") + ".yaml" },
	}
}

// crunchTrigger returns the trigger of a document. The crunch system stores triggers only
// in its index.
func crunchTrigger(m *object) checkpoint.Trigger {
	if t, err := checkpoint.ParseTrigger(text(m, "trigger")); err == nil {
		return t
	}
	return checkpoint.Manual
}

// crunchRules applies the rules of records, except the rule for a missing trigger.
func crunchRules(c *checker) {
	r := checkpoint.FromDoc(c.doc)
	var se *checkpoint.SyntaxError
	if err := r.Check(); errors.As(err, &se) {
		c.fail(se.Path, "kind", "%s", se.Msg)
		return
	}
	if !has(c.doc, "checkpoint_id") {
		c.fail("checkpoint_id", "required", "missing")
	}
	for _, p := range r.Validate() {
		if p.Path == "trigger" || p.Path == "checkpoint_id" && !has(c.doc, "checkpoint_id") {
			continue
		}
		rule := "schema"
		if p.Msg == "missing" {
			rule = "required"
		}
		c.add(p.Warning, p.Path, rule, "%s", p.Msg)
	}
	c.named(text(c.doc, "checkpoint_id"))
}

// crunchDocument returns the record without git-checkpoint's own keys. If the record came
// from the stored document, keys that the store added are removed too.
func crunchDocument(r *checkpoint.Record, stored *object) *object {
	m := r.Clone().Doc()
	was, err := checkpoint.DecodeTolerant([]byte(text(stored, "text")), checkpoint.DefaultLimits, func(int, int, string) {})
	own := err == nil && same(get(was, "checkpoint_id"), get(m, "checkpoint_id"))
	for _, key := range reserved {
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
		if !has(was, key) {
			m.Delete(key)
		}
	}
	if snapshot := sub(m, "issue_snapshot"); !has(sub(was, "issue_snapshot"), "branch") {
		snapshot.Delete("branch")
	}
	return m
}

// crunchEntry returns the index entry of a checkpoint.
func crunchEntry(r *checkpoint.Record) *object {
	at, _ := r.Doc().Get("created_at")
	return newObject(
		"checkpoint_id", string(r.ID()), "created_at", at, "trigger", string(r.Trigger()),
		"phase", r.Phase(), "can_resume", r.CanResume(),
	)
}

// Triggers returns the triggers in the index of a crunch folder, the only place with
// triggers in that system. It returns nil if data is not an index.
func Triggers(data []byte) map[checkpoint.ID]checkpoint.Trigger {
	m, err := checkpoint.DecodeDocument(data, checkpoint.DefaultLimits)
	if err != nil || !isCrunchIndex(m) {
		return nil
	}
	found := map[checkpoint.ID]checkpoint.Trigger{}
	list, _ := get(m, "checkpoints").([]any)
	for _, e := range list {
		entry, _ := e.(*object)
		id, err := checkpoint.ParseID(text(entry, "checkpoint_id"))
		t, bad := checkpoint.ParseTrigger(text(entry, "trigger"))
		if err == nil && bad == nil {
			found[id] = t
		}
	}
	return found
}

// IsIndex reports whether a text is the index of a crunch folder.
func IsIndex(data []byte) bool {
	m, err := checkpoint.DecodeDocument(data, checkpoint.DefaultLimits)
	return err == nil && isCrunchIndex(m)
}

func isCrunchIndex(m *object) bool {
	return isList(m, "checkpoints") && hasAny(m, "latest", "total_checkpoints")
}

// Forget removes the document of a single checkpoint from the base of the next record.
func Forget(r *checkpoint.Record) {
	if len(sub(r.Doc(), "layout.files.checkpoint").Keys()) > 0 && text(r.Doc(), "layout.name") == string(Crunch) {
		r.Doc().Delete("layout")
	}
}
