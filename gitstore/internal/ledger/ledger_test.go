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

var content = strings.Repeat("0a", 32)

func parse(t *testing.T, lines ...string) *Ledger {
	t.Helper()
	text := ""
	if len(lines) > 0 {
		text = strings.Join(lines, "\n") + "\n"
	}
	l, err := Parse([]byte(text))
	require.NoError(t, err)
	return l
}

var fullText = `last archived CP-d-x-0000dddd 1 6
last color x-1 blue 7
last color x-1 name=a%20b 7
last pin CP-b-20260101T000000Z-0000bbbb 0 8
last pin imported/id 1 7
last position CP-d-x-0000dddd Ann%20%3D 9
last reason CP-d-x-0000dddd completed 6
last reviewed imported/id ann=1 7
last reviewed imported/id bob=0 7
set deleted CP-a-20260101T000000Z-0000aaaa * none
set deleted a%25b ` + content + ` imported/id x-1
set link x-1
set pruned CP-c-x-0000cccc 5
set purged imported/id a%20file=1
set purged-field imported/id note
`

func TestCodec(t *testing.T) {
	t.Parallel()
	l, err := Parse([]byte(fullText))
	require.NoError(t, err)
	assert.Equal(t, fullText, string(l.Encode()))
	assert.Nil(t, New().Encode())
	assert.True(t, parse(t).IsEmpty())

	same := New()
	same.Delete(one, "none")
	same.Prune("CP-c-x-0000cccc", 5, "")
	same.SetPosition("CP-d-x-0000dddd", "Ann =", 8, time.Unix(0, 0))
	for _, line := range strings.Split(string(same.Encode()), "\n") {
		assert.Contains(t, strings.Split(fullText, "\n"), line)
	}
	assert.Equal(t, Position{"CP-d-x-0000dddd", 9, "Ann ="}, l.Position(math.MaxInt64))
	assert.Zero(t, l.Position(8))
	assert.Equal(t, Archival{"completed", time.Unix(0, 6).UTC()}, l.Archival("CP-d-x-0000dddd"))
	assert.True(t, l.Deletes("a%b", content))
	assert.False(t, l.Deletes("a%b", strings.Repeat("0b", 32)))
	assert.True(t, l.Deletes(one, "anything"))
}

func TestParseNamesTheLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"cut short":      {"set deleted x-1 *", "line 1: "},
		"empty line":     {"\n", "line 1: "},
		"new form":       {"set deleted x-1 *\nxet deleted x-2 *\n", "line 2: "},
		"no id":          {"set deleted\n", "line 1: "},
		"no content":     {"set deleted x-1\n", "line 1: "},
		"short content":  {"set deleted x-1 0a\n", "line 1: "},
		"shouted":        {"set deleted x-1 " + strings.Repeat("0A", 32) + "\n", "line 1: "},
		"two spaces":     {"set deleted  x-1 *\n", "line 1: "},
		"ends in space":  {"set deleted x-1 * \n", "line 1: "},
		"return":         {"set deleted x-1 *\r\n", "line 1: "},
		"nine ids":       {"set deleted x-1 *" + strings.Repeat(" x-2", 9) + "\n", "line 1: "},
		"flag in after":  {"set deleted x-1 * -x\n", "line 1: "},
		"not sorted":     {"set deleted x-1 *\nlast pin x-1 1 2\n", "line 2: "},
		"twice":          {"set deleted x-1 *\nset deleted x-1 *\n", "line 2: "},
		"two pins":       {"last pin x-1 0 1\nlast pin x-1 1 2\n", "line 2: "},
		"two of a kind":  {"last color x-1 blue 1\nlast color x-1 red 2\n", "line 2: "},
		"no clock":       {"last archived x-1 1\n", "line 1: "},
		"pin state":      {"last pin x-1 on 1\n", "line 1: "},
		"named pin":      {"last pin x-1 a=1 1\n", "line 1: "},
		"reviewed":       {"last reviewed x-1 1 1\n", "line 1: "},
		"reviewed =":     {"last reviewed x-1 =1 1\n", "line 1: "},
		"minus":          {"last pin x-1 1 -1\n", "line 1: "},
		"zeros":          {"set pruned x-1 01\n", "line 1: "},
		"plus":           {"set pruned x-1 +1\n", "line 1: "},
		"too large":      {"set pruned x-1 9223372036854775808\n", "line 1: "},
		"purged what":    {"set purged x-1\n", "line 1: "},
		"control":        {"set deleted x\x01 *\n", "line 1: "},
		"control in key": {"set link x\x7f\n", "line 1: "},
		"lower hex":      {"set link x%0a\n", "line 1: "},
		"no escape":      {"set link x%41\n", "line 1: "},
		"cut escape":     {"set link x%0\n", "line 1: "},
		"escaped =":      {"set deleted x%3D *\n", "line 1: "},
		"a long line":    {"set deleted " + strings.Repeat("x", 1<<17) + " *\n", "line 1: "},
		"not text":       {"set link \xff\n", "line 1: "},
		"flag for an id": {"set deleted -x *\n", "line 1: "},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.text))
			require.ErrorContains(t, err, c.want)
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(fullText))
	f.Add([]byte("last pin x-1 1 1\n"))
	f.Add([]byte("last x y =1 1\nset a b c\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Parse(data)
		if err != nil {
			return
		}
		assert.Equal(t, string(data), string(l.Encode()))
	})
}

// The newest pin wins, so a new pin needs a later clock than the pin before, even if that
// clock is far in the future.
func TestSetPinIsAlwaysNewer(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	for _, before := range []checkpoint.Clock{0, 5, checkpoint.Clock(now.UnixNano()), checkpoint.Clock(now.Add(1000 * time.Hour).UnixNano())} {
		l := parse(t, "last pin x-1 1 "+before.String())
		l.SetPin("x-1", false, now)
		assert.False(t, l.Pinned("x-1"))
		former := parse(t, "last pin x-1 1 "+before.String())
		former.Add(l)
		assert.True(t, former.Equal(l))
	}
	l := parse(t, "last pin x-1 1 9223372036854775807")
	l.SetPin("x-1", false, now)
	_, err := Parse(l.Encode())
	require.NoError(t, err)
}

func TestExpire(t *testing.T) {
	t.Parallel()
	l := New()
	newest := checkpoint.Clock(100 * 24 * time.Hour)
	l.Prune(one, newest-checkpoint.Clock(PrunedFor), "")
	l.Prune(two, newest-checkpoint.Clock(PrunedFor)-1, "")
	l.Delete("old-1", "")
	assert.Equal(t, newest-checkpoint.Clock(PrunedFor), l.NewestPruned())
	l.Expire(newest)
	assert.True(t, l.IsPruned(one))
	assert.False(t, l.IsPruned(two))
	assert.True(t, l.HasDeleted("old-1"))
}
