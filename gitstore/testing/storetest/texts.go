package storetest

import (
	"strings"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
)

// texts are difficult for YAML, git or files.
var texts = []struct{ is, text string }{
	{"empty", ""},
	{"a newline before it", "\nhello\n"},
	{"newlines after it", "hello\n\n\n"},
	{"newlines alone", "\n\n"},
	{"a tab before its lines", "\tone\n\ttwo\n"},
	{"blanks around it", "  hello  "},
	{"blanks at the ends of lines", "one  \ntwo \n  "},
	{"lines of a DOS file", "one\r\ntwo\r\n"},
	{"a carriage return alone", "one\rtwo"},
	{"words that YAML knows", "null"},
	{"a number", "0x1f"},
	{"a date", "2026-02-14"},
	{"marks of YAML", "- a: &x {[*x]} # !!str | >\n---\n...\n%"},
	{"quotes and backslashes", `"it's" \n \" \\`},
	{"trailers of a commit", "Checkpoint-Id: CP-x-20260101T000000Z-00000000\n\n---\nCheckpoint-Trigger: forged\n"},
	{"colours of a terminal", "\x1b[31mred\x1b[0m\a"},
	{"separators of lines", "a\u2028b\u2029c\u0085d"},
	{"marks of byte order and direction", "\ufeffa\u202eb\u200d\u2066c"},
	{"many scripts", "Grüße, 世界, שלום, 👩‍👩‍👧, e\u0301"},
	{"the ends of Unicode", "\u00a0\ufffd\ufffe\U0010ffff"},
	{"a line of a mebibyte", strings.Repeat("0123456789abcde ", 1<<16)},
	{"a mebibyte of lines", strings.Repeat("0123456789abcde\n", 1<<16)},
}

// textPromises check that each text is read back byte for byte: as a value, in a list, as
// a key, and as phase and note, which lists contain. Large texts are tested only as
// values.
func textPromises() []Promise {
	var list []Promise
	for _, x := range texts {
		list = append(list, Promise{Name: "text/" + x.is, hold: func(t *trial) {
			if len(x.text) > 1<<10 {
				t.manual(set("value", x.text))
			} else {
				t.manual(everywhere(x.text))
			}
			t.manual(set("more", "to come"))
			r := t.record(t.find("latest~1"))
			assert.True(t, x.text == r.Doc().Text("value"), "the value")
			if len(x.text) <= 1<<10 {
				t.isEverywhere(r, x.text)
			}
		}})
	}
	return list
}

func everywhere(text string) edit {
	return func(r *checkpoint.Record) {
		r.Doc().Set("value", text)
		r.Doc().Set("list", []any{text, "after"})
		r.Doc().MustSub("keys").Set(text, "under it")
		r.SetPhase(text)
		r.SetNote(text)
	}
}

func (t *trial) isEverywhere(r *checkpoint.Record, text string) {
	t.Helper()
	list, _ := r.Doc().Get("list")
	assert.Equal(t, []any{text, "after"}, list)
	assert.Equal(t, []string{text}, r.Doc().Sub("keys").Keys())
	assert.Equal(t, text, r.Note())
	assert.Equal(t, text, r.Phase())
	c := t.find("latest~1")
	assert.Equal(t, text, c.Phase, "the phase in a list")
	assert.Equal(t, strings.Trim(text, "\n"), c.Note, "the note in a list")
}
