package config

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseFileErrors(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"unknown", "retention:\n  batch_compleet: 3\n", "f:2:3: retention.batch_compleet: unknown setting; did you mean retention.batch_complete?"},
		{"unknown section", "retntion:\n  manual: -1\n", "f:1:1: retntion: unknown setting; did you mean retention?"},
		{"wrong level", "post_checkout: off\n", "f:1:1: post_checkout: unknown setting; did you mean hooks.post_checkout?"},
		{"nothing like it", "wibble: 1\n", "f:1:1: wibble: unknown setting"},
		{"dotted", "hooks.pre_push: off\n", "f:1:1: hooks.pre_push: write it as hooks: {pre_push: ...}"},
		{"deeper", "storage:\n  location:\n    x: 1\n", "f:3:5: storage.location: want a path, got a mapping"},
		{"escapes in a key", "\"a\\e[31m\": 1\n", `f:1:1: "a\x1b[31m": unknown setting`},
		{"long key", strings.Repeat("k", 100) + ": 1\n", "f:1:1: " + strings.Repeat("k", 60) + "...: unknown setting"},
		{"twice", "mirror: off\nmirror: off\n", "f:2:1: mirror: stands there twice"},
		{"section twice", "storage: {compress: false}\nstorage: {}\n", "f:2:1: storage: stands there twice"},
		{"bool word", "enabled: perhaps\n", "f:1:10: enabled: want true or false, got perhaps"},
		{"int float", "storage: {max_size_mb: 1.5}\n", "f:1:24: storage.max_size_mb: want a whole number from 1 to 1048576, got 1.5"},
		{"int hex", "storage: {max_size_mb: 0x10}\n", "f:1:24: storage.max_size_mb: want a whole number from 1 to 1048576, got 0x10"},
		{"int huge", "storage: {max_size_mb: 99999999999999999999}\n", "f:1:24: storage.max_size_mb: want a whole number from 1 to 1048576, got 99999999999999999999"},
		{"days pair in one", "max_age_days: 7,30\n", "f:1:15: max_age_days: want a number of days up to 36500 or off, got 7,30"},
		{"outcome text", "archive_days: a,b\n", "f:1:15: archive_days: want a number of days up to 36500 or off, got a"},
		{"outcome long", "archive_days: [1, 2, 3]\n", "f:1:15: archive_days: want days or off, for completed and for other chains, got a list"},
		{"enum", "mirror: crunchy\n", "f:1:9: mirror: want off, crunch, claude, recovery, dotagent or pipeline, got crunchy"},
		{"enum bool", "mirror: true\n", "f:1:9: mirror: want off, crunch, claude, recovery, dotagent or pipeline, got true"},
		{"list", "phases: plan\n", "f:1:9: phases: want a list, got text plan"},
		{"list item", "phases: [a, {b: c}]\n", "f:1:9: phases: line 1: want a name, got a mapping"},
		{"mapping", "labels_to_phase: [a]\n", "f:1:18: labels_to_phase: want a mapping, got a list"},
		{"mapping item", "labels_to_phase: {a: [b]}\n", "f:1:18: labels_to_phase: line 1: want a name, got a list"},
		{"pattern", "issue_pattern: '('\n", "f:1:16: issue_pattern: not a regular expression: error parsing regexp: missing closing ): `(`"},
		{"alias", "phases: &a [x]\nlabels_to_phase: *a\n", "f:2:18: labels_to_phase: want a mapping, got an alias, which is not allowed"},
		{"alias key", "&a mirror: off\n*a : off\n", "f:2:1: a key must be text, got an alias, which is not allowed"},
		{"alias root", "a: &a {}\ncheckpoint: *a\n", "f:1:1: a: only checkpoint may stand at the top, with the settings under it"},
		{"merge", "<<: {mirror: off}\n", "f:1:1: <<: unknown setting"},
		{"tag", "mirror: !!binary b2Zm\n", "f:1:9: mirror: want off, crunch, claude, recovery, dotagent or pipeline, got b2Zm"},
		{"two documents", "mirror: off\n---\nmirror: off\n", "f:2:1: a second document is not allowed"},
		{"list at the top", "- a\n", "f:1:1: want a mapping, got a list"},
		{"text at the top", "hello\n", "f:1:1: want a mapping, got text hello"},
		{"root twice", "checkpoint: {}\ncheckpoint: {}\n", "f:2:1: checkpoint: stands there twice"},
		{"root and more", "checkpoint: {}\nmirror: off\n", "f:2:1: mirror: only checkpoint may stand at the top, with the settings under it"},
		{"root list", "checkpoint: []\n", "f:1:13: checkpoint: want a mapping, got a list"},
		{"root in root", "checkpoint:\n  checkpoint: {}\n", "f:2:3: checkpoint: unknown setting"},
		{"syntax", "mirror: off\nretention: [\n", "f:2: did not find expected node content"},
		{"tabs", "storage:\n\tcompress: true\n", "f:2: found character that cannot start any token"},
		{"not UTF-8", "mirror: \xff\n", "f: invalid leading UTF-8 octet"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := parseFile("f", []byte(tt.in), true)
			if err == nil && len(f.unknown) > 0 {
				err = f.unknown[0]
			}
			var e *SettingError
			require.ErrorAs(t, err, &e)
			assert.Equal(t, "config: "+tt.want, err.Error())
		})
	}
}

func TestParseFileAcceptsBareAndRootedForms(t *testing.T) {
	const body = "storage:\n  max_size_mb: 9\n"
	tests := []struct {
		name, in string
		bare     bool
		want     int
	}{
		{"bare", body, true, 1},
		{"root", "checkpoint:\n  storage:\n    max_size_mb: 9\n", true, 1},
		{"root in the other file", "checkpoint:\n  storage:\n    max_size_mb: 9\n", false, 1},
		{"JSON", `{"checkpoint": {"storage": {"max_size_mb": 9}}}`, false, 1},
		{"CRLF", strings.ReplaceAll(body, "\n", "\r\n"), true, 1},
		{"byte order mark", "\ufeff" + body, true, 1},
		{"comments", "# x\n" + body + "# y\n", true, 1},
		{"nothing", "", true, 0},
		{"only comments", "# x\n", false, 0},
		{"null", "~\n", false, 0},
		{"empty root", "checkpoint:\n", false, 0},
		{"empty section", "storage:\nmirror:\n", true, 0},
		{"one document that ends", body + "...\n", true, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := parseFile("f", []byte(tt.in), tt.bare)
			require.NoError(t, err)
			assert.Empty(t, f.unknown)
			assert.Len(t, f.values, tt.want)
		})
	}
	_, err := parseFile("f", []byte(body), false)
	require.EqualError(t, err, "config: f:1:1: storage: only checkpoint may stand at the top, with the settings under it")
}

// The work for documents that are built to slow down the parser is linear: for a document of
// twice the size, it allocates at most about twice as much. Quadratic work without allocations
// would take very long for a file of the maximum size.
func TestParseFileIsLinear(t *testing.T) {
	for _, unit := range []string{"[", "{", "- ", "? ", "a: ", "#\n", "- #\n", "&a [", "*a ", "!", "'", "\"\\", "|\n", "k: &a v\n", "---\n", "{a: ", "a:\n - ", ","} {
		parse := func(size int) uint64 {
			data := bytes.Repeat([]byte(unit), size/len(unit))
			return gittest.AllocatedBy(t, func() { _, _ = parseFile("f", data, true) })
		}
		small, large := parse(maxFile/2), parse(maxFile)
		t.Logf("%q: %d, %d", unit, small, large)
		assert.Less(t, large, 3*small+1<<20, unit)
	}
	var directives strings.Builder
	for i := range maxFile / 16 {
		fmt.Fprintf(&directives, "%%TAG !e%d! t\n", i)
	}
	_, err := parseFile("f", []byte(directives.String()+"---\nphases: [a]\n"), true)
	require.EqualError(t, err, "config: f: more than 100 directives")
}

func FuzzParseFile(f *testing.F) {
	f.Add([]byte("checkpoint:\n  enabled: true\n  retention: {manual: -1}\n"))
	f.Add([]byte("phases: [a, b]\nlabels_to_phase: {x: y}\nissue_pattern: '(\\d+)'\n"))
	f.Add([]byte(`{"archive_days": [7, 30], "storage": {"location": "a/{issue}"}}`))
	f.Add([]byte("a: &a [*a]\n---\n<<: *a"))
	f.Fuzz(func(t *testing.T, data []byte) {
		read, err := parseFile("f", data, true)
		values := read.values
		if err != nil {
			var e *SettingError
			require.ErrorAs(t, err, &e)
			require.Empty(t, values)
			return
		}
		for i := range values {
			k, v := &table()[values[i].key], values[i].value
			again, err := parse(k, v.text)
			if k.Type == List || k.Type == Mapping {
				continue // names can contain commas of the one-line form
			}
			require.NoError(t, err, "the canonical form is accepted")
			require.Equal(t, v.text, again.text)
			if k.Trust == Inside && (&Settings{values: make([]value, len(table()))}).admit(&values[i]) == nil {
				requireInside(t, v.text)
			}
		}
	})
}
