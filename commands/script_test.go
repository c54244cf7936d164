package commands

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestMain(m *testing.M) {
	if strings.Contains(filepath.Base(os.Args[0]), ".test") && len(os.Args) == 3 && os.Args[1] == "hook" && slices.Contains([]string{work.AgeHook, work.PushHook}, os.Args[2]) {
		os.Exit(0) // a command in the process of a test started it; scripts run a program git-checkpoint
	}
	testscript.Main(prepared{m}, programs)
}

// programs are the programs that the test binary has for scripts.
var programs = map[string]func(){
	"git-checkpoint": func() {
		gittest.SkipSync()
		os.Exit(Main(os.Args))
	},
}

// prepared are the tests of this package. A program that testscript starts from the test
// binary does not run them.
type prepared struct{ *testing.M }

func (p prepared) Run() int {
	return gittest.Run(p.M)
}

// TestScripts runs every script in testdata/script with the real binary and the real git:
// `exec git checkpoint ...`.
func TestScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, "*.txtar")
}

func runScripts(t *testing.T, glob string) {
	dir := filepath.Join("..", "testdata", "script")
	files, err := filepath.Glob(filepath.Join(dir, glob))
	require.NoError(t, err)
	require.NotEmpty(t, files, "no scripts found")
	deadline, _ := t.Deadline()
	testscript.Run(t, testscript.Params{
		Files:           files,
		Deadline:        deadline,
		UpdateScripts:   *update,
		ContinueOnError: true, // a failure reports every failed step
		Setup:           scriptEnv,
		Condition:       scriptCondition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"rc":       cmdRC,
			"repo":     cmdRepo,
			"id":       cmdID,
			"field":    cmdField,
			"fields":   cmdFields,
			"keys":     cmdKeys,
			"tamper":   cmdTamper,
			"examples": cmdExamples,
			"expect":   cmdExpect,
			"forge":    cmdForge,
			"unpacked": cmdUnpacked,
			"readme":   cmdReadme,
			"recipe":   cmdRecipe,
			"guide":    cmdGuide,
			"shows":    cmdShows,
		},
	})
}

// scriptCondition implements the conditions "hookfiles" (git has no hooks in its
// configuration, so hooks are files), "bashcompletion" (bash completion is installed),
// "unshare" (a process can get mounts of its own) and "sha1" (this build reads repositories
// with SHA-1 objects, and scripts create them).
func scriptCondition(name string) (bool, error) {
	if name == "sha1" {
		return gitstore.ObjectFormat == "sha1", nil
	}
	if name == "bashcompletion" {
		_, err := os.Stat(bashCompletion)
		return err == nil, nil
	}
	if name == "unshare" {
		return exec.Command("unshare", "--mount", "--map-root-user", "true").Run() == nil, nil
	}
	if name != "hookfiles" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	out, err := exec.Command("git", "version").Output()
	if err != nil {
		return false, err
	}
	version, err := gitstore.ParseGitVersion(string(out))
	return !version.AtLeast(2, 54), err
}

// otherFormat is the object format that this build does not read.
var otherFormat = map[string]string{"sha1": "sha256", "sha256": "sha1"}[gitstore.ObjectFormat]

// scriptEnv sets a separate home, a fixed identity and a fixed clock for a script.
// Variables of a surrounding git hook are not inherited.
func scriptEnv(e *testscript.Env) error {
	skipInShortMode(e)
	action, err := filepath.Abs(filepath.Join("..", ".ci", "action"))
	if err != nil {
		return err
	}
	e.Vars = append(e.Vars, "ACTION="+action,
		"HOME="+e.WorkDir, "XDG_CONFIG_HOME="+e.WorkDir+"/.config",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+e.WorkDir,
		"GIT_DEFAULT_HASH="+gitstore.ObjectFormat, "OTHER_FORMAT="+otherFormat,
		"GIT_AUTHOR_NAME=Ann Author", "GIT_AUTHOR_EMAIL=ann@example.com",
		"GIT_COMMITTER_NAME=Ann Author", "GIT_COMMITTER_EMAIL=ann@example.com",
		"GIT_AUTHOR_DATE=2026-02-14T14:00:00Z", "GIT_COMMITTER_DATE=2026-02-14T14:00:00Z",
		"GIT_CHECKPOINT_NOW=2026-02-14T14:30:00Z", "TZ=UTC", "LC_ALL=C", "TERM=dumb",
	)
	return nil
}

// scriptVariables are the variables that a command at a terminal inherits too.
var scriptVariables = []string{
	"PATH", "WORK", "HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES", "GIT_DEFAULT_HASH",
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_AUTHOR_DATE",
	"GIT_COMMITTER_DATE", "GIT_CHECKPOINT_NOW", "GIT_TERMINAL_PROMPT", "TZ", "LC_ALL", "TERM",
}

// cmdRC runs a command and compares its exit code: `rc 3 git checkpoint list`.
func cmdRC(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: rc code command [argument...]")
	}
	if got := exitCode(ts.Exec(args[1], args[2:]...)); got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

func exitCode(err error) string {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "0"
	case errors.As(err, &exit):
		return strconv.Itoa(exit.ExitCode())
	}
	return err.Error()
}

// cmdRepo creates a repository with one commit and changes to its directory. The
// repository is a copy of the first repository that a script with the same environment has
// made.
func cmdRepo(ts *testscript.TestScript, _ bool, args []string) {
	dir := "repo"
	if len(args) > 0 {
		dir = args[0]
	}
	path := ts.MkAbs(dir)
	_, err := os.Lstat(path)
	fresh := errors.Is(err, fs.ErrNotExist)
	if repository, ok := repositories.Load(repoKey(ts)); ok && fresh {
		ts.Check(os.MkdirAll(path, 0o777))
		ts.Check(gittest.WriteFiles(path, repository.([]gittest.File)))
		ts.Check(ts.Chdir(path))
		ts.Check(ts.Exec("git", "update-index", "-q", "--refresh"))
		return
	}
	ts.Check(ts.Exec("git", "init", "-q", "-b", "main", dir))
	ts.Check(ts.Chdir(path))
	ts.Check(os.WriteFile(ts.MkAbs("a.txt"), []byte("one\n"), 0o666))
	ts.Check(ts.Exec("git", "add", "."))
	// A copy must not have a lock of git maintenance, which newer versions start in the background.
	ts.Check(ts.Exec("git", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "commit", "-qm", "first"))
	if fresh {
		files, err := gittest.ReadFiles(path)
		ts.Check(err)
		repositories.Store(repoKey(ts), files)
	}
}

// repositories has the files of cmdRepo's repositories by the environment of their scripts.
var repositories sync.Map

// repoKey returns the variables of a script that change a new repository.
func repoKey(ts *testscript.TestScript) string {
	var key []string
	for _, name := range append(scriptVariables, "GIT_DEFAULT_REF_FORMAT", "GIT_TEMPLATE_DIR", "GIT_CONFIG_COUNT") {
		if name != "WORK" && name != "HOME" && name != "XDG_CONFIG_HOME" && name != "GIT_CEILING_DIRECTORIES" {
			key = append(key, name+"="+strings.ReplaceAll(ts.Getenv(name), ts.Getenv("WORK"), "$WORK"))
		}
	}
	return strings.Join(key, "\x00")
}

// cmdID stores the id that the last command printed in a variable: `id FIRST`.
func cmdID(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: id variable")
	}
	lines := strings.Fields(ts.ReadFile("stdout"))
	if len(lines) == 0 {
		ts.Fatalf("nothing was printed")
	}
	ts.Setenv(args[0], lines[len(lines)-1])
}

// cmdKeys writes a file from a text with Go's escapes: `keys in.txt '\x1b[31m\n'`.
func cmdKeys(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: keys file text")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(unescape(ts, args[1])), 0o666))
}

// cmdTamper replaces a text in the record of an issue's newest checkpoint, as if another
// program had saved it: `tamper 42 'status: failed' 'status: lost'`.
func cmdTamper(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: tamper issue old new")
	}
	git := func(stdin string, args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = ts.MkAbs("."), strings.NewReader(stdin)
		out, err := cmd.Output()
		ts.Check(err)
		return string(out)
	}
	hash := func(kind, text string) string {
		return strings.TrimSpace(git(text, "hash-object", "-t", kind, "-w", "--stdin"))
	}
	ref := "refs/checkpoints/" + args[0]
	record := git("", "cat-file", "blob", ref+":checkpoint.yaml")
	if !strings.Contains(record, args[1]) {
		ts.Fatalf("%q is not in the record:\n%s", args[1], record)
	}
	was := strings.TrimSpace(git("", "rev-parse", ref+":checkpoint.yaml"))
	now := hash("blob", strings.Replace(record, args[1], args[2], 1))
	tree := strings.TrimSpace(git(strings.Replace(git("", "ls-tree", ref), was, now, 1), "mktree"))
	root := strings.TrimSpace(git("", "rev-parse", ref+"^{tree}"))
	tip := hash("commit", strings.Replace(git("", "cat-file", "commit", ref), root, tree, 1))
	for _, ref := range []string{ref, "refs/git-checkpoint/own/" + args[0]} {
		git("", "update-ref", ref, tip)
	}
}

func unescape(ts *testscript.TestScript, s string) string {
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
	ts.Check(err)
	return text
}

// cmdField compares a value of the JSON object in a file: `field stderr code 3`. Strings
// are compared unquoted, other values as JSON.
func cmdField(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: [!] field file path want")
	}
	v := object(ts, args[0])
	for _, key := range strings.Split(args[1], ".") {
		v = inside(v, key)
	}
	got := ""
	if raw, ok := v.(json.RawMessage); !ok {
		ts.Fatalf("%s: there is no %s", args[0], args[1])
	} else if string(raw) == "null" || json.Unmarshal(raw, &got) != nil {
		got = string(raw)
	}
	if (got == args[2]) == neg {
		ts.Fatalf("%s: %s is %s", args[0], args[1], got)
	}
}

// cmdFields compares the ordered field names of an object: `fields stdout .
// version,type,issue`.
func cmdFields(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: fields file path name,name...")
	}
	v := object(ts, args[0])
	for _, key := range strings.Split(strings.Trim(args[1], "."), ".") {
		if key != "" {
			v = inside(v, key)
		}
	}
	raw, _ := v.(json.RawMessage)
	if got := strings.Join(names(raw), ","); got != args[2] {
		ts.Fatalf("%s: the fields of %s are %s", args[0], args[1], got)
	}
}

// object returns a file's JSON object and fails unless the file is a single line.
func object(ts *testscript.TestScript, file string) any {
	text := ts.ReadFile(file)
	if strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, `{"version":1,"type":"`) || !json.Valid([]byte(text)) {
		ts.Fatalf("%s: not one object on one line: %q", file, text)
	}
	return json.RawMessage(text)
}

// inside returns an object's field or a list's element, or nil.
func inside(v any, key string) any {
	raw, ok := v.(json.RawMessage)
	if !ok {
		return nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) == nil {
		if f, ok := fields[key]; ok {
			return f
		}
		return nil
	}
	var list []json.RawMessage
	n, err := strconv.Atoi(key)
	if err != nil || json.Unmarshal(raw, &list) != nil || n >= len(list) {
		return nil
	}
	return list[n]
}

// names returns the field names of an object, in their order.
func names(raw json.RawMessage) []string {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var names []string
	for d.More() {
		name, _ := d.Token()
		names = append(names, fmt.Sprint(name))
		var skip json.RawMessage
		if d.Decode(&skip) != nil {
			break
		}
	}
	return names
}

// environ returns the script's environment.
func environ(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range scriptVariables {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return env
}
