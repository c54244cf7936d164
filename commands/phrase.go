package commands

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"git-checkpoint/commands/output"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
)

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func list(words []string) string { return strings.Join(words, ", ") }

// ago formats the age of a time for people, such as "2 hours ago".
func ago(at, now time.Time) string {
	d := now.Sub(at)
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return plural(int(d/time.Minute), "minute") + " ago"
	case d < 24*time.Hour:
		return plural(int(d/time.Hour), "hour") + " ago"
	}
	return plural(int(d/(24*time.Hour)), "day") + " ago"
}

func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}

// few returns the first n texts and the number of further texts.
func few(texts []string, n int) []string {
	if len(texts) <= n {
		return texts
	}
	return append(slices.Clone(texts[:n]), fmt.Sprintf("and %d more", len(texts)-n))
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// quotePath returns a path that fits on one line. It is quoted and escaped if it could be
// read as another path.
func quotePath(p string) string {
	p = checkpoint.QuotePath(p)
	if output.Clean(p) != p {
		return strconv.Quote(p)
	}
	return p
}

func quotePaths(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = checkpoint.QuotePath(p)
	}
	return out
}

// quoteArg quotes a word of a shell command.
func quoteArg(s string) string {
	if plainWord().MatchString(s) {
		return s
	}
	return output.Shell(s)
}

// issueArg returns an issue as the last shell argument.
func issueArg(issue checkpoint.Issue) string {
	if strings.HasPrefix(string(issue), "-") {
		return "-- " + quoteArg(string(issue))
	}
	return quoteArg(string(issue))
}

var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_./:=@~^-]+$`) })

// briefly returns the age of a time in a short form such as "12m", at most four
// characters for ages below 1,000 days.
func briefly(at, now time.Time) string {
	d := now.Sub(at)
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

func distinct(list []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range list {
		if !seen[s] {
			out = append(out, s)
		}
		seen[s] = true
	}
	return out
}

// alternatives returns possible commands after a refused step, joined with "or".
func alternatives(issue checkpoint.Issue, ways ...progress.Way) string {
	commands := make([]string, len(ways))
	for i, way := range ways {
		words, name := cutName(way)
		if issue != "" {
			words = append(words, "--issue", string(issue))
		}
		commands[i] = "git checkpoint"
		for _, word := range append(words, name...) {
			commands[i] += " " + quoteArg(word)
		}
	}
	return strings.Join(commands, " or ")
}

// cutName separates a phase or task name that begins with "-" from a command. The caller
// puts the name after all flags, behind "--".
func cutName(way progress.Way) (words, name []string) {
	if len(way) < 3 || way[0] == "finish" || !strings.HasPrefix(way[2], "-") {
		return slices.Clone(way), nil
	}
	return slices.Concat(way[:2], way[3:]), []string{"--", way[2]}
}

// mendThen returns the hint for a document that breaks rules.
func mendThen(file string) string {
	if file == "" {
		return "mend the document, then run the command again"
	}
	return "mend " + quoteArg(file) + ", then run the command again"
}
