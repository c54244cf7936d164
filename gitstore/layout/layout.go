package layout

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/gitstore/checkpoint"
)

// systems returns the systems in detection order.
func systems() registry {
	return registry{
		systems: []*system{crunchSystem(), claudeSystem(), recoverySystem(), dotagentSystem(), pipelineSystem()},
		sources: []*system{entireSystem()},
	}
}

// Names of the systems.
const (
	Crunch   Name = "crunch"
	Claude   Name = "claude"
	Recovery Name = "recovery"
	Dotagent Name = "dotagent"
	Pipeline Name = "pipeline"
)

// Names returns the names of all layouts in detection order.
func Names() []Name { return names(systems().systems) }

// Sources returns the tools whose documents are read-only.
func Sources() []Name { return names(systems().sources) }

func names(list []*system) []Name {
	out := make([]Name, len(list))
	for i, s := range list {
		out[i] = s.name
	}
	return out
}

// Parse returns the layout with this name.
func Parse(s string) (Name, error) {
	all := Names()
	if !slices.Contains(all, Name(s)) {
		words := make([]string, len(all))
		for i, n := range all {
			words[i] = string(n)
		}
		return "", fmt.Errorf("layout %.40q: want one of %s", s, strings.Join(words, ", "))
	}
	return Name(s), nil
}

// Read parses a document of layout as, or of any matching layout if as is "". The
// slash-separated path file is the origin of the document and may be empty.
//
// Read fails with *InvalidError, *UnknownDocumentError or *VersionError if the document
// is unreadable. A document that violates rules is returned with its Problems; Err
// reports whether it is usable.
func Read(as Name, file string, data []byte) (*File, error) { return systems().read(as, file, data) }

// Explain returns an *InvalidError with the rules that a document violates, as if it were
// a checkpoint of the layout. It returns nil if the document violates no rule.
func Explain(as Name, file string, data []byte) error {
	return systems().system(as).explain(file, data)
}

// Of returns a record as documents of a layout: stored documents with updated values, or
// new documents. It fails if the record has no content for the layout.
func Of(as Name, r *checkpoint.Record) ([]Output, error) { return systems().system(as).of(r) }

// Files returns the files of a layout for the checkpoints of an issue, oldest first. Most
// layouts store only the newest state.
func Files(as Name, records []*checkpoint.Record) ([]Output, error) {
	if len(records) == 0 {
		return nil, fmt.Errorf("write %s: no checkpoint", as)
	}
	s := systems().system(as)
	if s.files == nil {
		return s.of(records[len(records)-1])
	}
	return s.files(records)
}

// Folder returns the folder of a layout's files, relative to the worktree root.
func Folder(as Name, issue checkpoint.Issue) string {
	if s := systems().system(as); s.folder != nil {
		return s.folder(issue)
	}
	return ""
}

// Begin returns the initial values of a workflow in layout as. It fails if a value that
// the system requires is missing.
func Begin(as Name, start Start) (Beginning, error) {
	if s := systems().system(as); s.begin != nil {
		return s.begin(start)
	}
	return Beginning{}, nil
}

// Enter adds the layout's own sections to a record with a new workflow.
func Enter(as Name, r *checkpoint.Record, story checkpoint.Issue) {
	if s := systems().system(as); s.enter != nil {
		s.enter(r, story)
	}
}

// TextsOf returns the texts of a layout for a record, empty if the layout has no texts of
// its own. It fails if the record lacks a required value.
func TextsOf(as Name, r *checkpoint.Record) (Texts, error) {
	if s := systems().system(as); s.texts != nil {
		return s.texts(r)
	}
	return Texts{}, nil
}

// Listing returns the file list of a layout's system, most often with a line per file. The
// records of each issue are sorted oldest first. Listing fails if no issue can be written
// in the layout.
func Listing(as Name, chains [][]*checkpoint.Record) (string, error) {
	all := systems()
	s := all.system(as)
	var files []listedFile
	var last error
	for _, chain := range chains {
		outputs, err := Files(as, chain)
		if err != nil {
			last = err
			continue
		}
		for _, o := range outputs {
			files = append(files, listedFile{Output: o, newest: chain[len(chain)-1], read: sync.OnceValues(func() (*File, error) {
				return all.read(as, Folder(as, "")+"/"+o.Path, o.Data)
			})})
		}
	}
	list := linePerFile
	if s.list != nil {
		list = s.list
	}
	if text := list(files); text != "" {
		return text, nil
	}
	return "", last
}
