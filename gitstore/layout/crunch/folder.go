package crunch

import (
	"fmt"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/values"
)

// issueFiles returns a file per checkpoint, an index and a link to the newest file. A
// story log is the only file of its issue.
func issueFiles(records []*checkpoint.Record) ([]codec.Output, error) {
	if newest := records[len(records)-1]; IsLog(newest) {
		return System().Of(newest)
	}
	issue, _ := records[0].Doc().Get("issue_number")
	var out []codec.Output
	var entries []any
	for _, r := range records {
		files, err := System().Of(r)
		if err != nil {
			return nil, err
		}
		out, entries = append(out, files...), append(entries, indexEntry(r))
	}
	return withIndex(out, issue, entries)
}

// withIndex adds the index and the link to the newest file.
func withIndex(files []codec.Output, issue any, entries []any) ([]codec.Output, error) {
	last, _ := entries[len(entries)-1].(*checkpoint.Map)
	index := values.NewMap(
		"issue_number", issue, "checkpoints", entries, "latest", values.Text(last, "checkpoint_id"), "total_checkpoints", len(entries),
	)
	data, err := checkpoint.FromDoc(index).Encode()
	if err != nil {
		return nil, err
	}
	newest := files[len(files)-1].Path
	return append(files, codec.Output{Path: "index.yaml", Data: data}, codec.Output{Path: "latest", Link: newest}), nil
}

// IsLog reports whether the record comes from a story log, the only crunch file of its
// issue.
func IsLog(r *checkpoint.Record) bool { return values.Sub(r.Doc(), "layout.files.story").Len() > 0 }

// listing returns the indexes of all issues.
func listing(files []codec.ListedFile) string {
	var indexes []string
	for _, f := range files {
		if f.Path == "index.yaml" {
			indexes = append(indexes, string(f.Data))
		}
	}
	return strings.Join(indexes, "---\n")
}

// A Folder describes the existing folder of an issue: the text of its index, and a
// function that reports whether a file is present and unchanged.
type Folder struct {
	Index []byte
	Has   func(name string) bool
}

// Continue returns the files of a crunch chain like Files, but reads fewer records. It
// reads only the newest checkpoint, and checkpoints without an unchanged file and index
// entry. The ids are sorted oldest first. Unchanged files are returned without data.
func (f Folder) Continue(ids []checkpoint.ID, read func(checkpoint.ID) (*checkpoint.Record, error)) ([]codec.Output, error) {
	index, known := f.entries()
	var out []codec.Output
	var entries []any
	for n, id := range ids {
		name := codec.FileName(string(id) + ".yaml")
		if e := known[id]; e != nil && n < len(ids)-1 && f.Has(name) {
			out, entries = append(out, codec.Output{Path: name}), append(entries, e)
			continue
		}
		r, err := read(id)
		if err != nil {
			continue // the read function reports the error
		}
		files, err := System().Of(r)
		if err != nil {
			return nil, err
		}
		index, _ = r.Doc().Get("issue_number")
		out, entries = append(out, files...), append(entries, indexEntry(r))
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("write %s: no checkpoint", Name)
	}
	return withIndex(out, index, entries)
}

// entries returns the issue and the entries of the folder's index, nil without an index.
func (f Folder) entries() (issue any, known map[checkpoint.ID]*checkpoint.Map) {
	m, err := checkpoint.DecodeDocument(f.Index, checkpoint.DefaultLimits)
	if err != nil || !isIndex(m) {
		return nil, nil
	}
	known = map[checkpoint.ID]*checkpoint.Map{}
	list, _ := values.Get(m, "checkpoints").([]any)
	for _, e := range list {
		if entry, ok := e.(*checkpoint.Map); ok {
			known[checkpoint.ID(values.Text(entry, "checkpoint_id"))] = entry
		}
	}
	return values.Get(m, "issue_number"), known
}
