package checkpoint

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHostileTokensOfARecord(t *testing.T) {
	r, err := Decode([]byte("version: \"1.0\"\nagent_turn: {spent: [{input: -5, output: 999999999999999999}, {}, {input: 3}]}\n"))
	require.NoError(t, err)
	spent := r.AgentTurn().Spent
	assert.Len(t, spent, 3)
	assert.Equal(t, Tokens{Input: 3, Output: mostTokens}, SumOf(spent))
	assert.Equal(t, Tokens{Output: mostTokens}, SumOf(append(spent[:1:1], spent[0])))
	_, err = Decode([]byte("version: \"1.0\"\nagent_turn: {spent: [{input: many}]}\n"))
	assert.ErrorContains(t, err, "agent_turn.spent[0].input")
}

func TestAddSpent(t *testing.T) {
	one := Spent{"claude", "m", "build", Tokens{Input: 1}}
	list := AddSpent(nil, one)
	same := AddSpent(list, one)
	assert.Equal(t, []Spent{{"claude", "m", "build", Tokens{Input: 2}}}, same)
	assert.Equal(t, []Spent{one}, list, "not changed")
	assert.Equal(t, same, AddSpent(same, Spent{Agent: "pi"}))
	for k := range 3 * maxSpent {
		list = AddSpent(list, Spent{Phase: fmt.Sprint(k), Tokens: Tokens{Output: 1}})
	}
	assert.Len(t, list, maxSpent+1)
	assert.Equal(t, Tokens{Input: 1, Output: 3 * maxSpent}, SumOf(list))
}

// Own and finalHex agree with regular expressions.
func TestIDForms(t *testing.T) {
	own := regexp.MustCompile(`^CP-[a-z0-9_]+-.+-[0-9a-f]{4,64}$`)
	final := regexp.MustCompile(`[-_]([0-9a-f]{4,64})$`)
	parts := []string{"CP-", "cp-", "", "a", "x_9", "A", "-", "--", "\n", "é", "\xff", "20260214T143000Z", "-abcd", "_abcd", "-abc", "-ABCD", strings.Repeat("a", 64), "-" + strings.Repeat("f", 65)}
	matched := 0
	for i := 0; i < 20_000 || matched == 0 && i < 1_000_000; i++ { // few of the texts are ids
		var s string
		for range 1 + rand.IntN(6) {
			s += parts[rand.IntN(len(parts))]
		}
		id := ID(s)
		if id.Own() {
			matched++
		}
		require.Equalf(t, own.MatchString(s), id.Own(), "%q", s)
		var want string
		if m := final.FindStringSubmatch(s); m != nil {
			want = m[1]
		}
		require.Equalf(t, want, id.finalHex(), "%q", s)
	}
	require.NotZero(t, matched)
}
