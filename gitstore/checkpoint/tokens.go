package checkpoint

import "slices"

// Tokens are numbers of tokens, never negative. Input has no token that was read from a cache or
// written to it.
type Tokens struct {
	Input      int64 `record:"input"`
	Output     int64 `record:"output"`
	CacheRead  int64 `record:"cache_read"`
	CacheWrite int64 `record:"cache_write"`
}

// mostTokens limits each number, so that JSON numbers of all programs are exact.
const mostTokens = 1_000_000_000_000_000

// each applies an operation to the numbers of two values, and bounds the results.
func (t Tokens) each(u Tokens, of func(a, b int64) int64) Tokens {
	n := func(a, b int64) int64 { return min(max(of(a, b), 0), mostTokens) }
	return Tokens{n(t.Input, u.Input), n(t.Output, u.Output), n(t.CacheRead, u.CacheRead), n(t.CacheWrite, u.CacheWrite)}
}

// Plus returns the sums.
func (t Tokens) Plus(u Tokens) Tokens { return t.each(u, func(a, b int64) int64 { return a + b }) }

// Minus returns the differences, 0 instead of a negative one.
func (t Tokens) Minus(u Tokens) Tokens { return t.each(u, func(a, b int64) int64 { return a - b }) }

// New returns the number of tokens without those that were read from a cache.
func (t Tokens) New() int64 { return t.Input + t.CacheWrite + t.Output }

// A Spent is the number of tokens that an agent spent with a model in a phase.
type Spent struct {
	Agent string `record:"agent" empty:"null"` // "" if unknown, as the others
	Model string `record:"model" empty:"null"`
	Phase string `record:"phase" empty:"null"`
	Tokens
}

// SumOf returns the tokens of all elements.
func SumOf(list []Spent) (sum Tokens) {
	for _, s := range list {
		sum = sum.Plus(s.Tokens)
	}
	return sum
}

// maxSpent limits a list of Spent. Later agents, models and phases are added to an element without
// names.
const maxSpent = 200

// AddSpent returns a list with the tokens of s added to the element with the same agent, model and
// phase.
func AddSpent(list []Spent, s Spent) []Spent {
	if s.Tokens == (Tokens{}) {
		return list
	}
	if len(list) >= maxSpent && findSpent(list, s) < 0 {
		s = Spent{Tokens: s.Tokens}
	}
	list = slices.Clone(list)
	if k := findSpent(list, s); k >= 0 {
		list[k].Tokens = list[k].Plus(s.Tokens)
		return list
	}
	return append(list, s)
}

// SpentOf returns the tokens of the element with the agent, model and phase of s.
func SpentOf(list []Spent, s Spent) Tokens {
	if k := findSpent(list, s); k >= 0 {
		return list[k].Tokens
	}
	return Tokens{}
}

func findSpent(list []Spent, s Spent) int {
	return slices.IndexFunc(list, func(o Spent) bool { return o.Agent == s.Agent && o.Model == s.Model && o.Phase == s.Phase })
}

// MergeSpent returns newer with the tokens that other has in addition to base.
func MergeSpent(base, other, newer []Spent) []Spent {
	for _, s := range other {
		s.Tokens = s.Minus(SpentOf(base, s))
		newer = AddSpent(newer, s)
	}
	return newer
}
