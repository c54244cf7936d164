package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
)

// Plural returns a number with its noun.
func Plural(n int, word string) string { return failure.Plural(n, word) }

// List joins words with commas.
func List(words []string) string { return strings.Join(words, ", ") }

// ShownRemotes joins names of remotes for output, without passwords.
func ShownRemotes(names []string) string {
	shown := make([]string, len(names))
	for n, name := range names {
		shown[n] = gitstore.ShownRemote(name)
	}
	return strings.Join(shown, " and ")
}

// OneOf returns words as a choice: "a, b or c".
func OneOf[T ~string](words []T) string {
	texts := Strings(words)
	if len(texts) < 2 {
		return List(texts)
	}
	return List(texts[:len(texts)-1]) + " or " + texts[len(texts)-1]
}

// Ago formats the age of a time for people, such as "2 hours ago".
func Ago(at, now time.Time) string {
	d := now.Sub(at)
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return Plural(int(d/time.Minute), "minute") + " ago"
	case d < 24*time.Hour:
		return Plural(int(d/time.Hour), "hour") + " ago"
	}
	return Plural(int(d/(24*time.Hour)), "day") + " ago"
}

// Strings converts a list of named string types.
func Strings[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}

// Set returns the texts as a set.
func Set(texts []string) map[string]bool {
	set := make(map[string]bool, len(texts))
	for _, text := range texts {
		set[text] = true
	}
	return set
}

// Files returns the number of files, and the names of the first few of them.
func Files(paths []string, few int) string {
	return Plural(len(paths), "file") + ": " + List(Few(QuotePaths(paths), few))
}

// Few returns the first n texts and the number of further texts.
func Few(texts []string, n int) []string {
	if len(texts) <= n {
		return texts
	}
	return append(slices.Clone(texts[:n]), fmt.Sprintf("and %d more", len(texts)-n))
}

// FirstLine returns the first line of a text.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// QuotePath returns a path that fits on one line. It is quoted and escaped if it could be
// read as another path.
func QuotePath(p string) string {
	p = checkpoint.QuotePath(p)
	if Clean(p) != p {
		return strconv.Quote(p)
	}
	return p
}

// QuotePaths quotes paths as records of --json have them.
func QuotePaths(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = checkpoint.QuotePath(p)
	}
	return out
}

// QuoteArg quotes a word of a shell command.
func QuoteArg(s string) string { return failure.Quote(s) }

// QuoteArgs returns words as a part of a shell command.
func QuoteArgs(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = QuoteArg(w)
	}
	return strings.Join(quoted, " ")
}

// IssueArg returns an issue as a shell argument. A key with spaces needs the flag.
func IssueArg(issue checkpoint.Issue) string { return failure.IssueArg(string(issue)) }

// Briefly returns the age of a time in a short form such as "12m", at most four
// characters for ages below 1,000 days.
func Briefly(at, now time.Time) string {
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

// Bytes returns a size in KiB, MiB or GiB.
func Bytes(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
}

// Distinct returns a list without repeated words.
func Distinct(list []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool {
		again := seen[s]
		seen[s] = true
		return again
	})
}
