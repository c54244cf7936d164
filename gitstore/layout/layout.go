package layout

import (
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// Name is the name of a layout or of a read-only source.
type Name string

// Layouts that can be read and written.
const (
	Crunch   Name = "crunch"
	Claude   Name = "claude"
	Recovery Name = "recovery"
	Dotagent Name = "dotagent"
	Pipeline Name = "pipeline"
)

// Names returns all layouts in detection order.
func Names() []Name { return []Name{Crunch, Claude, Recovery, Dotagent, Pipeline} }

// Parse returns the layout with this name.
func Parse(s string) (Name, error) {
	if !slices.Contains(Names(), Name(s)) {
		return "", fmt.Errorf("layout %.40q: want one of %s", s, joined(Names()))
	}
	return Name(s), nil
}

func joined[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = string(w)
	}
	return strings.Join(words, ", ")
}

// A kind is a type of document in a layout.
type kind struct {
	layout Name
	name   string
	is     func(m *object) bool                   // detection by shape
	whole  bool                                   // a complete record
	lines  func(file string, data []byte) *object // parser for line logs, nil for YAML and JSON
	under  string                                 // required folder in the path, "" for any
	older  func(m *object) string                 // version of the document
	newer  func(m *object) *object                // migration, nil for kinds with a single version
	rules  func(c *checker)
	key    func(m *object) string // issue key, "" if missing
	id     func(m *object) string // checkpoint id, nil for kinds without ids
	at     func(m *object) any    // write time
	cause  func(m *object) checkpoint.Trigger

	apply  func(m *object, r *checkpoint.Record)
	judge  func(r *checkpoint.Record) // counts a new verdict, nil if no counter exists
	update func(r *checkpoint.Record, m *object)
	fresh  func(r *checkpoint.Record) (*object, error) // new document, nil for kinds that git-checkpoint does not create
	file   func(m *object) string                      // file name
	indent int
}

// kinds returns the kinds of a layout, the most specific shape first.
func (n Name) kinds() []*kind {
	switch n {
	case Crunch:
		return []*kind{crunchCheckpoint(), crunchStory()}
	case Claude:
		return claudeKinds()
	case Recovery:
		return []*kind{recoveryWorkflow()}
	case Dotagent:
		return dotagentKinds()
	case Pipeline:
		return pipelineKinds()
	case Entire:
		return []*kind{entireMetadata()}
	}
	return nil
}

// kindOf returns the kind of a document, nil if no kind matches.
func (n Name) kindOf(m *object, path string) *kind {
	for _, k := range n.kinds() {
		if k.lines == nil && k.is(m) && (k.under == "" || strings.Contains("/"+path, "/"+k.under+"/")) {
			return k
		}
	}
	return nil
}

// decode parses a document and migrates it to the newest version.
func (k *kind) decode(name string, data []byte) (*object, error) {
	if k.lines != nil {
		return k.lines(name, data), nil
	}
	m, err := checkpoint.DecodeTolerant(data, checkpoint.DefaultLimits, func(int, int, string) {})
	if err != nil {
		return nil, err
	}
	return k.migrated(m), nil
}

func (k *kind) migrated(m *object) *object {
	if k.newer == nil {
		return m
	}
	return k.newer(m)
}
