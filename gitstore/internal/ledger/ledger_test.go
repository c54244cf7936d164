package ledger

import (
	"math"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	one = checkpoint.ID("CP-a-20260101T000000Z-0000aaaa")
	two = checkpoint.ID("CP-b-20260101T000000Z-0000bbbb")
)

func full() *Ledger {
	l := New()
	l.Deleted[one] = true
	l.Archived[two] = Archival{}
	l.Archived["CP-d-x-0000dddd"] = Archival{"completed", 6}
	l.Pruned["CP-c-x-0000cccc"] = 5
	l.Pins["imported/id"] = Pin{On: true, Clock: 7}
	l.Pins[two] = Pin{Clock: 8}
	return l
}

const fullText = `archived CP-b-20260101T000000Z-0000bbbb
archived CP-d-x-0000dddd completed 6
deleted CP-a-20260101T000000Z-0000aaaa
pin CP-b-20260101T000000Z-0000bbbb off 8
pin imported/id on 7
pruned CP-c-x-0000cccc 5
`

func TestCodec(t *testing.T) {
	t.Parallel()
	assert.Equal(t, fullText, string(full().Encode()))
	l, err := Parse([]byte(fullText))
	require.NoError(t, err)
	assert.Equal(t, full(), l)
	assert.Nil(t, New().Encode())
	l, err = Parse(nil)
	require.NoError(t, err)
	assert.True(t, l.IsEmpty())
}

func TestParseNamesTheLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"cut short":      {"deleted " + string(one), "line 1: "},
		"empty line":     {"\n", "line 1: "},
		"new fact":       {"archived x-1\nbanished x-1\n", "line 2: "},
		"no id":          {"deleted\n", "line 1: "},
		"two spaces":     {"deleted  x-1\n", "line 1: "},
		"extra word":     {"deleted x-1 y\n", "line 1: "},
		"return":         {"deleted x-1\r\n", "line 1: "},
		"not sorted":     {"deleted x-1\narchived x-1\n", "line 2: "},
		"twice":          {"deleted x-1\ndeleted x-1\n", "line 2: "},
		"two pins":       {"pin x-1 off 1\npin x-1 on 2\n", "line 2: "},
		"two prunings":   {"pruned x-1 1\npruned x-1 2\n", "line 2: "},
		"two archivings": {"archived x-1\narchived x-1 failed 2\n", "line 2: "},
		"a shout":        {"archived x-1 Failed 2\n", "line 1: "},
		"no clock":       {"archived x-1 failed\n", "line 1: "},
		"reason":         {"archived x-1 " + strings.Repeat("a", 33) + " 2\n", "line 1: "},
		"nothing":        {"archived x-1  2\n", "line 1: "},
		"pin state":      {"pin x-1 maybe 1\n", "line 1: "},
		"minus":          {"pin x-1 on -1\n", "line 1: "},
		"zeros":          {"pruned x-1 01\n", "line 1: "},
		"plus":           {"pruned x-1 +1\n", "line 1: "},
		"too large":      {"pruned x-1 9223372036854775808\n", "line 1: "},
		"control":        {"deleted x\x01\n", "line 1: "},
		"a long line":    {"deleted " + strings.Repeat("x", 1<<17) + "\n", "line 1: "},
		"not text":       {"deleted \xff\n", "line 1: "},
		"flag for an id": {"deleted -x\n", "line 1: "},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.text))
			require.ErrorContains(t, err, c.want)
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(fullText))
	f.Add([]byte("pin x-1 on 1\n"))
	f.Add([]byte("deleted x-1\ndeleted x-1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Parse(data)
		if err != nil {
			return
		}
		assert.Equal(t, string(data), string(l.Encode()))
	})
}

// Precedence: deleted, archived, pin, pruned.
func TestDead(t *testing.T) {
	t.Parallel()
	l := New()
	l.Pruned[one] = 1
	assert.True(t, l.Dead(one))
	l.SetPin(one, true, time.Unix(1, 0))
	assert.False(t, l.Dead(one))
	l.Archived[one] = Archival{}
	assert.True(t, l.Dead(one))
	assert.False(t, l.Dead(two))
}

// The newest pin wins, so a new pin needs a later clock than the pin before, even if that
// clock is far in the future.
func TestSetPinIsAlwaysNewer(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	for _, before := range []checkpoint.Clock{0, 5, checkpoint.Clock(now.UnixNano()), checkpoint.Clock(now.Add(1000 * time.Hour).UnixNano())} {
		l := New()
		l.Pins[one] = Pin{On: true, Clock: before}
		l.SetPin(one, false, now)
		assert.Greater(t, l.Pins[one].Clock, before)
	}
	l := New()
	l.Pins[one] = Pin{On: true, Clock: math.MaxInt64}
	l.SetPin(one, false, now)
	_, err := Parse(l.Encode())
	require.NoError(t, err)
}

func TestExpire(t *testing.T) {
	t.Parallel()
	l := New()
	newest := checkpoint.Clock(100 * 24 * time.Hour)
	l.Pruned[one] = newest - checkpoint.Clock(PrunedFor)
	l.Pruned[two] = newest - checkpoint.Clock(PrunedFor) - 1
	l.Deleted["old-1"] = true
	l.Expire(newest)
	assert.Contains(t, l.Pruned, one)
	assert.NotContains(t, l.Pruned, two)
	assert.True(t, l.Deleted["old-1"])
}

func TestCloneSharesNothing(t *testing.T) {
	t.Parallel()
	l := full()
	c := l.Clone()
	c.Deleted["x-1"], c.Archived["x-1"], c.Pruned["x-1"], c.Pins["x-1"] = true, Archival{}, 1, Pin{}
	assert.Equal(t, full(), l)
	assert.NotPanics(t, func() { (&Ledger{}).Clone().Deleted["x-1"] = true })
}
