package restore

import (
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"

	"github.com/stretchr/testify/assert"
)

// Each word is a turn: its session, and the paths that changed. The session "-" is none.
func TestChangedByOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		turns string
		to    string // number of the turn to go back to
		want  map[string]string
	}{
		"two at once":                    {"A: B:q A:p B:q", "2", map[string]string{"p": "A"}},
		"back to the first":              {"A: B:q A:p B:q", "1", map[string]string{"q": "B"}},
		"one after the other":            {"A:p A:q B:p B:q", "1", map[string]string{}},
		"captured by the other's turn":   {"B:q A:p B:pq", "1", map[string]string{"p": "A"}},
		"of the other's turn":            {"B:q A:p B:pq", "2", map[string]string{"q": "B"}},
		"both changed it":                {"B:q A:q B:q", "1", map[string]string{}},
		"a third one afterwards":         {"B:q A:p B:q C:pq", "3", map[string]string{}},
		"saved by hand in between":       {"A:p B:q -:r A:p B:q", "1", map[string]string{"q": "B"}},
		"back to a save without session": {"A:p -:r B:q A:p", "2", nil},
		"an unknown turn":                {"A:p B:q A:p", "9", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var turns []turn
			for i, word := range strings.Fields(c.turns) {
				session, paths, _ := strings.Cut(word, ":")
				turns = append(turns, turn{Checkpoint: chain.Checkpoint{ID: checkpoint.ID(rune('1' + i))}, session: strings.Trim(session, "-")})
				if paths != "" {
					turns[i].changed = strings.Split(paths, "")
				}
			}
			assert.Equal(t, c.want, changedByOthers(turns, checkpoint.ID(c.to)))
		})
	}
}
