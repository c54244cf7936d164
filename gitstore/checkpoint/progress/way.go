package progress

import (
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
)

// A Way is a suggested command: the arguments after "git checkpoint".
type Way []string

// Alternatives returns possible commands after a refused step, one a line.
func Alternatives(issue checkpoint.Issue, ways ...Way) string {
	commands := make([]string, len(ways))
	for i, way := range ways {
		words, name := cutName(way)
		if issue != "" {
			words = append(words, "--issue", string(issue))
		}
		commands[i] = "git checkpoint"
		for _, word := range append(words, name...) {
			commands[i] += " " + failure.Quote(word)
		}
	}
	return strings.Join(commands, "\n")
}

// cutName separates a phase or task name that begins with "-" from a command. The caller
// puts the name after all flags, behind "--".
func cutName(way Way) (words, name []string) {
	if len(way) < 3 || way[0] == "finish" || way[1] == "list" || !strings.HasPrefix(way[2], "-") {
		return slices.Clone(way), nil
	}
	return slices.Concat(way[:2], way[3:]), []string{"--", way[2]}
}
