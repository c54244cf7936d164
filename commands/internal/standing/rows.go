package standing

import (
	"strings"

	"git-checkpoint/commands/internal/display"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/freshness"
)

// ReasonRow returns the row of a finding, with its detail and its hint.
func ReasonRow(r freshness.Reason) display.Row {
	return display.Row{Label: "  " + r.Severity, Text: r.Message, Style: severityStyle(r.Action), Below: unsaid(r), Hint: r.Hint}
}

// unsaid returns the detail of a finding, or nil if the message contains it.
func unsaid(r freshness.Reason) []string {
	if strings.HasSuffix(r.Message, ": "+phrase.List(r.Detail)) {
		return nil
	}
	return r.Detail
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
