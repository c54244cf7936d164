package checkpoint

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
