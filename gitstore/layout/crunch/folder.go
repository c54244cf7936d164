package crunch

import (
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/values"
)

// issueFiles returns a file per checkpoint, an index and a link to the newest file. A
// story log is the only file of its issue.
func issueFiles(records []*checkpoint.Record) ([]codec.Output, error) {
	if newest := records[len(records)-1]; values.Sub(newest.Doc(), "layout.files.story").Len() > 0 {
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
	newest := out[len(out)-1].Path
	index := values.NewMap(
		"issue_number", issue, "checkpoints", entries, "latest", string(records[len(records)-1].ID()), "total_checkpoints", len(entries),
	)
	data, err := checkpoint.FromDoc(index).Encode()
	return append(out, codec.Output{Path: "index.yaml", Data: data}, codec.Output{Path: "latest", Link: newest}), err
}

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
