package view

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNoLineIsACommandOfARunner(t *testing.T) {
	for in, want := range map[string]string{
		"a\n::error::b\n":               "a\n: :error::b\n",
		" \t\u00a0::error::b":           " \t\u00a0: :error::b",
		"x\r::error::b":                 "x\r: :error::b",
		"::":                            ": :",
		"a::b ::c:: [::1]":              "a::b ::c:: [::1]",
		"x ##[group]y":                  "x ## [group]y",
		"x ##vso[task.setvariable a]b":  "x ##vso [task.setvariable a]b",
		"##VSO[task.setvariable a]b":    "##VSO [task.setvariable a]b",
		"##teamcity[message text='a']":  "##teamcity [message text='a']",
		"section_start:1:a\r\x1b[0Kb":   "section_start :1:a\r\x1b[0Kb",
		"## heading [a](b)\n- [x] c: d": "## heading [a](b)\n- [x] c: d",
	} {
		whole, bytewise := &bytes.Buffer{}, &bytes.Buffer{}
		job := func(name string) string { return map[string]string{"CI": "true"}[name] }
		n, err := ForRunner(whole, job).Write([]byte(in))
		assert.NoError(t, err)
		assert.Equal(t, len(in), n)
		assert.Equal(t, want, whole.String())
		w := ForRunner(bytewise, job)
		for i := range len(in) {
			_, _ = w.Write([]byte{in[i]})
		}
		assert.Equal(t, want, bytewise.String(), "written byte by byte")
	}
	none := &bytes.Buffer{}
	assert.Same(t, none, ForRunner(none, func(string) string { return "" }), "no job")
}

func TestWordsAndRecordsKeepValuesOnARunner(t *testing.T) {
	const text = "it's\n::a::b ##vso[c]"
	var log bytes.Buffer
	w := ForRunner(&log, func(string) string { return "1" })
	assert.Equal(t, `'it'\''s`+"\n:'':a::b ##vso''[c]'", Shell(text))
	_, _ = w.Write([]byte("A=" + Shell(text) + "\n"))
	assert.Equal(t, "A="+Shell(text)+"\n", log.String())
	log.Reset()
	assert.NoError(t, Write(w, NewError(1, "failure", text, "")))
	assert.Contains(t, log.String(), `"it's\n::a::b ##vso\u005bc]"`)
}
