package complete

import "embed"

//go:embed scripts
var scripts embed.FS

// Shells are those that there is a script for.
func Shells() []string { return []string{"bash", "zsh", "fish"} }

// Script is what a shell has to read, "" for one that is not known.
func Script(shell string) string {
	data, err := scripts.ReadFile("scripts/git-checkpoint." + shell)
	if err != nil {
		return ""
	}
	return string(data)
}
