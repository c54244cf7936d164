package complete

import (
	"os/exec"
	"strings"
	"testing"

	"git-checkpoint/commands/internal/manual"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func tool() *manual.Tool {
	return &manual.Tool{
		Common: []manual.FlagDoc{
			{Names: []string{"q", "quiet"}, Text: "less"}, {Names: []string{"C"}, Value: "DIR"}, {Names: []string{"issue"}, Value: "ISSUE"},
		},
		Commands: []manual.CommandDoc{
			{Name: "save", Args: "[ISSUE]", Flags: []manual.FlagDoc{
				{Names: []string{"as"}, Value: "LAYOUT", Text: "by rules"},
				{Names: []string{"set"}, Value: "PATH=VALUE", Repeated: true},
				{Names: []string{"push"}, Value: "REMOTE", Optional: true},
				{Names: []string{"conflict"}, Value: "ID"},
				{Names: []string{"state"}, Value: "FILE"},
				{Names: []string{"m", "message"}, Value: "NOTE"},
			}},
			{Name: "list", Alias: "log", Args: "[ISSUE]", Flags: []manual.FlagDoc{{Names: []string{"format"}, Value: "yaml|json"}}},
			{Name: "restore", Args: "[ISSUE] [ID] [-- PATH...]"},
			{Name: "drop", Args: "[ISSUE] ID | [ISSUE] --all"},
			{Name: "run", Args: "[ISSUE] -- CMD..."},
			{Name: "phase", Args: "start|done [PHASE]"},
			{Name: "task", Args: "start|done [TASK...]"},
			{Name: "diff", Args: "[ISSUE] [A] [B] [-- PATH...]"},
			{Name: "show", Flags: []manual.FlagDoc{{Names: []string{"get"}, Value: "PATH"}}},
			{Name: "add", Args: "PATH..."},
			{Name: "version"},
		},
	}
}

func TestAtCompletesEachPosition(t *testing.T) {
	for _, c := range []struct {
		line string // words separated by spaces; the last is at the cursor
		want Next
	}{
		{"", Next{Kinds: []Kind{Command}}},
		{"sa", Next{Kinds: []Kind{Command}, Typed: "sa"}},
		{"-C dir -C sub sa", Next{Kinds: []Kind{Command}, Typed: "sa", Line: CommandLine{Dirs: []string{"dir", "sub"}}}},
		{"-C ", Next{Dirs: true}},
		{"save ", Next{Kinds: []Kind{Issue}}},
		{"save 42 ", Next{Line: CommandLine{Args: []string{"42"}}}},
		{"save --as ", Next{Kinds: []Kind{Layout}}},
		{"save --as=cr", Next{Kinds: []Kind{Layout}, Prefix: "--as=", Typed: "cr"}},
		{"save --as crunch 4", Next{Kinds: []Kind{Issue}, Typed: "4"}},
		{"save --push 4", Next{Kinds: []Kind{Issue}, Typed: "4"}},
		{"save --push=o", Next{Kinds: []Kind{Remote}, Prefix: "--push=", Typed: "o"}},
		{"save --conflict ", Next{}},
		{"show --get ", Next{}},
		{"task start T", Next{Kinds: []Kind{Task}, Typed: "T", Line: CommandLine{Args: []string{"start"}}}},
		{"task done T-1 ", Next{Kinds: []Kind{Task}, Line: CommandLine{Args: []string{"done", "T-1"}}}},
		{"diff ", Next{Kinds: []Kind{Issue, ID}}},
		{"diff 42 CP", Next{Kinds: []Kind{ID}, Typed: "CP", Line: CommandLine{Args: []string{"42"}}}},
		{"save --state x", Next{Files: true, Typed: "x"}},
		{"save --set ", Next{}},
		{"save -m ", Next{}},
		{"save -m --as 4", Next{Kinds: []Kind{Issue}, Typed: "4"}},
		{"save --frob=", Next{}},
		{"log --format ", Next{Words: []Word{{Text: "yaml"}, {Text: "json"}}}},
		{"restore ", Next{Kinds: []Kind{Issue, ID}}},
		{"restore --issue 7 x l", Next{Kinds: []Kind{ID}, Typed: "l", Line: CommandLine{Issue: "7", Args: []string{"x"}}}},
		{"restore 42 -- a b", Next{Files: true, Typed: "b", Line: CommandLine{Args: []string{"42"}}}},
		{"drop ", Next{Kinds: []Kind{Issue, ID}}},
		{"run -- ma", Next{Files: true, Typed: "ma"}},
		{"run ", Next{Kinds: []Kind{Issue}}},
		{"save -- 4", Next{Kinds: []Kind{Issue}, Typed: "4"}},
		{"save -- 42 ", Next{}},
		{"phase ", Next{Words: []Word{{Text: "start"}, {Text: "done"}}}},
		{"phase start im", Next{Kinds: []Kind{Phase}, Typed: "im", Line: CommandLine{Args: []string{"start"}}}},
		{"add a b c", Next{Files: true, Typed: "c", Line: CommandLine{Args: []string{"a", "b"}}}},
		{"version ", Next{}},
		{"frob ", Next{}},
		{"version -", Next{Words: []Word{{"--quiet", "less"}, {"-q", "less"}, {"-C", ""}, {"--issue", ""}}, Typed: "-"}},
		{"save -q --as=crunch --set a=b --message x --push --", Next{Words: []Word{
			{"--set", ""}, {"--conflict", ""}, {"--state", ""}, {"-C", ""}, {"--issue", ""},
		}, Typed: "--"}},
	} {
		assert.Equal(t, c.want, At(tool(), strings.Split(c.line, " ")), c.line)
	}
	assert.Equal(t, Next{Kinds: []Kind{Command}}, At(tool(), nil))
}

func TestLinesReplacesControlCharacters(t *testing.T) {
	next := Next{Typed: "a", Prefix: "--x=", Words: []Word{{"ab", "one\ntwo\x1b[31m"}, {"b", ""}}}
	found := []Word{{Text: "ab"}, {Text: "a\nb"}, {Text: "a\tb"}, {Text: "a\x1b"}, {Text: "a\u202eb"}, {Text: "a\xff"}, {"a$(x)", "y"}, {Text: ""}}
	assert.Equal(t, "words\n--x=ab\tone?two?[31m\n--x=a$(x)\ty\n", next.Lines(found))
	assert.Equal(t, "files\n", (&Next{Files: true}).Lines(nil))
	assert.Equal(t, "dirs\n", (&Next{Dirs: true}).Lines(nil))
}

// Each script is valid syntax in its shell.
func TestScriptsAreValidShellSyntax(t *testing.T) {
	for _, shell := range Shells() {
		script := Script(shell)
		require.NotEmpty(t, script, shell)
		if _, err := exec.LookPath(shell); err != nil {
			continue // commands.TestPrograms requires the shell in CI
		}
		cmd := exec.Command(shell, "-n")
		cmd.Stdin = strings.NewReader(script)
		out, err := cmd.CombinedOutput()
		assert.NoError(t, err, "%s: %s", shell, out)
	}
	assert.Empty(t, Script("tcsh"))
}

func FuzzAt(f *testing.F) {
	f.Add("save", "--as", "x")
	f.Add("restore", "--", "-")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		next := At(tool(), []string{a, b, c})
		lines := next.Lines([]Word{{Text: a, About: b}, {Text: c}})
		for line := range strings.Lines(lines) {
			assert.True(t, strings.HasSuffix(line, "\n") && !strings.Contains(line, "\x1b"), line)
		}
	})
}
