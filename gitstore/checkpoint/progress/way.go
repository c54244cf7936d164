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
		words, name := slices.Clone(way), []string(nil)
		// A phase or task name that begins with "-" follows all flags, behind "--".
		if len(way) > 2 && way[0] != "finish" && way[1] != "list" && strings.HasPrefix(way[2], "-") {
			words, name = slices.Concat(way[:2], way[3:]), []string{"--", way[2]}
		}
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
