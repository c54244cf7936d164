package layout

import (
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
)

// A CrunchFolder describes the existing folder of an issue: the text of its index, and a
// function that reports whether a file is present and unchanged.
type CrunchFolder struct {
	Index []byte
	Has   func(name string) bool
}

// Continue returns the files of a crunch chain like Files, but reads fewer records. It
// reads only the newest checkpoint, and checkpoints without an unchanged file and index
// entry. The ids are sorted oldest first. Unchanged files are returned without data.
func (f CrunchFolder) Continue(ids []checkpoint.ID, read func(checkpoint.ID) (*checkpoint.Record, error)) ([]Output, error) {
	index, known := f.entries()
	var out []Output
	var entries []any
	for n, id := range ids {
		name := FileName(string(id) + ".yaml")
		if e := known[id]; e != nil && n < len(ids)-1 && f.Has(name) {
			out, entries = append(out, Output{Path: name}), append(entries, e)
			continue
		}
		r, err := read(id)
		if err != nil {
			continue // the read function reports the error
		}
		files, err := Of(Crunch, r)
		if err != nil {
			return nil, err
		}
		index, _ = r.Doc().Get("issue_number")
		out, entries = append(out, files...), append(entries, crunchEntry(r))
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("write %s: no checkpoint", Crunch)
	}
	text, err := crunchIndexOf(index, entries)
	if err != nil {
		return nil, err
	}
	return append(out, Output{Path: "index.yaml", Data: text}, latestLink(out)), nil
}

// entries returns the issue and the entries of the folder's index, nil without an index.
func (f CrunchFolder) entries() (issue any, known map[checkpoint.ID]*object) {
	m, err := checkpoint.DecodeDocument(f.Index, checkpoint.DefaultLimits)
	if err != nil || !isCrunchIndex(m) {
		return nil, nil
	}
	known = map[checkpoint.ID]*object{}
	list, _ := get(m, "checkpoints").([]any)
	for _, e := range list {
		if entry, ok := e.(*object); ok {
			known[checkpoint.ID(text(entry, "checkpoint_id"))] = entry
		}
	}
	return get(m, "issue_number"), known
}
