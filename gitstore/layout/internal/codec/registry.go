package codec

import (
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/values"
)

// A Registry lists all systems, and the sources, whose documents are read-only.
type Registry struct{ Systems, Sources []*System }

// Find returns the system or source with a name, or a system without documents.
func (g Registry) Find(as Name) *System {
	for _, s := range slices.Concat(g.Systems, g.Sources) {
		if s.Name == as {
			return s
		}
	}
	return &System{Name: as}
}

// find returns the first kind that is wanted, and its system, nil if there is none.
func (g Registry) find(as Name, wants func(*Kind) bool) (Name, *Kind) {
	systems := g.Systems
	if as != "" {
		systems = []*System{g.Find(as)}
	}
	for _, s := range systems {
		for _, k := range s.Kinds {
			if wants(k) {
				return s.Name, k
			}
		}
	}
	return "", nil
}

// findKind returns the kind of a document and its system, nil if no kind matches.
func (g Registry) findKind(as Name, m *checkpoint.Map, file string) (Name, *Kind) {
	return g.find(as, func(k *Kind) bool {
		return k.Log == nil && k.Is(m) && (k.Under == "" || strings.Contains("/"+file, "/"+k.Under+"/")) && (!k.Rest || g.otherType(m) == "")
	})
}

// otherType returns the actual type of a document that is no checkpoint, "" if unknown.
func (g Registry) otherType(m *checkpoint.Map) string {
	for _, s := range g.Systems {
		if s.Other != nil && s.Other(m) != "" {
			return s.Other(m)
		}
	}
	switch {
	case m.Sub("checkpoint") != nil && m.Len() == 1:
		return "a configuration, not a checkpoint"
	case values.Has(m, "graph_id") && m.List("nodes") != nil:
		return "an execution graph, not a checkpoint"
	case values.Has(m, "artifact_id", "artifact_type"):
		return "an entry of an artifact registry, not a checkpoint"
	case values.Has(m, "stages", "transitions"):
		return "a table of transitions, not a state"
	case values.Has(m, "prepared_at", "checks"):
		return "the report of a preflight, not a state"
	}
	for _, s := range g.Sources {
		if s.Other != nil && s.Other(m) != "" {
			return s.Other(m)
		}
	}
	return ""
}
