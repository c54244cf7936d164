package hook

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var tomlTexts = map[string]string{
	"empty":           "",
	"key":             "model = \"x\"\n",
	"no last newline": "model = \"x\"",
	"other hooks":     "[hooks]\n# mine\n[[hooks.Stop]]\n",
	"same event":      "[[hooks.SessionEnd]]\n[[hooks.SessionEnd.hooks]]\ntype = \"command\"\ncommand = 'say bye'\n",
	"trusted hooks":   "[hooks.state]\n\n[hooks.state.\"/x:session_start:0:0\"]\ntrusted_hash = \"sha256:1\"\n",
	"windows":         "a = 1\r\n[b]\r\nc = [\r\n  1, # one\r\n]\r\n",
	"byte order mark": "\ufeffa = 1\n",
	"strings":         "a = \"\"\"\n[[hooks.SessionStart]]\n# >>> not ours >>>\n\"\"\"\nb = '[[x]]'\n",
	"comment at end":  "[a]\nb = 1\n# the end",
}

func TestUninstallTOMLIsTheInverseOfInstall(t *testing.T) {
	t.Parallel()
	a := AgentNamed("codex")
	for name, text := range tomlTexts {
		in, err := a.InstallTOML(text)
		require.NoError(t, err, name)
		assert.Len(t, a.InstalledTOML(in), len(a.Events), name)
		again, err := a.InstallTOML(in)
		require.NoError(t, err, name)
		assert.Equal(t, in, again, name)
		out, err := a.UninstallTOML(in)
		require.NoError(t, err, name)
		assert.Equal(t, text, out, name)
		out, err = a.UninstallTOML(text)
		require.NoError(t, err, name)
		assert.Equal(t, text, out, "%s: not installed", name)
	}
}

func TestHasTOMLHooks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"a = 1\n[[ hooks.Stop ]]\n": true, "[hooks]\nStop = 1\n": true, "[[hooks.state.x]]\n": false,
		"# [hooks]\nhooks_dir = 1\n[hooksy]\n": false, tomlTexts["trusted hooks"]: false, tomlTexts["strings"]: false,
	} {
		has, err := HasTOMLHooks(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, has, text)
	}
}

// Tables of other programs between the marks are preserved.
func TestUninstallTOMLKeepsTablesBetweenTheMarks(t *testing.T) {
	t.Parallel()
	a := AgentNamed("codex")
	theirs := "\n[mcp_servers.demo]\ncommand = \"echo\"\nargs = [\"git-checkpoint hook session-end codex\"]\n"
	for _, text := range []string{"a = 1\n", "a = 1"} {
		in, err := a.InstallTOML(text)
		require.NoError(t, err)
		edited := strings.Replace(in, tomlClose, theirs+tomlClose, 1)
		require.NotEqual(t, in, edited)
		out, err := a.UninstallTOML(edited)
		require.NoError(t, err)
		assert.Equal(t, "a = 1\n"+theirs, out)

		without := strings.ReplaceAll(strings.Replace(edited, tomlClose+"\n", "", 1), tomlOpen+"\n", "")
		out, err = a.UninstallTOML(without)
		require.NoError(t, err, "without marks")
		assert.NotContains(t, out, "[[hooks")
		assert.Contains(t, out, "[mcp_servers.demo]")
	}
}

func TestUninstallTOMLKeepsOtherHooksOfAGroup(t *testing.T) {
	t.Parallel()
	a := AgentNamed("codex")
	in, err := a.InstallTOML("")
	require.NoError(t, err)
	theirs := "[[hooks.PreCompact.hooks]]\ntype = \"command\"\ncommand = \"git-checkpoint hook pre-compact codex && beep\"\n"
	out, err := a.UninstallTOML(strings.Replace(in, "[[hooks.SessionEnd]]\n", theirs+"[[hooks.SessionEnd]]\n", 1))
	require.NoError(t, err)
	assert.Equal(t, "[[hooks.PreCompact]]\n"+theirs, out)
}

func TestTOMLErrorsNameLineAndColumn(t *testing.T) {
	t.Parallel()
	a := AgentNamed("codex")
	for text, at := range map[string]string{"a = 1\nb = [\n": "line 2, column 6", "a = 1\n  b ~ 2\n": "line 2, column ", "hooks = { }\n": "line 1, column 1", "x = 1\n[a\n": "line 2, column "} {
		_, err := a.InstallTOML(text)
		require.ErrorContains(t, err, at, text)
	}
}

func FuzzTOML(f *testing.F) {
	for _, text := range tomlTexts {
		f.Add(text)
	}
	a := AgentNamed("codex")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "git-checkpoint") {
			t.Skip()
		}
		in, err := a.InstallTOML(text)
		if err != nil {
			t.Skip()
		}
		if out, err := a.UninstallTOML(in); err != nil || out != text {
			t.Fatalf("%q became %q, %v", text, out, err)
		}
	})
}
