package manual

import "embed"

//go:embed guides/*.md
var texts embed.FS

// Guide is a manual page unrelated to a single command.
type Guide struct {
	Name    string
	Section int
	Usage   string
}

// Guides returns all pages except commands and settings.
func Guides() []Guide {
	return []Guide{
		{"recipes", 7, "agents, CI jobs, and getting back after a crash"},
		{"json", 7, "what commands print with --json"},
		{"format", 5, "how checkpoints are stored"},
		{"limits", 7, "what it does not do, and what it costs"},
		{"comparison", 7, "how other tools keep work that is under way"},
	}
}

// Topics returns all non-command pages for help: the settings and guides.
func Topics() []Guide {
	return append([]Guide{{"settings", 5, settingsUsage}}, Guides()...)
}

const settingsUsage = "what can be set, and where"

// guideText returns a source text in guides/.
func guideText(name string) string {
	data, err := texts.ReadFile("guides/" + name + ".md")
	if err != nil {
		panic(err) // an unknown name is a bug in this package
	}
	return string(data)
}
