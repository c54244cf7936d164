// Package layout reads and writes the documents of five other checkpoint systems: crunch,
// claude, recovery, dotagent and pipeline. It also reads, but does not write, the session
// metadata of entire.
//
// A layout is a codec with rules, not a second store. Read parses a document into a File,
// Apply converts a File into a record, and Of converts a record into documents. The
// packages do not access git, the file system or the clock. Package codec defines the
// stored form.
//
// Each system has its own package, which lists its kinds of documents. The list of all
// systems is in layout.go.
package layout

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/claude"
	"git-checkpoint/gitstore/layout/crunch"
	"git-checkpoint/gitstore/layout/dotagent"
	"git-checkpoint/gitstore/layout/entire"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/pipeline"
	"git-checkpoint/gitstore/layout/recovery"
)

// Types of the documents.
type (
	System   = codec.System   // layout, or read-only source
	Name     = codec.Name     // name of a layout or of a read-only source
	File     = codec.File     // parsed document
	Output   = codec.Output   // file to write
	Start    = codec.Start    // input of System.NewWorkflow
	Texts    = codec.Texts    // result of System.ResumeTexts
	Workflow = codec.Workflow // input of System.ReadState
)

// Errors of Read.
type (
	InvalidError         = codec.InvalidError
	UnknownDocumentError = codec.UnknownDocumentError
	VersionError         = codec.VersionError
)

// registry returns the systems in detection order.
func registry() codec.Registry {
	return codec.Registry{
		Systems: []*codec.System{crunch.System(), claude.System(), recovery.System(), dotagent.System(), pipeline.System()},
		Sources: []*codec.System{entire.System()},
	}
}

// Names returns the names of all layouts in detection order.
func Names() []Name { return names(registry().Systems) }

// Sources returns the tools whose documents are read-only.
func Sources() []Name { return names(registry().Sources) }

func names(list []*codec.System) []Name {
	out := make([]Name, len(list))
	for i, s := range list {
		out[i] = s.Name
	}
	return out
}

// Parse returns the layout with this name.
func Parse(s string) (Name, error) {
	var words []string
	for _, name := range Names() {
		words = append(words, string(name))
	}
	if !slices.Contains(words, s) {
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
func Read(as Name, file string, data []byte) (*File, error) {
	return registry().Read(as, file, data)
}

// Find returns the layout or source with a name, or one without documents.
func Find(as Name) *System { return registry().Find(as) }

// Listing returns the file list of a layout's system, most often with a line per file. The
// records of each issue are sorted oldest first; failed has those of archived workflows
// that did not complete. Listing fails if no issue can be written in the layout.
func Listing(as Name, chains, failed [][]*checkpoint.Record) (string, error) {
	return registry().Listing(as, chains, failed)
}

// Digests returns the digests of all documents in a record. Crunch documents have ids
// instead.
func Digests(r *checkpoint.Record) []string { return codec.Digests(r) }

// Has reports whether a document adds nothing to a record: the record was made from it, or
// an export of the record is equal to it.
func Has(r *checkpoint.Record, f *File) bool {
	if f.In(r) {
		return true
	}
	outputs, err := Find(f.Layout).Of(r)
	return err == nil && slices.ContainsFunc(outputs, func(o Output) bool {
		exported, err := Read(f.Layout, o.Path, o.Data)
		return err == nil && exported.Digest() == f.Digest()
	})
}

// FileName returns a safe file name for a text from a document.
func FileName(s string) string { return codec.FileName(s) }

// Ignored returns the reason why a file in a layout's folder is not a document, based
// only on its name. The result is "" for a possible document.
func Ignored(file string) string {
	base := strings.ToLower(path.Base(file))
	switch ext := path.Ext(base); {
	case ext == ".lock" || ext == ".pid":
		return "a lock"
	case ext == ".tmp", strings.HasPrefix(base, ".tmp"), strings.HasSuffix(base, ".partial"):
		return "the remains of a write that was interrupted"
	case strings.Contains(base, "backup"), ext == ".bak", ext == ".migrated", strings.HasSuffix(base, "~"):
		return "a backup"
	case ext == ".jsonl":
		return "a journal, not a checkpoint"
	case ext == ".template":
		return "a template"
	case ext != ".json" && ext != ".yaml" && ext != ".yml":
		return "neither JSON nor YAML by its name"
	}
	return ""
}
