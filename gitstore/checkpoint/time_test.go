package checkpoint

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// All time formats of real files, including epoch seconds.
func TestParseTime(t *testing.T) {
	tests := []struct {
		name  string
		in    any
		want  string
		zoned bool
	}{
		{"Z without fraction", "2026-02-14T14:30:00Z", "2026-02-14T14:30:00.000000Z", true},
		{"three digits", "2026-02-14T14:30:00.123Z", "2026-02-14T14:30:00.123000Z", true},
		{"five digits", "2026-02-14T14:30:00.12345Z", "2026-02-14T14:30:00.123450Z", true},
		{"six digits", "2026-02-14T14:30:00.123456Z", "2026-02-14T14:30:00.123456Z", true},
		{"seven digits", "2026-02-14T14:30:00.1234567Z", "2026-02-14T14:30:00.123456Z", true},
		{"offset", "2026-02-14T14:30:00+05:30", "2026-02-14T09:00:00.000000Z", true},
		{"five digits, offset", "2026-02-14T14:30:00.12345+11:00", "2026-02-14T03:30:00.123450Z", true},
		{"six digits, offset", "2026-02-14T14:30:00.123456-08:00", "2026-02-14T22:30:00.123456Z", true},
		{"seven digits, offset", "2026-02-14T14:30:00.1234567+09:00", "2026-02-14T05:30:00.123456Z", true},
		{"six digits, no zone", "2026-02-14T14:30:00.123456", "2026-02-14T14:30:00.123456Z", false},
		{"no zone", "2026-02-14T14:30:00", "2026-02-14T14:30:00.000000Z", false},
		{"date alone", "2026-02-14", "2026-02-14T00:00:00.000000Z", false},
		{"epoch seconds", Number("1781610488"), "2026-06-16T11:48:08.000000Z", true},
		{"epoch float", Number("1781610488.517656"), "2026-06-16T11:48:08.517656Z", true},
		{"in a text", "2026-04-12 02:13 UTC | reviewed", "2026-04-12T02:13:00.000000Z", true},
		{"day first", "14-02-2026 14:30", "2026-02-14T14:30:00.000000Z", false},
		{"epoch milliseconds", Number("1781610488517"), "2026-06-16T11:48:08.517000Z", true},
		{"epoch nanoseconds", Number("1781610488517656001"), "2026-06-16T11:48:08.517656Z", true},
		{"epoch as text", "1781610488.517656", "2026-06-16T11:48:08.517656Z", true},
		{"epoch as int", 1781610488, "2026-06-16T11:48:08.000000Z", true},
		{"epoch with exponent", Number("1.781610488e9"), "2026-06-16T11:48:08.000000Z", true},
		{"claude's id", "20260214_143000", "2026-02-14T14:30:00.000000Z", false},
		{"our id", "20260214T143000Z", "2026-02-14T14:30:00.000000Z", true},
		{"compact day", "20260214", "2026-02-14T00:00:00.000000Z", false},
		{"compact", "20260214143000", "2026-02-14T14:30:00.000000Z", false},
		{"git's", "2026-02-14 14:30:00 +0100", "2026-02-14T13:30:00.000000Z", true},
		{"minutes", "2026-02-14T14:30Z", "2026-02-14T14:30:00.000000Z", true},
		{"leap second", "2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000000Z", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := ReadTime(tt.in)
			require.NoError(t, err)
			assert.Equal(t, tt.want, FormatTime(m.Time))
			assert.Equal(t, tt.zoned, m.Zoned)
		})
	}
}

func TestParseTimeRefuses(t *testing.T) {
	for _, in := range []any{
		nil, true, "", "ISO-8601", "yesterday", "2026-02-30", "2026-13-01", "2026-02-14T24:00:00Z",
		"2026-02-14T14:30:00+99:00", "2026-02-14T14:30:00Z junk", "2026-2-14", Number("42"), Number("-1"),
		Number("1e300"), "99:99", "2026-02-14T14:30:00.Z",
		[]any{},
		"9999-12-31T23:59:59-05:00", "0000-01-01",
		"2026-02-14T", "31-02-2026 10:00",
	} {
		_, err := ParseTime(in)
		assert.Error(t, err, "%v", in)
	}
}

func FuzzTime(f *testing.F) {
	for _, s := range []string{"2026-02-14T14:30:00.123+05:30", "14-02-2026 14:30", "1781610488.5", "14:35", "20260214_143000", "2026-04-12 02:13 UTC | x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, v := range []any{s, Number(s)} {
			got, err := ParseTime(v)
			if err != nil {
				continue
			}
			text := FormatTime(got)
			require.Len(t, text, len(TimeLayout))
			again, err := ParseTime(text)
			require.NoError(t, err)
			require.True(t, again.Equal(got.Truncate(time.Microsecond)), "%q: %s and %s", s, got, again)
		}
	})
}
