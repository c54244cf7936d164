package manual

import "embed"

//go:embed guides/*.md
var texts embed.FS

// Guide is a page that no command has.
type Guide struct {
	Name    string
	Section int
	Usage   string
}

// Guides are the pages beside those of the commands and the settings.
func Guides() []Guide {
	return []Guide{
		{"recipes", 7, "agents, CI jobs, and getting back after a crash"},
		{"json", 7, "what commands print with --json"},
		{"format", 5, "how checkpoints are stored"},
		{"limits", 7, "what it does not do, and what it costs"},
		{"comparison", 7, "how other tools keep work that is under way"},
	}
}

// Topics are the guides and the settings: all that help prints beside commands.
func Topics() []Guide {
	return append([]Guide{{"settings", 5, settingsUsage}}, Guides()...)
}

const settingsUsage = "what can be set, and where"

// guideText is the source of a text below guides/.
func guideText(name string) string {
	data, err := texts.ReadFile("guides/" + name + ".md")
	if err != nil {
		panic(err) // a name that is not embedded is a mistake in this package
	}
	return string(data)
}
