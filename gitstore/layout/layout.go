package layout

import (
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// Name is one of the five layouts.
type Name string

// The layouts.
const (
	Crunch   Name = "crunch"
	Claude   Name = "claude"
	Recovery Name = "recovery"
	Dotagent Name = "dotagent"
	Pipeline Name = "pipeline"
)

// Names lists the layouts, in the order in which shapes are tried.
func Names() []Name { return []Name{Crunch, Claude, Recovery, Dotagent, Pipeline} }

// Parse returns the layout of that name.
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

// A kind is one kind of document that a layout has.
type kind struct {
	layout Name
	name   string
	is     func(m *object) bool                   // by its shape
	whole  bool                                   // a record of its own
	lines  func(file string, data []byte) *object // for what is no YAML, nil else
	under  string                                 // a folder that it must be found in, "" for any
	older  func(m *object) string                 // its generation
	newer  func(m *object) *object                // migrated, nil for kinds that have one generation
	rules  func(c *checker)
	key    func(m *object) string // the issue it belongs to, "" where it names none
	id     func(m *object) string // nil where checkpoints have no ids
	at     func(m *object) any    // when it was written
	cause  func(m *object) checkpoint.Trigger

	apply  func(m *object, r *checkpoint.Record)
	judge  func(r *checkpoint.Record) // what is new in it moves a counter, nil for nothing
	update func(r *checkpoint.Record, m *object)
	fresh  func(r *checkpoint.Record) (*object, error) // nil for what only others write
	file   func(m *object) string                      // its name
	indent int
}

// kinds lists what a layout has, the most particular shape first.
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

// kindOf finds the kind of a document.
func (n Name) kindOf(m *object, path string) *kind {
	for _, k := range n.kinds() {
		if k.lines == nil && k.is(m) && (k.under == "" || strings.Contains("/"+path, "/"+k.under+"/")) {
			return k
		}
	}
	return nil
}

// decode reads a document in its newest generation.
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
