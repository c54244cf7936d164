package commands

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A readerWorld has a corpus of chains, and the reader of testdata/reader.
type readerWorld struct {
	*matrixWorld
	reader string
}

// A chainVerdict is the result of a program for the chains of a repository. Bad has the damaged
// checkpoints, commits and refs.
type chainVerdict struct {
	valid   bool
	checked int
	bad     map[string][]string // reasons, in front the rule if the program names it
}

func newReaderWorld(t *testing.T) *readerWorld {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is missing: the second reader of the stored form is not compared")
	}
	sources, err := filepath.Abs(filepath.Join("..", "testdata"))
	require.NoError(t, err)
	w := &matrixWorld{t: t, dir: t.TempDir()}
	w.env = append(tortureEnv(w.dir), "GOOD="+sources+"/reader/good", "RECORD="+sources+"/record")
	return &readerWorld{w, sources + "/reader/reader.py"}
}

// make runs a script of testdata/reader/good in a new directory.
func (w *readerWorld) make(script string) {
	w.t.Helper()
	require.NoError(w.t, os.MkdirAll(filepath.Join(w.dir, script), 0o777))
	w.must(script, `sh "$GOOD/`+script+`.sh"`)
}

// read runs the reader.
func (w *readerWorld) read(dir string, args ...string) outcome {
	v := victim{dir: filepath.Join(w.dir, dir), env: w.env}
	return outcomeOf(v.command("python3", append([]string{w.reader}, args...)...))
}

// readerVerdicts returns the verdicts of the reader for repositories, in one process.
func (w *readerWorld) readerVerdicts(dirs []string) []chainVerdict {
	w.t.Helper()
	args := []string{}
	for _, dir := range dirs {
		args = append(args, "-C", dir)
	}
	o := w.read(".", append(args, "verify")...)
	lines := bufio.NewScanner(strings.NewReader(o.out))
	lines.Buffer(nil, 1<<20)
	var found []chainVerdict
	all := true
	for lines.Scan() {
		var said struct {
			Valid    bool
			Checked  int
			Findings []struct{ Rule, Subject, Object, Reason string }
		}
		require.NoError(w.t, json.Unmarshal(lines.Bytes(), &said))
		v := chainVerdict{said.Valid, said.Checked, map[string][]string{}}
		for _, f := range said.Findings {
			v.bad[f.Subject] = append(v.bad[f.Subject], f.Rule+": "+f.Object+": "+f.Reason)
		}
		all = all && v.valid
		found = append(found, v)
	}
	require.Len(w.t, found, len(dirs), o.err)
	assert.Equal(w.t, map[bool]int{true: 0, false: 1}[all], o.code, o.err)
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
	next := make(chan int)
	for range 2 {
		both.Go(func() {
			for k := range next {
				program[k] = w.programVerdict(dirs[k])
			}
		})
	}
	reader := w.readerVerdicts(dirs)
	for k := range dirs {
		next <- k
	}
	close(next)
	both.Wait()
	for k, dir := range dirs {
		assert.Equal(w.t, program[k].checked, reader[k].checked, "%s: checkpoints", dir)
		assert.Equal(w.t, program[k].valid, reader[k].valid, "%s", dir)
		assert.Equal(w.t, slices.Sorted(maps.Keys(program[k].bad)), slices.Sorted(maps.Keys(reader[k].bad)),
			"%s:\nverify: %q\nreader: %q", dir, program[k].bad, reader[k].bad)
	}
	return reader
}

// repositories returns the repositories that the scripts have made, and the number of their chains.
func (w *readerWorld) repositories(scripts []string) (dirs []string, chains int) {
	w.t.Helper()
	for _, script := range scripts {
		w.make(script)
		found, err := filepath.Glob(filepath.Join(w.dir, script, "*"))
		require.NoError(w.t, err)
		for _, dir := range found {
			dir, _ = filepath.Rel(w.dir, dir)
			if o := w.try(dir, "", "git for-each-ref refs/checkpoints refs/checkpoints-archive"); o.code == 0 && o.out != "" {
				dirs, chains = append(dirs, dir), chains+strings.Count(o.out, "\n")+1
			}
		}
	}
	return dirs, chains
}

// A second reader, which was written from the guides format and record alone, agrees with
// git checkpoint verify about each checkpoint of good and damaged chains.
func TestReaderAgrees(t *testing.T) {
	t.Parallel()
	w := newReaderWorld(t)
	w.make("base")
	base := readStored(w.matrixWorld, "base/repo")
	var dirs []string
	var made []damage
	for k, d := range damages {
		if testing.Short() && k%12 != 0 {
			continue
		}
		for _, n := range d.places {
			dir := fmt.Sprintf("damaged/%s at %d", strings.ReplaceAll(d.name, "/", "-"), n)
			base.damage(d, n).write(filepath.Join(w.dir, dir))
			dirs, made = append(dirs, dir), append(made, d)
		}
	}
	good := 0
	for k, v := range w.compare(dirs) {
		if made[k].rule == "" {
			good++
			assert.True(t, v.valid, "%s: %q", dirs[k], v.bad)
			continue
		}
		rules := map[string]bool{}
		for _, reasons := range v.bad {
			for _, r := range reasons {
				rule, _, _ := strings.Cut(r, ":")
				rules[rule] = true
			}
		}
		assert.True(t, rules[made[k].rule], "%s: want rule %s, got %q", dirs[k], made[k].rule, v.bad)
	}
	t.Logf("%d chains: %d damaged, %d with a change that is no damage", len(dirs), len(dirs)-good, good)
}

// The second reader agrees with git checkpoint about the chains of real commands: it finds no damage,
// lists the same checkpoints, shows the same records and returns the same files.
func TestReaderReadsRealChains(t *testing.T) {
	t.Parallel()
	w := newReaderWorld(t)
	scripts := []string{"triggers", "states", "ledger", "sync", "records"}
	if testing.Short() {
		scripts = scripts[:1]
	}
	dirs, chains := w.repositories(scripts)
	for k, v := range w.compare(dirs) {
		assert.True(t, v.valid, "%s: %q", dirs[k], v.bad)
		w.compareLists(dirs[k])
	}
	t.Logf("%d repositories, %d chains", len(dirs), chains)
}

// compareLists compares list, show and the files of the newest checkpoints of a repository.
func (w *readerWorld) compareLists(dir string) {
	w.t.Helper()
	byIssue := map[string][]map[string]any{}
	for _, c := range decoded[[]map[string]any](w, w.read(dir, "list")) {
		byIssue[c["issue"].(string)] = append(byIssue[c["issue"].(string)], c)
	}
	for issue, listed := range byIssue {
		v := victim{dir: filepath.Join(w.dir, dir), env: w.env}
		said := decoded[struct {
			Checkpoints []map[string]any
		}](w, outcomeOf(v.command("git-checkpoint", "list", "--issue", issue, "-n", "100", "--json")))
		for _, c := range said.Checkpoints {
			maps.DeleteFunc(c, func(key string, _ any) bool { _, ok := listed[0][key]; return !ok })
		}
		assert.Equal(w.t, said.Checkpoints, listed, "%s: list %s", dir, issue)
		records := map[string]any{}
		o := outcomeOf(v.command("git-checkpoint", "export", "--issue", issue, "--as", "jsonl"))
		for _, line := range strings.Split(o.out, "\n") {
			tuple := decoded[map[string]any](w, outcome{out: line})
			records[tuple["commit"].(string)] = tuple["checkpoint"]
		}
		shown := decoded[[]map[string]any](w, w.read(dir, "show", "--", issue))
		assert.Len(w.t, shown, len(records))
		for _, c := range shown {
			assert.Equal(w.t, records[c["commit"].(string)], c["checkpoint"], "%s: show %s", dir, issue)
		}
		w.compareFiles(v, dir, issue, listed[0]["checkpoint_id"].(string))
	}
}

func decoded[T any](w *readerWorld, o outcome) (v T) {
	w.t.Helper()
	require.Zero(w.t, o.code, o.err)
	require.NoError(w.t, json.Unmarshal([]byte(o.out), &v), o.out)
	return v
}

// compareFiles compares what the reader restores into an empty folder with the commit that export
// makes of a checkpoint.
func (w *readerWorld) compareFiles(v victim, dir, issue, id string) {
	w.t.Helper()
	v.t = w.t
	v.must("git-checkpoint", "export", "--issue", issue, "--as", "commits", "as-commits")
	folder := filepath.Join(w.t.TempDir(), "out")
	o := w.read(dir, "restore", "--", issue, id, folder)
	require.Zero(w.t, o.code, o.err)
	want := map[string]string{}
	for _, line := range strings.Split(strings.TrimSuffix(v.must("git", "ls-tree", "-r", "-z", "as-commits"), "\x00"), "\x00") {
		if head, path, ok := strings.Cut(line, "\t"); ok && !strings.HasPrefix(head, "160000") {
			want[path] = strings.ReplaceAll(head, " blob ", " ")
		}
	}
	v.must("git", "branch", "-D", "as-commits")
	assert.Equal(w.t, want, hashedFiles(w.t, folder), "%s: files of %s", dir, issue)
}

// hashedFiles returns mode and object id of the files below a folder.
func hashedFiles(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		require.NoError(t, err)
		data, mode := []byte(nil), "100644"
		if d.Type() == fs.ModeSymlink {
			target, err := os.Readlink(path)
			require.NoError(t, err)
			data, mode = []byte(target), "120000"
		} else {
			data, err = os.ReadFile(path)
			require.NoError(t, err)
			if info.Mode()&0o111 != 0 {
				mode = "100755"
			}
		}
		name, err := filepath.Rel(folder, path)
		found[name] = mode + " " + plumbing.ComputeHash(plumbing.BlobObject, data).String()
		return err
	}))
	return found
}

// The reader returns the staged content of a file, and writes nothing of a hostile tree: no name out
// of the folder and nothing through a symlink.
func TestReaderRestoresSafely(t *testing.T) {
	t.Parallel()
	w := newReaderWorld(t)
	w.make("base")
	newest := w.must("base/repo", "git checkpoint show --get checkpoint_id --issue 42")
	assert.Equal(t, "base", w.read("base/repo", "--part", "staged", "cat", "42", newest, "modified.txt").out)
	assert.Equal(t, "three", w.read("base/repo", "cat", "42", newest, "modified.txt").out)
	base := readStored(w.matrixWorld, "base/repo")
	outside := filepath.Join(w.dir, "outside")
	for k, d := range damages {
		if !strings.HasPrefix(d.name, "path") && !strings.Contains(d.name, "symlink") || testing.Short() && k%12 != 0 {
			continue
		}
		dir := fmt.Sprintf("hostile%d", k)
		base.damage(d, 0).write(filepath.Join(w.dir, dir))
		o := w.read(dir, "--part", "artifacts", "restore", "42", newest, filepath.Join(w.dir, dir, "artifacts.out"))
		assert.Equal(t, d.rule != "", o.code != 0, "%s: %s", d.name, o.err)
		found := w.must(dir, "find . -path './*.out/*' \\( -name .git -o -name '..' \\) ; find .. -maxdepth 1 -name x -o -maxdepth 1 -name b")
		assert.Empty(t, found, d.name)
	}
	hostile := damage{apply: func(d *damaged) {
		d.c.tree = d.set(d.c.tree, "staged/way", storedEntry{mode: "120000", id: d.blob(outside)})
		d.file("100644", "untracked/way/file", d.blob("written\n"))
	}}
	base.damage(hostile, 0).write(filepath.Join(w.dir, "through"))
	require.NoError(t, os.Mkdir(outside, 0o777))
	o := w.read("through", "restore", "42", newest, filepath.Join(w.dir, "through.out"))
	assert.Zero(t, o.code, o.err)
	assert.NoFileExists(t, filepath.Join(outside, "file"))
	assert.FileExists(t, filepath.Join(w.dir, "through.out", "way", "file"))
	assert.NotZero(t, w.read("through", "restore", "42", newest, filepath.Join(w.dir, "through.out")).code, "the folder is not empty")
}
