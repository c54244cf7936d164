package standing

import (
	"git-checkpoint/commands/internal/display"
	"git-checkpoint/freshness"
)

// ReasonRow returns the row of a finding, with its detail and its hint.
func ReasonRow(r freshness.Reason) display.Row {
	return display.Row{Label: "  " + r.Severity, Text: r.Message, Style: severityStyle(r.Action), Below: r.Detail, Hint: r.Hint}
}

func severityStyle(a freshness.Action) display.Style {
	switch a {
	case freshness.Resume:
		return ""
	case freshness.StartFresh:
		return display.Red
	}
	return display.Yellow
}
