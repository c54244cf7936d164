package freshness

// StateLabels returns unique state labels: labels with the prefix and labels in
// LabelsToPhase.
func (r Rules) StateLabels(labels []string) []string { return r.stateLabels(labels) }
