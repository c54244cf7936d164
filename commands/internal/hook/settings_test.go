package hook

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Install followed by uninstall restores each of these settings files byte for byte.
var settingsTexts = map[string]string{
	"no file":           "",
	"empty object":      "{}",
	"spaced":            "{ \n }\n",
	"one line":          `{"model": "opus"}`,
	"two spaces":        "{\n  \"model\": \"opus\",\n  \"z\": [1, 2]\n}\n",
	"tabs":              "{\n\t\"model\": \"opus\"\n}",
	"windows":           "{\r\n    \"model\": \"opus\"\r\n}\r\n",
	"empty hooks":       "{\n  \"hooks\": {}\n}\n",
	"empty event":       "{\n  \"hooks\": {\n    \"SessionStart\": []\n  }\n}\n",
	"other hooks":       "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": []}\n    ]\n  },\n  \"model\": \"opus\"\n}\n",
	"same event":        "{\"hooks\":{\"SessionEnd\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"say bye\"}]}]}}\n",
	"comments":          "// mine\n{\n  /* the model */\n  \"model\": \"opus\" // keep\n  // last\n}\n",
	"comment and comma": "{\n  \"model\": \"opus\", // keep\n  // last\n}\n",
	"comment at end":    "{\n  \"model\": \"opus\"\n}\n// mine",
	"block at end":      "{\"model\": \"opus\"} /* mine */",
	"trailing commas":   "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\"hooks\": [],},\n    ],\n  },\n}\n",
	"byte order mark":   "\ufeff{\n  \"a\": 1\n}",
	"escapes":           "{\n  \"a\\\"}\": \"{[\\\\\\\"\",\n  \"n\": -1.5e3\n}\n",
	"hooks in a string": "{\n  \"note\": \"hooks\", \"x\": {\"hooks\": 1}\n}\n",
	"one newline":       "\n",
	"white space":       " \r\n\t",
	"line between":      "{\n  \"a\": 1,\n\n  \"b\": 2\n\n}\n",
}

func TestUninstallIsTheInverseOfInstall(t *testing.T) {
	t.Parallel()
	require.NotEmpty(t, settingsTexts)
	for _, name := range Agents() {
		a := AgentNamed(name)
		if a.Plugin != "" {
			continue
		}
		for what, text := range settingsTexts {
			in, err := a.Install(text, text != "")
			require.NoError(t, err, what)
			assert.Len(t, a.Installed(in), len(a.Events), what)
			if !strings.ContainsAny(text, "/\ufeff") && !strings.Contains(text, ",\n  }") && !strings.Contains(text, ",}") {
				assert.True(t, json.Valid([]byte(in)), "%s: %s", what, in)
			}
			again, err := a.Install(in, true)
			require.NoError(t, err)
			assert.Equal(t, in, again, "%s: installing twice", what)
			for _, copies := range [][]string{{in, text}, {text}} { // a killed uninstall leaves a copy of the installed text
				out, gone := a.Uninstall(in, copies...)
				assert.Equal(t, text, out, "%s:\n%s", what, in)
				assert.Equal(t, text == "", gone, what)
			}
			out, _ := a.Uninstall(in) // without a copy, empty containers go too
			assert.NotContains(t, out, calls, what)
			out, gone := a.Uninstall(text)
			assert.Equal(t, text, out, "%s: not installed", what)
			assert.False(t, gone, what)
		}
	}
}

// Uninstall removes only text of install from a file that was edited since.
func TestUninstallKeepsUserEdits(t *testing.T) {
	t.Parallel()
	a := AgentNamed("claude")
	in, err := a.Install("{\n  \"model\": \"opus\"\n}\n", true)
	require.NoError(t, err)
	edited := strings.Replace(in, "\"timeout\": 10\n", "\"timeout\": 99\n", 1)
	edited = strings.Replace(edited, "opus", "haiku", 1)
	require.NotEqual(t, in, edited)
	out, _ := a.Uninstall(edited)
	assert.NotContains(t, out, calls)
	assert.Contains(t, out, "haiku")
	assert.True(t, json.Valid([]byte(out)), out)

	own := a.command(a.Events[0])
	joined := `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"mine"},{"type":"command","command":"` + own + `"}]}]}}`
	out, _ = a.Uninstall(joined)
	assert.Equal(t, `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"mine"}]}]}}`, out)
	before := `{"hooks":{"SessionStart":[{"hooks":[{"command":"` + own + `"}]}, {"hooks":[]}]}}`
	out, _ = a.Uninstall(before)
	assert.Equal(t, `{"hooks":{"SessionStart":[{"hooks":[]}]}}`, out)
}

func TestInstallRefusesInvalidSettings(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"[]", "{", "{\"a\" 1}", "nonsense", "{\"hooks\": []}", "{\"hooks\": {\"SessionStart\": {}}}", "{} {}"} {
		_, err := AgentNamed("claude").Install(text, true)
		require.ErrorContains(t, err, "line 1, column ", text)
		out, gone := AgentNamed("claude").Uninstall(text)
		assert.Equal(t, text, out, text)
		assert.False(t, gone, text)
	}
}

// A file of a clone with deep nesting is an error, and takes no memory for each level.
func TestInstallRefusesDeepNesting(t *testing.T) {
	_, err := AgentNamed("claude").Install(strings.Repeat("[", 10<<20), true)
	require.ErrorIs(t, err, errJSON)
}

func FuzzSettings(f *testing.F) {
	for _, text := range settingsTexts {
		f.Add(text)
	}
	a := AgentNamed("gemini")
	f.Fuzz(func(t *testing.T, text string) {
		in, err := a.Install(text, text != "")
		if err != nil || strings.Contains(text, calls) {
			t.Skip()
		}
		if _, err := parseJSON(in); err != nil {
			t.Fatalf("%q became %q: %v", text, in, err)
		}
		if out, _ := a.Uninstall(in, text); out != text {
			t.Fatalf("%q became %q, with %q between", text, out, in)
		}
	})
}

// Comments that a user writes beside installed commands stay, and the rest stays valid.
func TestUninstallKeepsComments(t *testing.T) {
	t.Parallel()
	a := AgentNamed("claude")
	in, err := a.Install("{\"model\": \"opus\"}", true)
	require.NoError(t, err)
	for _, edit := range [][2]string{
		{`"Stop": [`, `"Stop": [/* mine */ `},
		{`"Stop": [`, "// mine\n\"Stop\": ["},
		{`"SessionEnd": [`, "// mine\n\"SessionEnd\": ["},
		{`, "Stop"`, `/* mine */, "Stop"`},
		{`, "Stop"`, "// mine\n, \"Stop\""},
		{`}]}]}}`, "}]}]}} // mine"},
		{`}]}]}}`, "}]}] // mine\n}}"},
	} {
		require.Contains(t, in, edit[0])
		rest, gone := a.Uninstall(strings.Replace(in, edit[0], edit[1], 1), "{\"model\": \"opus\"}")
		assert.False(t, gone)
		assert.NotContains(t, rest, calls)
		assert.Contains(t, rest, "mine", edit[1])
		_, err := parseJSON(rest)
		assert.NoError(t, err, rest)
	}
}
