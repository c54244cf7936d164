package issue

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/gitstore/checkpoint"
)

const asFilebase = `id: 42
title: "Refresh: tokens"
body: |
  Tokens expire.

  ## Definition of Done (DOD)

  - [ ] refreshed
    - **Verification:** wait
state: open
labels:
  - type:feature
  - state:backlog
created_at: "2024-01-14T10:00:00Z"
closed_at: null
comments:
  - id: 1
    body: "Me too"
`

const asGh = `{"assignees":[{"id":"U_1","login":"ada","name":"Ada L."},{"id":"U_2","login":"bob","name":""}],
"body":"Tokens expire.\r\n\r\nRefresh them \ud83d\ude00\/now.\r\n",
"labels":[{"id":"LA_1","name":"type:feature","description":"","color":"0075ca"}],
"state":"OPEN","title":"Refresh tokens"}`

func TestParseFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		want     Issue
	}{
		{"ci-filebase", asFilebase, Issue{
			Title:  "Refresh: tokens",
			Body:   "Tokens expire.\n\n## Definition of Done (DOD)\n\n- [ ] refreshed\n  - **Verification:** wait\n",
			Labels: []string{"type:feature", "state:backlog"}, State: "open", Absent: []string{"assignees"},
		}},
		{"gh", asGh, Issue{
			Title: "Refresh tokens", Body: "Tokens expire.\r\n\r\nRefresh them \U0001F600/now.\r\n",
			Labels: []string{"type:feature"}, Assignees: []string{"ada", "bob"}, State: "open",
		}},
		{"nulls are empty", "title: null\nbody:\nlabels: ~\nassignees:\nstate:\n", Issue{}},
		{"empty lists", "labels: []\nassignees: []\ntitle: t\nbody: b\nstate: Closed\n", Issue{
			Title: "t", Body: "b", Labels: []string{}, Assignees: []string{}, State: "closed",
		}},
		{"nothing known", "id: 7\n", Issue{Absent: []string{"title", "body", "labels", "assignees", "state"}}},
		{"numbers and words are text", "title: 042\nbody: true\nlabels: [1.50, null text, yes]\nassignees: [7]\nstate: opened\n", Issue{
			Title: "042", Body: "true", Labels: []string{"1.50", "null text", "yes"}, Assignees: []string{"7"}, State: "open",
		}},
		{"flow style", "{title: t, body: b, labels: [a, {name: b}], assignees: [{name: c}], state: open}", Issue{
			Title: "t", Body: "b", Labels: []string{"a", "b"}, Assignees: []string{"c"}, State: "open",
		}},
		{"aliases", "title: &t x\nbody: *t\nlabels: &l [a, b]\nassignees: *l\nstate: open\n", Issue{
			Title: "x", Body: "x", Labels: []string{"a", "b"}, Assignees: []string{"a", "b"}, State: "open",
		}},
		{"labels with commas, order kept", "labels: ['b, c', a, a]\ntitle: t\nbody: b\nassignees: []\nstate: open", Issue{
			Title: "t", Body: "b", Labels: []string{"b, c", "a", "a"}, Assignees: []string{}, State: "open",
		}},
		{"byte order mark, CRLF", "\ufefftitle: t\r\nbody: b\r\nlabels: []\r\nassignees: []\r\nstate: open\r\n", Issue{
			Title: "t", Body: "b", Labels: []string{}, Assignees: []string{}, State: "open",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseFile([]byte(c.in))
			require.NoError(t, err)
			assert.Equal(t, &c.want, got)
		})
	}
}

func TestParseFileRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in, want string
	}{
		{"title is a list", "id: 1\ntitle: [x]\n", "line 2, column 8: title: want text"},
		{"body is a mapping", "body:\n  a: b\n", "line 2, column 3: body: want text"},
		{"labels are text", "title: t\nlabels: a, b\n", "line 2, column 9: labels: want a list"},
		{"a label is a list", "labels:\n  - a\n  - [b]\n", "line 3, column 5: labels[1]: want text or a mapping with name"},
		{"a label without a name", "labels:\n  - color: red\n", "line 2, column 5: labels[0]: want text or a mapping with name"},
		{"a label that is null", "labels: [a, ~]\n", "line 1, column 13: labels[1]: want text or a mapping with name"},
		{"an empty label", "labels: ['']\n", "line 1, column 10: labels[0]: want text or a mapping with name"},
		{"an assignee is a list", "assignees: [[]]\n", "line 1, column 13: assignees[0]: want text or a mapping with login or name"},
		{"unknown state", "state: merged\n", "line 1, column 8: state: want open or closed"},
		{"state is a list", "state: []\n", "line 1, column 8: state: want text"},
		{"the first error", "labels: 1\ntitle: []\n", "line 2, column 8: title: want text"},
		{"in JSON", "{\n  \"\u00e9\": [1, {}],\n  \"labels\": [\"a\",\n    7, {\"color\": \"x\"}]\n}", "line 4, column 8: labels[2]: want text or a mapping with name"},
		{"in JSON, title", `{"a": "\ud83d\ude00", "title": {}}`, "line 1, column 32: title: want text"},
		{"in an aliased list", "x: &l [a, [b]]\nlabels: *l\n", "line 1, column 11: labels[1]: want text or a mapping with name"},
		{"a list", "- a\n", "want a mapping"},
		{"text", "hello\n", "want a mapping"},
		{"empty", "", "empty"},
		{"a comment", "# nothing\n", "empty"},
		{"two documents", "title: a\n---\ntitle: b\n", "second document"},
		{"key twice", "title: a\nbody: b\ntitle: c\n", "line 3, column 1"},
		{"key twice in JSON", `{"title":"a","title":"b"}`, "duplicate"},
		{"text after JSON", `{"title":"a"} x`, "line 1, column 15"},
		{"bad YAML", "title: a\nbody: [b\nlabels: c\n", "line 3"},
		{"not UTF-8", "title: \xff\n", "line 1, column 8"},
		{"NUL", "title: a\x00\n", "NUL"},
		{"a bomb", "a: &a [x,x,x,x,x,x,x,x,x]\n" + bomb() + "labels: *h\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseFile([]byte(c.in))
			require.Nil(t, got)
			var syntax *checkpoint.SyntaxError
			require.ErrorAs(t, err, &syntax)
			assert.Contains(t, err.Error(), c.want)
			assert.Positive(t, syntax.Line)
			assert.Positive(t, syntax.Column)
		})
	}
}

// bomb returns eight lists with nine aliases each of the previous list.
func bomb() string {
	var b strings.Builder
	for c := 'b'; c <= 'i'; c++ {
		b.WriteString(string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 8) + "*" + string(c-1) + "]\n")
	}
	return b.String()
}

func FuzzParseFile(f *testing.F) {
	for _, s := range []string{
		asFilebase, asGh, "", "{}", "labels: [a, {name: b}]", "title: [", "a: &a [*a]\nlabels: *a",
		"labels: {name: x}", `{"labels":[{"name":1}]}`, "? title\n: x", "state: OPENED", "title: !!binary aGk=",
		"labels: [[]] #\n", "{\"title\": []}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := parseFile(data)
		if err != nil {
			require.Nil(t, got)
			var syntax *checkpoint.SyntaxError
			require.True(t, errors.As(err, &syntax), "%v", err)
			require.Positive(t, syntax.Line)
			require.Positive(t, syntax.Column)
			return
		}
		require.Contains(t, []string{"", "open", "closed"}, got.State)
		require.NotContains(t, append(got.Labels, got.Assignees...), "")
	})
}
