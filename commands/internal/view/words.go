package view

import (
	"cmp"
	"fmt"
	"maps"
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
	return strings.Join(Each(names, gitstore.ShownRemote), " and ")
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
	if n, unit := age(at, now); n > 0 {
		return Plural(n, unit) + " ago"
	}
	return "just now"
}

// age returns the age of a time in its largest unit, 0 below a minute.
func age(at, now time.Time) (n int, unit string) {
	switch d := now.Sub(at); {
	case d < time.Minute:
		return 0, ""
	case d < time.Hour:
		return int(d / time.Minute), "minute"
	case d < 24*time.Hour:
		return int(d / time.Hour), "hour"
	default:
		return int(d / (24 * time.Hour)), "day"
	}
}

// Each returns the result of a function for each element of a list.
func Each[T, U any](list []T, of func(T) U) []U {
	out := make([]U, len(list))
	for i, v := range list {
		out[i] = of(v)
	}
	return out
}

// Strings converts a list of named string types.
func Strings[T ~string](list []T) []string {
	return Each(list, func(v T) string { return string(v) })
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
func QuotePaths(paths []string) []string { return Each(paths, checkpoint.QuotePath) }

// QuoteArg quotes a word of a shell command.
func QuoteArg(s string) string { return failure.Quote(s) }

// QuoteArgs returns words as a part of a shell command.
func QuoteArgs(words []string) string { return strings.Join(Each(words, QuoteArg), " ") }

// IssueArg returns an issue as a shell argument. A key with spaces needs the flag.
func IssueArg(issue checkpoint.Issue) string { return failure.IssueArg(string(issue)) }

// Briefly returns the age of a time in a short form such as "12m", at most four
// characters for ages below 1,000 days.
func Briefly(at, now time.Time) string {
	if n, unit := age(at, now); n > 0 {
		return fmt.Sprintf("%d%c", n, unit[0])
	}
	return "now"
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

// TokensText returns numbers of tokens, such as "12k in, 3.4k out, 240k cached", or "" for no
// tokens. Tokens that are written to a cache are within the first number.
func TokensText(t checkpoint.Tokens) string {
	if t == (checkpoint.Tokens{}) {
		return ""
	}
	text := thousands(t.Input+t.CacheWrite) + " in, " + thousands(t.Output) + " out"
	if t.CacheRead > 0 {
		text += ", " + thousands(t.CacheRead) + " cached"
	}
	return text
}

// thousands returns a number with one to three digits and its unit, such as "3.4k" or "12M".
func thousands(n int64) string {
	value, unit := float64(n), ""
	for _, next := range []string{"k", "M", "G", "T"} {
		if value < 999.5 {
			break
		}
		value, unit = value/1000, next
	}
	digits := 0
	if unit != "" && value < 9.95 {
		digits = 1
	}
	return strings.TrimSuffix(strconv.FormatFloat(value, 'f', digits, 64), ".0") + unit
}

// tokensRow returns the tokens of all turns of a record, or nothing.
func tokensRow(r *checkpoint.Record) []Row {
	return Filled(Row{Label: "Tokens", Text: TokensText(checkpoint.SumOf(r.AgentTurn().Spent))})
}

// TokensBy returns the tokens by the names of a key, most new tokens first. Unknown names are "other".
func TokensBy(spent []checkpoint.Spent, key func(checkpoint.Spent) string) []Row {
	sums := map[string]checkpoint.Tokens{}
	for _, s := range spent {
		name := cmp.Or(key(s), "other")
		sums[name] = sums[name].Plus(s.Tokens)
	}
	names := slices.SortedFunc(maps.Keys(sums), func(a, b string) int {
		return cmp.Or(cmp.Compare(sums[b].New(), sums[a].New()), cmp.Compare(a, b))
	})
	return Each(names, func(name string) Row { return Row{Label: name, Text: TokensText(sums[name])} })
}
