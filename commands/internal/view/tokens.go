package view

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

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
	return filled(Row{Label: "Tokens", Text: TokensText(checkpoint.SumOf(r.AgentTurn().Spent))})
}

// TokensBy returns the tokens by the names of a key, most new tokens first. Unknown names are "other".
func TokensBy(spent []checkpoint.Spent, key func(checkpoint.Spent) string) (rows []Row) {
	sums := map[string]checkpoint.Tokens{}
	for _, s := range spent {
		name := cmp.Or(key(s), "other")
		sums[name] = sums[name].Plus(s.Tokens)
	}
	names := slices.SortedFunc(maps.Keys(sums), func(a, b string) int {
		return cmp.Or(cmp.Compare(sums[b].New(), sums[a].New()), cmp.Compare(a, b))
	})
	for _, name := range names {
		rows = append(rows, Row{Label: name, Text: TokensText(sums[name])})
	}
	return rows
}

// tokenUse returns the JSON record of tokens.
func tokenUse(s checkpoint.Spent) TokenUse {
	return TokenUse{Agent: s.Agent, Model: s.Model, Phase: s.Phase, Tokens: Tokens(s.Tokens)}
}
