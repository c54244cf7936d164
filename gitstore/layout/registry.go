package layout

import "slices"

// A registry lists all systems, and the sources, whose documents are read-only.
type registry struct{ systems, sources []*system }

// system returns the system or source with a name, or a system without documents.
func (g registry) system(as Name) *system {
	for _, s := range slices.Concat(g.systems, g.sources) {
		if s.name == as {
			return s
		}
	}
	return &system{name: as}
}

// among returns one system, or all systems if as is "".
func (g registry) among(as Name) []*system {
	if as == "" {
		return g.systems
	}
	return []*system{g.system(as)}
}

// find returns the kind of a document and its system, nil if no kind matches.
func (g registry) find(as Name, m *object, file string) (Name, *kind) {
	for _, s := range g.among(as) {
		for _, k := range s.kinds {
			if k.log == nil && k.matches(m, file) && (!k.rest || g.otherType(m) == "") {
				return s.name, k
			}
		}
	}
	return "", nil
}

// findLog returns the kind of a log and its system, nil if no kind matches.
func (g registry) findLog(as Name, file string, data []byte) (Name, *kind) {
	for _, s := range g.among(as) {
		for _, k := range s.kinds {
			if k.log != nil && k.log(file, data) {
				return s.name, k
			}
		}
	}
	return "", nil
}

// otherType returns the actual type of a document that is no checkpoint, "" if unknown.
func (g registry) otherType(m *object) string {
	for _, s := range g.systems {
		if s.other != nil && s.other(m) != "" {
			return s.other(m)
		}
	}
	switch {
	case isMap(m, "checkpoint") && m.Len() == 1:
		return "a configuration, not a checkpoint"
	case has(m, "graph_id") && isList(m, "nodes"):
		return "an execution graph, not a checkpoint"
	case has(m, "artifact_id", "artifact_type"):
		return "an entry of an artifact registry, not a checkpoint"
	case has(m, "stages", "transitions"):
		return "a table of transitions, not a state"
	case has(m, "prepared_at", "checks"):
		return "the report of a preflight, not a state"
	}
	for _, s := range g.sources {
		if s.other != nil && s.other(m) != "" {
			return s.other(m)
		}
	}
	return ""
}
