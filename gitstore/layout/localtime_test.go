package layout_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/internal/codec"
)

// LooksLocal warns only if the UTC offset of the zone explains the difference.
func TestLooksLocal(t *testing.T) {
	east, west := time.FixedZone("", 5*3600+1800), time.FixedZone("", -7*3600)
	for name, c := range map[string]struct {
		written, changed string
		zone             *time.Location
		want             string // "" for no warning
	}{
		"east":              {"2026-02-14T14:30:00Z", "2026-02-14T09:00:01Z", east, "2026-02-14T14:30:00Z looks like local time: the file was changed at 2026-02-14T09:00:01Z, and clocks stood at +05:30 from UTC then"},
		"west":              {"2026-02-14T02:00:00Z", "2026-02-14T09:00:00Z", west, "2026-02-14T02:00:00Z looks like local time: the file was changed at 2026-02-14T09:00:00Z, and clocks stood at -07:00 from UTC then"},
		"as it says":        {"2026-02-14T09:00:00Z", "2026-02-14T09:00:01Z", east, ""},
		"of another zone":   {"2026-02-14T14:30:00Z", "2026-02-14T09:00:01Z", west, ""},
		"changed later":     {"2026-02-14T14:30:00Z", "2026-02-14T09:10:00Z", east, ""},
		"where UTC is used": {"2026-02-14T09:00:00Z", "2026-02-14T09:00:00Z", time.UTC, ""},
		"with its offset":   {"2026-02-14T14:30:00+05:30", "2026-02-14T09:00:00Z", east, ""},
	} {
		t.Run(name, func(t *testing.T) {
			doc := fmt.Sprintf(`{"storyId":"AB-1","stage":2,"agentId":"a","tasksCompleted":[],"tasksRemaining":["T1"],"lastAction":"none","timestamp":%q}`, c.written)
			f, err := layout.Read("", ".pipeline/checkpoint-AB-1.json", []byte(doc))
			require.NoError(t, err)
			require.Equal(t, c.written, f.Written())
			f.Problems = nil
			changed, err := time.Parse(time.RFC3339, c.changed)
			require.NoError(t, err)
			f.LooksLocal(changed, c.zone)
			if c.want == "" {
				assert.Empty(t, f.Problems)
				return
			}
			assert.Equal(t, []codec.Problem{{Rule: "zone", Msg: c.want, Warning: true}}, f.Problems)
		})
	}
}
