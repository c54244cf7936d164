package freshness

// StateLabels are the labels that stand for a state of the work, without
// duplicates: those with the prefix, and those that stand for a phase.
func (r Rules) StateLabels(labels []string) []string { return r.stateLabels(labels) }
