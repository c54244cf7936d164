package issue

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/gitstore/checkpoint"
)

var (
	github = Names{Number: "number", Body: "body", Login: "login"}
	gitlab = Names{Number: "iid", Body: "description", Login: "username"}
)

func TestParseAnswer(t *testing.T) {
	t.Parallel()
	got, err := ParseAnswer([]byte(`{"id":1,"number":42,"title":"t","body":null,"labels":[{"id":2,"name":"a"},"b"],
		"assignees":[{"login":"ada"}],"state":"open","user":{"login":"bob"}}`), github)
	require.NoError(t, err)
	assert.Equal(t, Answer{&Issue{Title: "t", Labels: []string{"a", "b"}, Assignees: []string{"ada"}, State: "open"}, 42}, got)

	got, err = ParseAnswer([]byte(`{"id":76,"iid":6,"project_id":1,"state":"opened","description":"d","title":"t","labels":["x,y"],
		"assignees":[{"username":"ada","name":"Ada"}],"assignee":{"username":"ada"}}`), gitlab)
	require.NoError(t, err)
	assert.Equal(t, Answer{&Issue{Title: "t", Body: "d", Labels: []string{"x,y"}, Assignees: []string{"ada"}, State: "open"}, 6}, got)

	got, err = ParseAnswer([]byte(`{"number":1,"title":"t"}`), github)
	require.NoError(t, err)
	assert.Equal(t, []string{"body", "labels", "assignees", "state"}, got.Absent, "by the names of the file")
}

func TestParseAnswerRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"html", " <html>", errHTML.Error()},
		{"nothing", "", ErrNotJSON.Error()},
		{"cut off", `{"title":"hunter2`, ErrNotJSON.Error()},
		{"YAML", "title: t\nnumber: 1\n", ErrNotJSON.Error()},
		{"a list", "[]", ErrNotJSON.Error()},
		{"a text", `"hunter2"`, ErrNotJSON.Error()},
		{"a key twice", `{"hunter2":1,"hunter2":2,"title":"t","number":1}`, ErrNotJSON.Error()},
		{"no number", `{"title":"t"}`, errNoIssue.Error()},
		{"a number that is text", `{"title":"t","number":"1"}`, errNoIssue.Error()},
		{"a number that is none", `{"title":"t","number":1.5}`, errNoIssue.Error()},
		{"no title", `{"number":1}`, errNoIssue.Error()},
		{"wrong type", `{"number":1,"title":"t","labels":{"hunter2":1}}`, "line 1, column 34: labels: want a list"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseAnswer([]byte(c.in), github)
			require.EqualError(t, err, c.want)
		})
	}
}

// FuzzParseAnswer checks that responses are parsed or rejected, and that parsed issues
// can be recorded.
func FuzzParseAnswer(f *testing.F) {
	for _, s := range []string{
		asGh, `{"number":1,"title":"t"}`, `{"number":1,"title":"\u0000\ud800","labels":["\n",{"name":"b"}]}`, `<a>`, `[`, `{"number":1e3,"title":1}`,
		`{"number":1,"title":"\t- a: |","body":"\n\tx\r","state":"CLOSED","assignees":[{"login":"*a"}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := ParseAnswer(data, github)
		if err != nil {
			require.Nil(t, got.Issue)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		r := checkpoint.New()
		want := checkpoint.IssueSnapshot{
			Title: got.Title, Body: got.Body, Labels: got.Labels, Assignees: got.Assignees, State: got.State, Known: true,
		}
		r.SetIssueSnapshot(want)
		text, err := r.Encode()
		require.NoError(t, err)
		back, err := checkpoint.Decode(text)
		require.NoError(t, err, "%s", text)
		have := back.IssueSnapshot()
		require.Equal(t, want.Title, have.Title)
		require.Equal(t, want.Body, have.Body)
		require.ElementsMatch(t, want.Labels, have.Labels)
	})
}
