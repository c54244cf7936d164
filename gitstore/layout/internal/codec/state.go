package codec

import (
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// A Workflow holds the values of a workflow that a state does not contain.
type Workflow struct {
	Type    string
	Project string // "" for the project in the state
	Now     time.Time
	Before  *checkpoint.Record // preceding record, or nil
}

// NewWorkflow returns the initial values of a workflow. It fails if a value that the system requires
// is missing.
func (s *System) NewWorkflow(start Start) (Beginning, error) {
	if s.Begin != nil {
		return s.Begin(start)
	}
	return Beginning{Phases: slices.Clone(s.Phases)}, nil
}

// ResumeTexts returns the texts of a system for a record. They are empty if the system has no texts of
// its own, or if a document of the system that lacks their values has made the record. For other
// records, a missing required value is an error.
func (s *System) ResumeTexts(r *checkpoint.Record) (Texts, error) {
	if s.Texts == nil {
		return Texts{}, nil
	}
	texts, err := s.Texts(r)
	if err != nil && r.Layout() == string(s.Name) {
		return Texts{}, nil
	}
	return texts, err
}

// ReadState parses the state of a workflow and completes it to a document of the system's
// first kind. The system has to have states: its Complete is not nil. It fails like Registry.Read.
func (s *System) ReadState(file string, data []byte, w Workflow) (*File, error) {
	f := &File{Layout: s.Name, Kind: s.Kinds[0].Name, kind: s.Kinds[0]}
	m, err := checkpoint.DecodeDocument(data, checkpoint.DefaultLimits)
	if err != nil {
		return nil, syntaxError(s.Name, baseName(file), data, err)
	}
	before := checkpoint.NewMap()
	if w.Before != nil && w.Before.Layout() == string(s.Name) {
		out, err := s.Of(w.Before)
		if err == nil {
			before, err = checkpoint.DecodeDocument(out[0].Data, checkpoint.DefaultLimits)
		}
		if err != nil {
			return nil, err
		}
	}
	var problems []Problem
	if f.Doc, problems = s.Complete(m, before, w); len(problems) > 0 {
		place(problems, data)
		return nil, &InvalidError{Layout: s.Name, File: baseName(file), Problems: problems}
	}
	f.data = data
	if err := f.take(f.Doc, baseName(file), ""); err != nil {
		return nil, err
	}
	f.data, err = encodeJSON(f.Doc, f.kind.indent())
	return f, err
}
