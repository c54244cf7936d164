package freshness

import (
	"slices"
	"strings"
)

// A Handover allows the command To to continue workflows begun by the command From.
// Scopes limits the handover; an empty list allows all scopes.
type Handover struct {
	From, To string
	Scopes   []string
}

// ParseHandover parses "from to scope scope ...". It returns false if a command is
// missing.
func ParseHandover(s string) (Handover, bool) {
	words := strings.Fields(s)
	if len(words) < 2 {
		return Handover{}, false
	}
	return Handover{words[0], words[1], words[2:]}, true
}

func (h Handover) allows(from, to, scope string) bool {
	return h.From == from && h.To == to && (len(h.Scopes) == 0 || slices.Contains(h.Scopes, scope))
}

// checkHandover checks whether the resuming command may continue a workflow of another
// command. It reports no finding if a command is unknown.
func checkHandover(in input) []Reason {
	from, to, scope := in.record.Command(), in.facts.By, in.record.Scope()
	if from == "" || to == "" || from == to {
		return nil
	}
	if slices.ContainsFunc(in.rules.Handovers, func(h Handover) bool { return h.allows(from, to, scope) }) {
		return nil
	}
	what := "a workflow"
	if scope != "" {
		what = "a workflow of scope " + printable(scope)
	}
	return []Reason{reason("command", PromptUser, "Begun by %s, and %s does not go on with %s", printable(from), printable(to), what)}
}
