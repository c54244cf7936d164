package commands

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A readerWorld has a corpus of chains, and the reader of testdata/reader.
type readerWorld struct {
	*matrixWorld
	sources string
}

// A chainVerdict is the result of a program for the chains of a repository. Bad has the damaged
// checkpoints, commits and refs with their reasons. A reason of the reader begins with its rule.
type chainVerdict struct {
	valid   bool
	checked int
	bad     map[string][]string
}

func newReaderWorld(t *testing.T) *readerWorld {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is missing: the second reader of the stored form is not compared")
	}
	sources, err := filepath.Abs(filepath.Join("..", "testdata"))
	require.NoError(t, err)
	w := &matrixWorld{t: t, dir: t.TempDir()}
	w.env = append(tortureEnv(w.dir), "GOOD="+sources+"/reader/good", "RECORD="+sources+"/record", "PYTHONDONTWRITEBYTECODE=1")
	return &readerWorld{w, sources + "/reader"}
}

// make runs a script of testdata/reader/good in a new directory.
func (w *readerWorld) make(script string) {
	w.t.Helper()
	require.NoError(w.t, os.MkdirAll(filepath.Join(w.dir, script), 0o777))
	w.must(script, `sh "$GOOD/`+script+`.sh"`)
}

// python runs a script of testdata/reader.
func (w *readerWorld) python(dir, script string, args ...string) outcome {
	v := victim{dir: filepath.Join(w.dir, dir), env: w.env}
	return outcomeOf(v.command("python3", append([]string{filepath.Join(w.sources, script)}, args...)...))
}

func (w *readerWorld) read(dir string, args ...string) outcome {
	return w.python(dir, "reader.py", args...)
}

// readerVerdicts returns the verdicts of the reader for repositories, in one process.
func (w *readerWorld) readerVerdicts(dirs []string) (found []chainVerdict) {
	w.t.Helper()
	args, code := []string{}, 0
	for _, dir := range dirs {
		args = append(args, "-C", dir)
	}
	o := w.read(".", append(args, "verify")...)
	for line := range strings.Lines(o.out) {
		var said struct {
			Valid    bool
			Checked  int
			Findings []struct{ Rule, Subject, Object, Reason string }
		}
		require.NoError(w.t, json.Unmarshal([]byte(line), &said))
		v := chainVerdict{said.Valid, said.Checked, map[string][]string{}}
		for _, f := range said.Findings {
			v.bad[f.Subject], code = append(v.bad[f.Subject], f.Rule+": "+f.Object+": "+f.Reason), 1
		}
		found = append(found, v)
	}
	require.Len(w.t, found, len(dirs), o.err)
	assert.Equal(w.t, code, o.code, o.err)
	return found
}

// programVerdict returns the verdict of git checkpoint verify.
func (w *readerWorld) programVerdict(dir string) chainVerdict {
	o := w.try(dir, "", "git checkpoint verify --json")
	var said struct {
		Valid   bool
		Checked int
		Errors  []string
	}
	require.NoError(w.t, json.Unmarshal([]byte(o.out), &said), o.err)
	v := chainVerdict{said.Valid, said.Checked, map[string][]string{}}
	for _, e := range said.Errors {
		subject, reason, _ := strings.Cut(e, ": ")
		v.bad[subject] = append(v.bad[subject], reason)
	}
	return v
}

// compare verifies repositories with both programs. It fails for each checkpoint about which they
// disagree, and returns the verdicts of the reader.
func (w *readerWorld) compare(dirs []string) []chainVerdict {
	w.t.Helper()
	program := make([]chainVerdict, len(dirs))
	var both sync.WaitGroup
	for half := range 2 {
		both.Go(func() {
			for k := half; k < len(dirs); k += 2 {
				program[k] = w.programVerdict(dirs[k])
			}
		})
	}
	reader := w.readerVerdicts(dirs)
	both.Wait()
	for k, dir := range dirs {
		assert.Equal(w.t, program[k].checked, reader[k].checked, "%s: checkpoints", dir)
		assert.Equal(w.t, program[k].valid, reader[k].valid, "%s", dir)
		assert.Equal(w.t, slices.Sorted(maps.Keys(program[k].bad)), slices.Sorted(maps.Keys(reader[k].bad)),
			"%s:\nverify: %q\nreader: %q", dir, program[k].bad, reader[k].bad)
	}
	return reader
}

// A damaged is a copy of a repository with a damage. Rule is the rule of the guide format that
// verify has to name, "" if the change is no damage.
type damaged struct{ Dir, Rule string }

// damage makes damaged copies of the repository of the script base. With generated, it makes one
// repository with an issue for each generated change.
func (w *readerWorld) damage(generated ...string) (all []damaged) {
	w.t.Helper()
	w.make("base")
	step := 3 + len(generated)
	switch {
	case gittest.Torture():
		step = 1
	case testing.Short():
		step = 12
	}
	o := w.python(".", "damage.py", append([]string{"base/repo", "damaged", strconv.Itoa(step)}, generated...)...)
	require.Zero(w.t, o.code, o.err)
	for line := range strings.Lines(o.out) {
		d := damaged{}
		require.NoError(w.t, json.Unmarshal([]byte(line), &d))
		all = append(all, damaged{"damaged/" + d.Dir, d.Rule})
	}
	require.Greater(w.t, len(all), 200/step)
	return all
}

// Both programs agree about generated values in each place of a checkpoint: trailers, headers, entries of
// the tree, fields of the record, its YAML, and lines of the ledger. The id of a checkpoint names its change.
func TestReaderAgreesAboutGeneratedDamage(t *testing.T) {
	t.Parallel()
	w := newReaderWorld(t)
	made := w.damage("generated")
	v := w.compare([]string{"damaged"})[0]
	good := len(made) - len(v.bad)
	assert.Greater(t, good, len(made)/8)
	assert.Greater(t, len(v.bad), len(made)/4)
	t.Logf("%d chains: %d damaged, %d with a change that is no damage", len(made), len(v.bad), good)
}

// A second reader, which was written from the guides format and record alone, agrees with
// git checkpoint verify about each checkpoint of good and damaged chains.
func TestReaderAgrees(t *testing.T) {
	t.Parallel()
	w := newReaderWorld(t)
	made, good := w.damage(), 0
	dirs := make([]string, len(made))
	for k, d := range made {
		dirs[k] = d.Dir
	}
	for k, v := range w.compare(dirs) {
		if made[k].Rule == "" {
			good++
			assert.True(t, v.valid, "%s: %q", dirs[k], v.bad)
			continue
		}
		reasons := slices.Concat(slices.Collect(maps.Values(v.bad))...)
		named := slices.ContainsFunc(reasons, func(r string) bool { return strings.HasPrefix(r, made[k].Rule+": ") })
		assert.True(t, named, "%s: want rule %s, got %q", dirs[k], made[k].Rule, v.bad)
	}
	t.Logf("%d chains: %d damaged, %d with a change that is no damage", len(dirs), len(dirs)-good, good)
}

// The second reader agrees with git checkpoint about the chains of real commands: it finds no damage,
// lists the same checkpoints, shows the same records and returns the same files.
func TestReaderReadsRealChains(t *testing.T) {
	t.Parallel()
	w := newReaderWorld(t)
	scripts := []string{"triggers"}
	switch more := []string{"states", "ledger", "sync", "records"}; {
	case gittest.Torture():
		scripts = append(scripts, more...)
	case !testing.Short():
		scripts = append(scripts, more[gittest.Day()%len(more)])
	}
	var dirs []string
	for _, script := range scripts {
		w.make(script)
		found, err := filepath.Glob(filepath.Join(w.dir, script, "*"))
		require.NoError(t, err)
		for _, dir := range found {
			dir, _ = filepath.Rel(w.dir, dir)
			if o := w.try(dir, "", "git for-each-ref refs/checkpoints refs/checkpoints-archive"); o.code == 0 && o.out != "" {
				dirs = append(dirs, dir)
			}
		}
	}
	require.NotEmpty(t, dirs)
	for k, v := range w.compare(dirs) {
		assert.True(t, v.valid, "%s: %q", dirs[k], v.bad)
		w.compareLists(dirs[k])
	}
}

// compareLists compares list, show and the files of the newest checkpoints of a repository.
func (w *readerWorld) compareLists(dir string) {
	w.t.Helper()
	v := victim{t: w.t, dir: filepath.Join(w.dir, dir), env: w.env}
	byIssue := map[string][]map[string]any{}
	for _, c := range decoded[[]map[string]any](w, w.read(dir, "list")) {
		byIssue[c["issue"].(string)] = append(byIssue[c["issue"].(string)], c)
	}
	for issue, listed := range byIssue {
		said := decoded[struct {
			Checkpoints []map[string]any
		}](w, v.try("git-checkpoint", "list", "--issue", issue, "-n", "100", "--json"))
		for _, c := range said.Checkpoints {
			maps.DeleteFunc(c, func(key string, _ any) bool { _, ok := listed[0][key]; return !ok })
		}
		assert.Equal(w.t, said.Checkpoints, listed, "%s: list %s", dir, issue)
		records := map[string]any{}
		for line := range strings.Lines(v.must("git-checkpoint", "export", "--issue", issue, "--as", "jsonl")) {
			tuple := decoded[map[string]any](w, outcome{out: line})
			records[tuple["commit"].(string)] = tuple["checkpoint"]
		}
		shown := decoded[[]map[string]any](w, w.read(dir, "show", "--", issue))
		assert.Len(w.t, shown, len(records))
		for _, c := range shown {
			assert.Equal(w.t, records[c["commit"].(string)], c["checkpoint"], "%s: show %s", dir, issue)
		}
		w.compareFiles(dir, issue, listed[0]["checkpoint_id"].(string))
	}
}

func decoded[T any](w *readerWorld, o outcome) (v T) {
	w.t.Helper()
	require.Zero(w.t, o.code, o.err)
	require.NoError(w.t, json.Unmarshal([]byte(o.out), &v), o.out)
	return v
}

// compareFiles compares what the reader restores into an empty folder with the commit that export
// makes of a checkpoint. Git lists both.
func (w *readerWorld) compareFiles(dir, issue, id string) {
	w.t.Helper()
	folder := w.t.TempDir()
	o := w.read(dir, "restore", "--", issue, id, folder)
	require.Zero(w.t, o.code, o.err)
	v := victim{t: w.t, dir: filepath.Join(w.dir, dir), env: w.env}
	v.must("git-checkpoint", "export", "--issue", issue, "--as", "commits", "as-commits")
	isSubmodule := func(entry string) bool { return strings.HasPrefix(entry, "160000 ") }
	want := slices.DeleteFunc(strings.Split(v.must("git", "ls-tree", "-r", "-z", "as-commits"), "\x00"), isSubmodule)
	v.must("git", "branch", "-qD", "as-commits")
	v.dir, v.env = folder, append(slices.Clone(w.env), "GIT_DIR="+filepath.Join(w.t.TempDir(), "git"), "GIT_WORK_TREE="+folder)
	v.must("git", "init", "-q")
	v.must("git", "add", "-Af", ".")
	got := strings.Split(v.must("git", "ls-tree", "-r", "-z", v.must("git", "write-tree")), "\x00")
	assert.Equal(w.t, want, got, "%s: files of %s", dir, issue)
}

// The reader returns the staged content of a file. It writes nothing of a hostile tree, such as one
// with a name out of the folder, or with a symlink and a folder of one name.
func TestReaderRestoresSafely(t *testing.T) {
	t.Parallel()
	w := newReaderWorld(t)
	made := w.damage()
	newest := w.must("base/repo", "git checkpoint show --get checkpoint_id --issue 42")
	assert.Equal(t, "base", w.read("base/repo", "--part", "staged", "cat", "42", newest, "modified.txt").out)
	assert.Equal(t, "three", w.read("base/repo", "cat", "42", newest, "modified.txt").out)
	tried := 0
	for _, d := range made {
		if !strings.Contains(d.Dir, "/name ") && !strings.Contains(d.Dir, "/symlink") {
			continue
		}
		tried++
		out := filepath.Join(w.dir, d.Dir, "out")
		o := w.read(d.Dir, "restore", "42", newest, out)
		assert.Equal(t, d.Rule != "", o.code != 0, "%s: %s", d.Dir, o.err)
		if d.Rule != "" {
			assert.NoDirExists(t, out, d.Dir)
		}
	}
	require.NotZero(t, tried)
	assert.NotZero(t, w.read("base/repo", "restore", "42", newest, filepath.Join(w.dir, "base")).code, "the folder is not empty")
}
