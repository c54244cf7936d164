package commands

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// matrixRows are the states of files in the matrix. The command creates the state in a
// repository with the files of matrixCommit.
var matrixRows = []struct {
	name    string
	paths   []string
	command string
}{
	{"new", []string{"new.txt"}, "echo work >new.txt"},
	{"new, empty and executable", []string{"tool.sh"}, "touch tool.sh; chmod +x tool.sh"},
	{"new, in a new directory", []string{"a b/c/new.txt"}, "mkdir -p 'a b/c'; echo work >'a b/c/new.txt'"},
	{"new and staged", []string{"added.txt"}, "echo work >added.txt; git add added.txt"},
	{"new, git add -N", []string{"intended.txt"}, "echo work >intended.txt; git add -N intended.txt"},
	{"modified", []string{"modified.txt"}, "echo work >>modified.txt"},
	{"staged", []string{"staged.txt"}, "echo work >>staged.txt; git add staged.txt"},
	{"staged, then modified", []string{"both.txt"}, "echo staged >>both.txt; git add both.txt; echo work >>both.txt"},
	{"staged, then as in HEAD", []string{"back.txt"}, "echo staged >>back.txt; git add back.txt; echo base >back.txt"},
	{"deleted", []string{"deleted.txt"}, "rm deleted.txt"},
	{"removed (git rm)", []string{"removed.txt"}, "git rm -q removed.txt"},
	{"removed from the index only", []string{"kept.txt"}, "git rm -q --cached kept.txt"},
	{"removed, then new", []string{"again.txt"}, "git rm -q again.txt; echo work >again.txt"},
	{"renamed (git mv)", []string{"old.txt", "moved.txt"}, "git mv old.txt moved.txt"},
	{"mode changed", []string{"mode.sh"}, "chmod +x mode.sh"},
	{"mode staged", []string{"exec.sh"}, "chmod +x exec.sh; git add exec.sh"},
	{"symlink changed", []string{"link"}, "ln -sfn work link"},
	{"file to symlink", []string{"turned"}, "ln -sfn work turned"},
	{"file to directory", []string{"dir.txt", "dir.txt/inner"}, "rm dir.txt; mkdir dir.txt; echo work >dir.txt/inner"},
}

// matrixCommit creates the tracked files of the matrix.
const matrixCommit = `for f in modified.txt staged.txt both.txt back.txt deleted.txt removed.txt kept.txt again.txt old.txt mode.sh exec.sh turned dir.txt; do
	echo base >$f
done
ln -s base link
git add -A`

// A matrixColumn is a command that saves, with the commands before the work begins.
type matrixColumn struct {
	name    string
	before  []string // command lines of git checkpoint
	save    string
	input   string // of the save, as a hook gets it
	ends    int    // exit code of the save
	pushes  bool   // git push also pushes the checkpoints
	restore string // shell command that brings the files back, "" for resume
	fetch   string // command that another clone uses, "" for fetch
	later   string // command that records progress after the save; "" for phaseDone, "-" for none
}

// phaseDone is the command that records progress after a save.
const phaseDone = "phase done design --issue 42 --force"

// sessionJSON is the input of an agent's hook.
const sessionJSON = `{"session_id":"0d5a0e0e-3d0c-4f86-8f6c-0d3f5a9b7c11","cwd":"/x","hook_event_name":"%s"}`

// matrixColumns are the commands and hooks that save. A run saves if its command fails. The
// hooks post-checkout, session-start and stop save nothing; pre-push pushes what was saved.
var matrixColumns = []matrixColumn{
	{name: "save", save: "save"},
	{name: "save -m", save: "save -m note"},
	{name: "save --as", save: "save --as pipeline --from .git/story.json --issue 42", later: "phase done stage_2 --issue 42 --force"},
	{name: "run, failing", save: "run -- false", ends: 1},
	{name: "start", save: "start 42 --phases design,build"},
	{name: "phase start", before: []string{"start 42 --phases design,build"}, save: "phase start design"},
	{name: "phase done", before: []string{"start 42 --phases design,build", "phase start design"}, save: "phase done design", later: "phase done build --issue 42 --force"},
	{name: "phase fail", before: []string{"start 42 --phases design,build", "phase start design"}, save: "phase fail design"},
	{name: "phase skip", before: []string{"start 42 --phases design,build"}, save: "phase skip design --reason none"},
	{name: "phase replan", before: []string{"start 42 --phases design,build", "phase start design"}, save: "phase replan design --reason again"},
	{name: "task add", before: []string{"start 42"}, save: "task add t1"},
	{name: "task start", before: []string{"start 42", "task add t1"}, save: "task start t1"},
	{name: "task done", before: []string{"start 42", "task add t1", "task start t1"}, save: "task done t1"},
	{name: "task fail", before: []string{"start 42", "task add t1", "task start t1"}, save: "task fail t1"},
	{name: "finish", before: []string{"start 42"}, save: "finish 42", later: "-", fetch: "sync 42 --archived --yes", restore: "git checkpoint restore 42 $(git checkpoint list 42 --archived | grep -o 'CP-[^ ]*' | head -1)"},
	{name: "import", save: "import .git/story.json --issue 42", later: "phase done stage_2 --issue 42 --force"},
	{name: "hook turn", before: []string{"start 42"}, save: "hook turn claude", input: fmt.Sprintf(sessionJSON, "Stop")},
	{name: "hook interrupt", before: []string{"start 42"}, save: "hook interrupt codex", input: fmt.Sprintf(sessionJSON, "Interrupt")},
	{name: "hook pre-compact", before: []string{"start 42"}, save: "hook pre-compact claude", input: fmt.Sprintf(sessionJSON, "PreCompact")},
	{name: "hook session-end", before: []string{"start 42"}, save: "hook session-end claude", input: fmt.Sprintf(sessionJSON, "SessionEnd")},
	{name: "hook event", before: []string{"start 42"}, save: "hook event CHECKPOINT"},
	{name: "hook pre-push", before: []string{"start 42"}, save: "save", pushes: true},
}

// matrixStory is a workflow in progress of another system.
const matrixStory = `{"storyId":"42","stage":2,"agentId":"a","tasksCompleted":[],"tasksRemaining":["T1"],"lastAction":"none","timestamp":"2026-02-14T14:20:00Z"}`

// matrixLosses are the ways to lose the work, each with a letter for the table.
var matrixLosses = []struct {
	letter string
	name   string
	lose   func(w *matrixWorld, c matrixColumn) (dir string)
}{
	{"f", "all files but .git are deleted", (*matrixWorld).loseFiles},
	{"r", "git reset --hard; git clean -fdx", (*matrixWorld).reset},
	{"c", "the clone is lost, and cloned again", (*matrixWorld).clone},
	{"m", "another machine, whose clone is behind", (*matrixWorld).otherMachine},
}

// A matrixWorld is a directory with a repository, its remote and a second clone.
type matrixWorld struct {
	t   *testing.T
	dir string
	env []string
}

// matrixTemplate has the files of a matrixWorld before the work begins. The last commit of the
// branch is not pushed.
var matrixTemplate = sync.OnceValues(func() ([]gittest.File, error) {
	dir, err := os.MkdirTemp("", "matrix-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	script := `set -e
git init -q --bare -b main hub
git clone -q hub repo 2>/dev/null
cd repo
git config gc.auto 0
` + matrixCommit + `
git commit -qm first
git push -q origin HEAD:main
git switch -qc issue-42
git commit -q --allow-empty -m second
git push -q -u origin issue-42
git clone -q ../hub ../second
git -C ../second switch -q issue-42
git commit -q --allow-empty -m third
cat >.git/story.json <<'END'
` + matrixStory + `
END
for r in . ../second; do
	git -C $r config checkpoint.issue-source none
	git -C $r config checkpoint.publish-commits true
	git -C $r remote set-url origin ../hub
done
`
	w := &matrixWorld{dir: dir, env: matrixEnv(dir)}
	if o := w.try(".", "", script); o.code != 0 {
		return nil, fmt.Errorf("%s", o.err)
	}
	return gittest.ReadFiles(dir)
})

func matrixEnv(dir string) []string {
	return append(tortureEnv(dir), "GIT_AUTHOR_DATE=2026-02-14T14:00:00Z", "GIT_COMMITTER_DATE=2026-02-14T14:00:00Z", "GIT_CHECKPOINT_NOW=2026-02-14T14:30:00Z")
}

// newMatrixWorld returns a copy of the template.
func newMatrixWorld(t *testing.T) *matrixWorld {
	t.Helper()
	files, err := matrixTemplate()
	require.NoError(t, err)
	w := &matrixWorld{t: t, dir: t.TempDir()}
	w.env = matrixEnv(w.dir)
	require.NoError(t, gittest.WriteFiles(w.dir, files))
	return w
}

// try runs a shell script with an input in a directory of the world.
func (w *matrixWorld) try(dir, input, script string) outcome {
	v := victim{dir: filepath.Join(w.dir, dir), env: w.env}
	cmd := v.command("sh", "-c", script)
	cmd.Stdin = strings.NewReader(input)
	return outcomeOf(cmd)
}

// must runs a shell script that has to succeed.
func (w *matrixWorld) must(dir, script string) string {
	w.t.Helper()
	o := w.try(dir, "", script)
	require.Zerof(w.t, o.code, "%s: exit %d: %s", script, o.code, o.err)
	return o.out
}

// work brings the files of the repository into the states of all rows.
func (w *matrixWorld) work() {
	w.t.Helper()
	var script strings.Builder
	script.WriteString("set -e\n")
	for _, row := range matrixRows {
		fmt.Fprintln(&script, row.command)
	}
	w.must("repo", script.String())
}

// state returns the state of each path in a repository: modes and hashes in HEAD and the index,
// mode and content in the worktree.
func (w *matrixWorld) state(dir string) map[string]string {
	w.t.Helper()
	state := map[string]string{}
	for _, line := range strings.Split(w.must(dir, "git status --porcelain=v2 -z --no-renames --untracked-files=all"), "\x00") {
		if fields := strings.SplitN(line, " ", 9); len(fields) == 9 {
			state[fields[8]] = strings.Join(fields[1:8], " ")
		} else if path, ok := strings.CutPrefix(line, "? "); ok {
			state[path] += " untracked"
		}
	}
	root := filepath.Join(w.dir, dir)
	require.NoError(w.t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		text, err := os.Readlink(path)
		if err != nil {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(data)
		}
		state[filepath.ToSlash(name)] += fmt.Sprintf(" %v %t %q", info.Mode().Type(), info.Mode()&0o100 != 0, text)
		return nil
	}))
	return state
}

// loseFiles deletes all files of a copy of the repository.
func (w *matrixWorld) loseFiles(matrixColumn) string {
	require.NoError(w.t, copyTree(filepath.Join(w.dir, "repo"), filepath.Join(w.dir, "emptied")))
	w.must("emptied", "find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -r {} +")
	return "emptied"
}

func (w *matrixWorld) reset(matrixColumn) string {
	require.NoError(w.t, copyTree(filepath.Join(w.dir, "repo"), filepath.Join(w.dir, "reset")))
	w.must("reset", "git reset -q --hard; git clean -qfdx")
	return "reset"
}

func (w *matrixWorld) clone(c matrixColumn) string {
	w.must(".", "git clone -q -b issue-42 hub clone && cd clone && git config checkpoint.issue-source none && git checkpoint "+cmp.Or(c.fetch, "fetch 42"))
	return "clone"
}

func (w *matrixWorld) otherMachine(c matrixColumn) string {
	w.must("second", "git pull -q && git checkpoint "+cmp.Or(c.fetch, "fetch 42"))
	return "second"
}

// save carries out the commands of a column, and publishes branch and checkpoints.
func (w *matrixWorld) save(c matrixColumn, later int) {
	w.t.Helper()
	for _, line := range c.before {
		w.must("repo", "git checkpoint "+line)
	}
	if c.pushes {
		w.must("repo", "git checkpoint hooks install --push")
	}
	w.work()
	o := w.try("repo", c.input, "git checkpoint "+c.save)
	require.Equalf(w.t, c.ends, o.code, "%s: %s", c.save, o.err)
	if later > 0 {
		tip := w.must("repo", "git rev-parse refs/checkpoints/42")
		w.must("repo", "git checkpoint "+cmp.Or(c.later, phaseDone)+matrixLater[later-1])
		require.NotEqual(w.t, tip, w.must("repo", "git rev-parse refs/checkpoints/42"))
	}
	w.must("repo", "git push -q origin issue-42")
	if !c.pushes {
		w.must("repo", "git checkpoint sync 42 --archived --yes")
	}
}

// matrixLater are the flags of the command that records progress after the save. The last one
// records no files but the staged ones, so the files come from the checkpoint before.
var matrixLater = []string{"", " --staged"}

// A matrixCell is a column after one loss. later is the number of the flags in matrixLater,
// counted from 1, or 0 if no command follows the save.
type matrixCell struct{ column, loss, later int }

// TestMatrixOfFiles checks that each state of a file comes back after each command that saves
// and each loss. Beside saves, a day has a third of the commands; GIT_CHECKPOINT_TEST_TORTURE=full
// has all. With -v it prints the table.
func TestMatrixOfFiles(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	results := map[matrixCell]map[string]string{}
	t.Run("columns", func(t *testing.T) {
		for i, c := range matrixColumns {
			for later := range len(matrixLater) + 1 {
				if later > 0 && c.later == "-" || testing.Short() && (c.name != "save" || later == 0) {
					continue
				}
				if c.name != "save" && (i+later+gittest.Day())%3 != 0 && !gittest.Torture() {
					continue
				}
				t.Run(fmt.Sprintf("%s/%d", c.name, later), func(t *testing.T) {
					t.Parallel()
					w := newMatrixWorld(t)
					w.save(c, later)
					want := w.state("repo")
					for k := range matrixLosses {
						found := w.lost(c, k, want)
						mu.Lock()
						results[matrixCell{i, k, later}] = found
						mu.Unlock()
					}
				})
			}
		}
	})
	t.Log("\n" + matrixTable(results))
}

// lost loses the work, brings it back, and returns the differences by row.
func (w *matrixWorld) lost(c matrixColumn, loss int, want map[string]string) map[string]string {
	w.t.Helper()
	l := matrixLosses[loss]
	dir := l.lose(w, c)
	line := cmp.Or(c.restore, "git checkpoint resume --yes")
	o := w.try(dir, "", line)
	assert.Zerof(w.t, o.code, "%s, %s: %s: %s", l.name, line, o.out, o.err)
	got, found := w.state(dir), map[string]string{}
	for _, row := range matrixRows {
		for _, path := range row.paths {
			if got[path] != want[path] {
				found[row.name] += fmt.Sprintf("%s: have %q, want %q\n", path, got[path], want[path])
			}
		}
		assert.Emptyf(w.t, found[row.name], "%s: %s", l.name, row.name)
	}
	for path := range got {
		_, wanted := want[path]
		assert.Truef(w.t, wanted, "%s: %s is there", l.name, path)
	}
	return found
}

// matrixTable returns the results, one character for each loss: after the save, and after each
// command of matrixLater.
func matrixTable(results map[matrixCell]map[string]string) string {
	var b strings.Builder
	b.WriteString(". the state is back; - not tested; a letter: not back after the loss\n")
	for _, l := range matrixLosses {
		fmt.Fprintf(&b, "  %s  %s\n", l.letter, l.name)
	}
	b.WriteString("First the losses after the save itself, then after a later `phase done`")
	for _, flags := range matrixLater[1:] {
		fmt.Fprintf(&b, ", then with%s", flags)
	}
	b.WriteString(".\n")
	for i, c := range matrixColumns {
		fmt.Fprintf(&b, "  %2d  %s\n", i+1, c.name)
	}
	fmt.Fprintf(&b, "%-28s", "")
	for i := range matrixColumns {
		fmt.Fprintf(&b, " %-*d", (len(matrixLater)+1)*(len(matrixLosses)+1)-1, i+1)
	}
	for _, row := range matrixRows {
		fmt.Fprintf(&b, "\n%-28s", row.name)
		for i := range matrixColumns {
			for later := range len(matrixLater) + 1 {
				b.WriteString(" ")
				for k, l := range matrixLosses {
					found, tested := results[matrixCell{i, k, later}]
					mark := "."
					if !tested {
						mark = "-"
					} else if found[row.name] != "" {
						mark = l.letter
					}
					b.WriteString(mark)
				}
			}
		}
	}
	return strings.TrimRight(b.String(), " ")
}
