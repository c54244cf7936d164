package complete

import "embed"

//go:embed scripts
var scripts embed.FS

// Shells returns the names of shells with a completion script.
func Shells() []string { return []string{"bash", "zsh", "fish"} }

// Script returns the completion script of a shell, or "" if the shell is unknown.
func Script(shell string) string {
	data, err := scripts.ReadFile("scripts/git-checkpoint." + shell)
	if err != nil {
		return ""
	}
	return string(data)
}
