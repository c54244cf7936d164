package commands

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// guideBlocks returns the verbatim blocks of a guide, without their indentation.
func guideBlocks(name string) ([]string, error) {
	data, err := os.ReadFile(filepath.Join("internal", "manual", "guides", name+".md"))
	if err != nil {
		return nil, err
	}
	var blocks []string
	open := false
	for line := range strings.Lines(string(data)) {
		code, verbatim := strings.CutPrefix(line, "    ")
		switch {
		case verbatim && open:
			blocks[len(blocks)-1] += code
		case verbatim:
			blocks = append(blocks, code)
		case strings.TrimSpace(line) == "" && open:
			blocks[len(blocks)-1] += "\n"
			continue
		}
		open = verbatim
	}
	return blocks, nil
}

// guideBlock returns the verbatim block of a guide that contains a text.
func guideBlock(name, text string) (string, error) {
	blocks, err := guideBlocks(name)
	if err != nil {
		return "", err
	}
	for _, block := range blocks {
		if strings.Contains(block, text) {
			return block, nil
		}
	}
	return "", fmt.Errorf("guide %s has no block with %q", name, text)
}

// cmdGuide writes the verbatim block of a guide that contains a text to a file: `guide
// a.sh crash 'git checkpoint status'`.
func cmdGuide(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: guide file name text")
	}
	block, err := guideBlock(args[1], args[2])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(block), 0o666))
}

// cmdShows checks the output that a block of a guide shows in its comments: `shows a.sh tty`. Each
// comment has to be a line of the file, in this order. Ids, durations and spaces may differ.
func cmdShows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: shows file output")
	}
	shown := 0
	output := ts.ReadFile(args[1])
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		text, isComment := strings.CutPrefix(line, "# ")
		if !isComment {
			continue
		}
		words := strings.Fields(text)
		for n, word := range words {
			words[n] = duration.ReplaceAllString(shortID.ReplaceAllString(regexp.QuoteMeta(word), "[0-9a-f]{8}"), `\S+`)
		}
		at := regexp.MustCompile(`(?m)^\s*` + strings.Join(words, `\s+`) + `\s*$`).FindStringIndex(output)
		if at == nil {
			ts.Fatalf("%s: the output does not have %q after the lines before it", args[0], text)
		}
		output, shown = output[at[1]:], shown+1
	}
	if shown == 0 {
		ts.Fatalf("%s shows no output", args[0])
	}
}

var (
	shortID  = regexp.MustCompile(`\b[0-9a-f]{8}\b`)
	duration = regexp.MustCompile(`^[0-9]+s$`)
)

// taskGuides are the guides with one task of a user. Scripts run all of their commands.
var taskGuides = []string{
	"crash", "machine", "agents", "turns", "attempts", "workflow", "ci", "team", "retention", "forges", "migration", "systems", "install",
}

// Each command block of a task guide is run by a script: the script writes the block to a
// file with `guide FILE NAME TEXT` and executes the file. The CI jobs are run by `recipe`
// and the action of this repository by the script ci-action.
func TestGuideCommandsAreRun(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob(filepath.Join("..", "testdata", "script", "*.txtar"))
	require.NoError(t, err)
	use := regexp.MustCompile(`(?m)^(?:\[.*?] )*guide (\S+) (\S+) (?:'([^']+)'|(\S+))$`)
	run := map[string]bool{} // guide and block
	for _, script := range scripts {
		data, err := os.ReadFile(script)
		require.NoError(t, err)
		for _, m := range use.FindAllStringSubmatch(string(data), -1) {
			block, err := guideBlock(m[2], m[3]+m[4])
			require.NoError(t, err, script)
			assert.Regexp(t, `(?m)^(exec|rc [0-9]+|!) .*\b`+regexp.QuoteMeta(m[1])+`\b`, string(data), "%s does not execute %s", script, m[1])
			run[m[2]+block] = true
		}
	}
	for _, name := range taskGuides {
		blocks, err := guideBlocks(name)
		require.NoError(t, err)
		require.NotEmpty(t, blocks, name)
		for _, block := range blocks {
			if name == "ci" && (strings.Contains(block, "runs-on:") || strings.Contains(block, "CI_PIPELINE_ID") || strings.Contains(block, "OWNER")) {
				continue
			}
			assert.True(t, run[name+block], "%s: no script runs\n%s", name, block)
		}
	}
}

// cmdExamples runs every help example in a copy of directory world: `examples world
// codes`. Each line of file codes contains a non-zero exit code and the prefix of
// examples that return this code.
func cmdExamples(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: examples world codes")
	}
	world, codes := ts.MkAbs(args[0]), ts.ReadFile(args[1])
	var lines []string
	for _, c := range allCommands() {
		lines = append(lines, c.Examples...)
	}
	problems := make([]string, len(lines))
	var wait sync.WaitGroup
	limit := make(chan bool, 4)
	for i, line := range lines {
		wait.Go(func() {
			limit <- true
			problems[i] = runExample(ts, world, fmt.Sprintf("%s-%d", world, i), line, codeOfExample(codes, line))
			<-limit
		})
	}
	wait.Wait()
	if all := strings.Join(problems, ""); all != "" {
		ts.Fatalf("%s", all)
	}
}

// codeOfExample returns the code of the longest prefix that matches a line.
func codeOfExample(codes, line string) string {
	found, code := "", "0"
	for row := range strings.Lines(codes) {
		c, begin, _ := strings.Cut(strings.TrimSpace(row), " ")
		if strings.HasPrefix(line, begin) && len(begin) > len(found) {
			found, code = begin, c
		}
	}
	return code
}

// runExample runs a line in a world copy's repository. It returns an error message if the
// exit code differs, or "".
func runExample(ts *testscript.TestScript, world, dir, line, want string) string {
	defer os.RemoveAll(dir)
	if out, err := exec.Command("cp", "-R", world, dir).CombinedOutput(); err != nil {
		return fmt.Sprintf("%s: %s: %s\n", line, err, out)
	}
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = dir + "/repo"
	cmd.Env = append(environ(ts), "PWD="+cmd.Dir)
	run := cmd.CombinedOutput
	if strings.HasPrefix(line, "git checkpoint web") && !strings.Contains(line, "--export") {
		run = func() ([]byte, error) { return interrupted(cmd, line) }
	}
	out, err := run()
	if got := exitCode(err); got != want {
		return fmt.Sprintf("%s\nends with %s, not %s:\n%s\n", line, got, want, out)
	}
	return ""
}

// interrupted runs a line that does not end by itself, and interrupts it after its first
// line of output.
func interrupted(cmd *exec.Cmd, line string) ([]byte, error) {
	cmd.Args[2] = "exec " + strings.Replace(line, "git checkpoint", "git-checkpoint", 1) // so that the signal reaches only this process
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	text, _ := bufio.NewReader(out).ReadString('\n')
	_ = cmd.Process.Signal(os.Interrupt)
	return []byte(text), cmd.Wait()
}

// Each test and script that TESTING.md names exists. A name that ends in * is a beginning.
func TestPromisesHaveTests(t *testing.T) {
	t.Parallel()
	var tests strings.Builder
	require.NoError(t, filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		tests.Write(data)
		return err
	}))
	text, err := os.ReadFile("../testdata/TESTING.md")
	require.NoError(t, err)
	for _, name := range regexp.MustCompile("`(Test\\w+)(\\*?)`").FindAllStringSubmatch(string(text), -1) {
		want := "\nfunc " + name[1]
		if name[2] == "" {
			want += "("
		}
		assert.True(t, strings.Contains(tests.String(), want), name[0])
	}
	table, _, _ := strings.Cut(string(text), "\n## Variables")
	for _, list := range regexp.MustCompile("scripts? (`[^|]*)").FindAllStringSubmatch(table, -1) {
		for _, name := range regexp.MustCompile("`([a-z][a-z0-9-]*\\*?)`").FindAllStringSubmatch(list[1], -1) {
			found, err := filepath.Glob("../testdata/script/" + name[1] + ".txtar")
			assert.NoError(t, err)
			assert.NotEmpty(t, found, name[1])
		}
	}
}
