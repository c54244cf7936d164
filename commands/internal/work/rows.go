package work

import (
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/freshness"
)

// ReasonRow returns the row of a finding, with its detail and its hint.
func ReasonRow(r freshness.Reason) view.Row {
	return view.Row{Label: "  " + r.Severity, Text: r.Message, Style: severityStyle(r.Action), Below: r.Detail, Hint: r.Hint}
}

func severityStyle(a freshness.Action) view.Style {
	switch a {
	case freshness.Resume:
		return ""
	case freshness.StartFresh:
		return view.Red
	}
	return view.Yellow
}
