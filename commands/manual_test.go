package commands

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/manual"
	"git-checkpoint/gitstore/failure"
)

// Scripts are skipped if required programs are missing. CI installs all programs.
func TestPrograms(t *testing.T) {
	t.Parallel()
	if os.Getenv("CI") != "true" || runtime.GOOS != "linux" {
		t.Skip("not CI")
	}
	for _, name := range []string{"man", "groff", "mandoc", "bash", "zsh", "fish"} {
		_, err := exec.LookPath(name)
		assert.NoError(t, err)
	}
	assert.FileExists(t, bashCompletion)
}

const bashCompletion = "/usr/share/bash-completion/bash_completion"

func manualPages() []manual.Page {
	tool := declared(allCommands())
	tool.Version, tool.Date = "1.2.3", "2026-02-14"
	return manual.Pages(tool)
}

// groff and mandoc report no problem in the pages, also not at 60 columns.
func TestManualLint(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var files []string
	for _, p := range manualPages() {
		name := filepath.Join(dir, filepath.Base(p.File()))
		require.NoError(t, os.WriteFile(name, p.Roff(), 0o666))
		files = append(files, name)
	}
	require.Greater(t, len(files), 25)
	for name, lint := range map[string][]string{
		"groff":  {"groff", "-man", "-Tutf8", "-wall", "-z"},
		"narrow": {"groff", "-man", "-Tutf8", "-wall", "-z", "-rLL=60n"},
		"mandoc": {"mandoc", "-Tlint"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(lint[0]); err != nil {
				t.Skip(err)
			}
			out, err := exec.Command(lint[0], append(lint[1:], files...)...).CombinedOutput()
			require.NoError(t, err, string(out))
			assert.Empty(t, string(out))
		})
	}
}

// Every command has a page with all its flags, and every setting has an entry.
func TestManualDocumentsEveryFlagAndSetting(t *testing.T) {
	t.Parallel()
	pages := map[string]string{}
	for _, p := range manualPages() {
		pages[p.Name] = p.Text()
	}
	for _, cmd := range allCommands() {
		text := pages["git-checkpoint-"+cmd.Name]
		for _, f := range append(cmd.OwnFlags(), invoke.CommonFlags()...) {
			d := declaredFlag(f)
			assert.True(t, strings.Contains(text, "\n  "+d.Typed()+"\n"), "%s %s", cmd.Name, d.Typed())
		}
		for _, line := range cmd.Examples {
			assert.True(t, strings.Contains(text, "\n      "+line+"\n"), "%s: %s", cmd.Name, line)
		}
		assert.True(t, strings.Contains(pages["git-checkpoint"], "git-checkpoint-"+cmd.Name+"(1).\n"), cmd.Name)
	}
	for _, s := range declared(nil).Settings {
		assert.True(t, strings.Contains(pages["git-checkpoint-settings"], "\n  "+s.Name+"\n"), s.Name)
	}
}

// The main page documents every exit code.
func TestManualExitCodes(t *testing.T) {
	t.Parallel()
	text := manualPages()[0].Text()
	_, codes, _ := strings.Cut(text, "\nEXIT STATUS\n")
	codes, _, _ = strings.Cut(codes, "\nENVIRONMENT\n")
	for _, code := range failure.Codes() {
		assert.Contains(t, codes, "\n  "+strconv.Itoa(code)+"\n")
	}
}

// Every command in the guides exists, with its flags.
func TestManualCommands(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("internal", "manual", "guides", "*.md"))
	require.NoError(t, err)
	found := 0
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, words := range commandsIn(string(data)) {
			found++
			_, err := parseLine(allCommands(), words)
			assert.NoError(t, err, "%s: %v", name, words)
		}
	}
	assert.Greater(t, found, 40)
}

// commandsIn returns the words after "git checkpoint" in a text: in indented lines and
// between backquotes.
func commandsIn(text string) (commands [][]string) {
	var spans []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "    ") {
			spans = append(spans, line)
		}
	}
	for i, part := range strings.Split(strings.ReplaceAll(text, "\n", " "), "`") {
		if i%2 == 1 {
			spans = append(spans, part)
		}
	}
	for _, span := range spans {
		_, line, ok := strings.Cut(span, "git checkpoint ")
		if !ok {
			continue
		}
		line, _, _ = strings.Cut(line, " > ")
		line, _, _ = strings.Cut(line, " | ")
		line, _, _ = strings.Cut(line, ") && ")
		if line = strings.Trim(line, " \n)"); !strings.HasSuffix(line, " --set") {
			commands = append(commands, strings.Fields(line))
		}
	}
	return commands
}

// The --json guide documents every field of records with golden files.
func TestManualFields(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile(filepath.Join("internal", "manual", "guides", "json.md"))
	require.NoError(t, err)
	sections := map[string]string{}
	for _, part := range strings.Split(string(guide), "\n### ")[1:] {
		title, text, _ := strings.Cut(part, "\n")
		for _, kind := range strings.Split(title, ", ") {
			sections[kind] = text
		}
	}
	files, err := filepath.Glob(filepath.Join("internal", "view", "testdata", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		var record map[string]any
		require.NoError(t, json.Unmarshal(data, &record))
		kind := record["type"].(string)
		text, ok := sections[kind]
		require.True(t, ok, "%s has no section", kind)
		for _, field := range fieldsIn(record) {
			assert.True(t, strings.Contains(text, "`"+field+"`") || field == "version" || field == "type", "%s: %s", kind, field)
		}
	}
}

// fieldsIn returns the names of all nested fields, except inside values that are records
// in maps whose keys are phases, and in mappings of another system's document.
func fieldsIn(v any) []string {
	var names []string
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			names = append(names, name)
			if !slices.Contains([]string{"checkpoint", "value", "old", "new", "replans", "artifact_paths", "context_metadata"}, name) {
				names = append(names, fieldsIn(inner)...)
			}
		}
	case []any:
		for _, inner := range v {
			names = append(names, fieldsIn(inner)...)
		}
	}
	return names
}
