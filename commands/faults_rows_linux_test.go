//go:build amd64

package commands

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/gitstore/testing/gittest"
)

// A faultRow is a writing command and its world.
type faultRow struct {
	name    string
	prepare func(w *faultWorld)
	args    []string
	form    map[refsForm]bool // nil for all forms

	damage   func(w *faultWorld) // damages the repository first
	begun    func(w *faultWorld) // runs the first part of a two-part command
	restores bool                // changes the worktree or the index
	undo     bool                // `undo` reverts the command
	thins    bool                // retention drops checkpoints, or keeps them if it cannot read enough data
}

// aboutID is the placeholder for the second newest checkpoint's id.
const aboutID = "<id>"

func (w *faultWorld) saves(n int, args ...string) {
	for range n {
		w.tool(append([]string{"save", "42"}, args...)...)
	}
}

// savedChange saves changes of several files and resets the worktree.
func savedChange(w *faultWorld) {
	w.write("src/c.txt", "saved\n")
	w.write("src/d.txt", "saved\n")
	w.git("add", "-A")
	w.git("rm", "-qf", "dir/b.txt")
	w.saves(1)
	w.git("reset", "-q", "--hard")
}

// after returns a preparation that saves checkpoints, and runs command lines.
func after(saves int, lines ...string) func(*faultWorld) {
	return func(w *faultWorld) {
		w.saves(saves)
		for _, line := range lines {
			w.tool(strings.Fields(line)...)
		}
	}
}

// savedThere saves a checkpoint in another clone, on top of the repository's checkpoints.
func savedThere(w *faultWorld) {
	w.saves(1)
	w.tool("sync", "42", "--yes")
	w.git("clone", "-q", "../remote.git", "../other")
	w.tool("-C", "../other", "sync", "42", "--yes")
	w.tool("-C", "../other", "save", "42", "--set", "there=1")
	w.tool("-C", "../other", "sync", "42", "--yes")
}

// savedApart makes the chains of the repository and the remote diverge.
func savedApart(w *faultWorld) {
	savedThere(w)
	w.saves(1, "--set", "here=1")
}

var faultRows = []faultRow{
	{name: "save (first)", args: []string{"save", "42"}},
	{name: "save (first, staged)", args: []string{"save", "42", "--staged"}},
	{name: "save (later)", prepare: after(3), args: []string{"save", "42"}},
	{name: "save (retention)", thins: true, args: []string{"save", "42", "--trigger", "batch_complete"}, prepare: func(w *faultWorld) {
		w.saves(3, "--trigger", "batch_complete")
		w.saves(1)
	}},
	{name: "save --push (first)", args: []string{"save", "42", "--push"}},
	{name: "save --push (later)", args: []string{"save", "42", "--push"}, prepare: after(0, "save 42 --push")},
	{name: "run", prepare: after(3), args: []string{"run", "42", "--", "sh", "-c", "exit 7"}},
	{name: "prune", undo: true, args: []string{"prune", "42", "--keep", "manual=1"}, prepare: after(3)},
	{name: "pin", args: []string{"pin", "42", aboutID}, prepare: after(3)},
	{name: "drop", undo: true, args: []string{"drop", "42", aboutID, "--yes"}, prepare: after(3)},
	{name: "drop --everything", undo: true, args: []string{"drop", "42", "--everything", "--yes"}, prepare: after(3)},
	{name: "drop --purge", args: []string{"drop", "42", aboutID, "--purge", "--yes"}, prepare: after(3)},
	{name: "archive", undo: true, args: []string{"archive", "42"}, prepare: after(3)},
	{name: "archive (one)", undo: true, args: []string{"archive", "42", aboutID}, prepare: after(3)},
	{name: "undo of drop", args: []string{"undo", "42"}, prepare: after(3, "drop 42 latest~1 --yes")},
	{name: "undo of drop --everything", args: []string{"undo", "42"}, prepare: after(3, "drop 42 --everything --yes")},
	{name: "undo of prune", args: []string{"undo", "42"}, prepare: after(3, "prune 42 --keep manual=1")},
	{name: "undo of archive", args: []string{"undo", "42"}, prepare: after(3, "archive 42")},
	{name: "undo of archive (one)", args: []string{"undo", "42"}, prepare: after(3, "archive 42 latest~1")},
	{name: "undo of restore", restores: true, args: []string{"undo", "42"}, prepare: func(w *faultWorld) {
		savedChange(w)
		w.write("later.txt", "later\n")
		w.tool("restore", "42")
	}},
	{name: "redo of drop", args: []string{"redo", "42"}, prepare: after(3, "drop 42 latest~1 --yes", "undo 42")},
	{name: "redo of archive", args: []string{"redo", "42"}, prepare: after(3, "archive 42", "undo 42")},
	{name: "redo of restore", restores: true, undo: true, args: []string{"redo", "42"}, prepare: func(w *faultWorld) {
		savedChange(w)
		w.write("later.txt", "later\n")
		w.tool("restore", "42")
		w.tool("undo", "42")
	}},
	{name: "restore", restores: true, undo: true, args: []string{"restore", "42"}, prepare: savedChange},
	{name: "resume", restores: true, undo: true, args: []string{"resume", "42", "--auto"}, prepare: savedChange},
	{name: "sync (joins)", args: []string{"sync", "42", "--yes"}, prepare: savedApart},
	{name: "sync (first)", args: []string{"sync", "42", "--yes"}, prepare: after(3)},
	{name: "fetch", args: []string{"fetch", "42"}, prepare: savedThere},
	{name: "push", args: []string{"push", "42", "--yes"}, prepare: after(1, "push 42 --yes", "save 42")},
	{name: "import", args: []string{"import", "../in"}, prepare: func(w *faultWorld) {
		w.git("clone", "-q", "../remote.git", "../other")
		w.tool("-C", "../other", "save", "42", "--set", "there=1")
		w.tool("-C", "../other", "save", "42", "--set", "there=2")
		w.tool("-C", "../other", "export", "42", "--as", "crunch", "--dir", w.path("../in"))
	}},
	{name: "export", args: []string{"export", "42", "--as", "crunch"}, prepare: after(3)},
	{name: "mirror (save)", args: []string{"save", "42", "--set", "progress.current=3"}, prepare: func(w *faultWorld) {
		w.git("config", "checkpoint.mirror", "claude")
		w.tool("save", "42", "--set", "workflow.type=implement", "--set", "workflow.project=pay", "--set", "progress.current=2")
	}},
	{name: "start", args: []string{"start", "42", "--phases", "3"}},
	{name: "phase start", args: []string{"phase", "start", "1", "--issue", "42"}, prepare: after(0, "start 42 --phases 3")},
	{name: "phase done", args: []string{"phase", "done", "1", "--issue", "42"}, prepare: after(0, "start 42 --phases 3", "phase start 1 --issue 42")},
	{name: "task start", thins: true, args: []string{"task", "start", "T1", "--issue", "42"}, prepare: after(0, "task add T1 T2 --issue 42")},
	{name: "task done", thins: true, args: []string{"task", "done", "T1", "--issue", "42"}, prepare: after(0, "task add T1 T2 --issue 42", "task start T1 --issue 42")},
	{name: "finish", args: []string{"finish", "42"}, prepare: after(0, "start 42 --phases 3"), begun: func(w *faultWorld) {
		w.git("-c", "checkpoint.on-success=keep", "checkpoint", "finish", "42")
	}},
	{name: "hooks install", args: []string{"hooks", "install", "--push"}, prepare: func(w *faultWorld) {
		w.write(".git/hooks/pre-push", "#!/bin/sh\ntrue\n")
		require.NoError(w.t, os.Chmod(w.path(".git/hooks/pre-push"), 0o755))
	}},
	{name: "hooks install --agent", args: []string{"hooks", "install", "--agent", "claude"}, prepare: func(w *faultWorld) {
		w.write(".claude/settings.json", "{\n  \"model\": \"opus\"\n}\n")
	}},
	{name: "hooks uninstall", args: []string{"hooks", "uninstall"}, prepare: func(w *faultWorld) {
		w.write(".git/hooks/pre-push", "#!/bin/sh\ntrue\n")
		require.NoError(w.t, os.Chmod(w.path(".git/hooks/pre-push"), 0o755))
		w.tool("hooks", "install", "--push")
	}},
	{name: "hooks uninstall --agent", args: []string{"hooks", "uninstall", "--agent", "claude"}, prepare: func(w *faultWorld) {
		w.write(".claude/settings.json", "{\n  \"model\": \"opus\"\n}\n")
		w.tool("hooks", "install", "--agent", "claude")
	}},
	{name: "doctor --fix", args: []string{"doctor", "--fix"}, prepare: after(3), damage: func(w *faultWorld) {
		w.aged(".git/objects/ab/tmp_obj_left")
		if w.form != refsTable {
			w.aged(".git/refs/checkpoints/42.lock")
		}
		if w.form == refsLoose {
			w.write(".git/refs/checkpoints/42", "")
		}
	}},
}

// aged creates a file that looks like an old leftover of a process.
func (w *faultWorld) aged(name string) {
	w.write(name, "")
	long := time.Now().Add(-100 * 24 * time.Hour)
	require.NoError(w.t, os.Chtimes(filepath.Join(w.dir, name), long, long))
}

// A faultTable counts stops and failures by command, fault and form of refs.
type faultTable struct {
	mu      sync.Mutex
	counts  map[faultKey]faultCount
	checked int // number of checked states
}

type faultKey struct {
	row  string
	form refsForm
	kind fault
}

type faultCount struct{ stops, tried, failed int }

func (c *faultCount) add(d faultCount) {
	c.stops, c.tried, c.failed = c.stops+d.stops, c.tried+d.tried, c.failed+d.failed
}

func (m *faultTable) add(row string, form refsForm, kind fault, c faultCount) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counts == nil {
		m.counts = map[faultKey]faultCount{}
	}
	m.counts[faultKey{row, form, kind}] = c
}

func (m *faultTable) states(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.checked += n
}

// markdown returns the table, with one line per command and fault and one column per form
// of refs: "stops tried of all, failures".
func (m *faultTable) markdown() string {
	var b strings.Builder
	b.WriteString("| command | fault |")
	for form := range refsForms {
		fmt.Fprintf(&b, " %v: tried of stops | failures |", form)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---:|---:|", int(refsForms)) + "\n")
	var sums [refsForms]faultCount
	for _, row := range faultRows {
		for kind := range faultKinds {
			line, any := fmt.Sprintf("| %s | %v |", row.name, kind), false
			for form := range refsForms {
				c, ok := m.counts[faultKey{row.name, form, kind}]
				if !ok {
					line += " - | - |"
					continue
				}
				any = true
				sums[form].add(c)
				line += fmt.Sprintf(" %d of %d | %d |", c.tried, c.stops, c.failed)
			}
			if any {
				b.WriteString(line + "\n")
			}
		}
	}
	b.WriteString("| all | |")
	for _, s := range sums {
		fmt.Fprintf(&b, " %d of %d | %d |", s.tried, s.stops, s.failed)
	}
	fmt.Fprintf(&b, "\n\nThey left %d states that differ.\n", m.checked)
	return b.String()
}

func (m *faultTable) write(t *testing.T) {
	text := m.markdown()
	if name := os.Getenv("GIT_CHECKPOINT_TEST_FAULT_TABLE"); name != "" {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
		return
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	t.Log(lines[len(lines)-3], lines[len(lines)-1])
}

// TestCollectionAtEachCall suspends a save at each system call that changes something. While
// the save is suspended, the user unstages the file, and git deletes unreachable objects. The
// repository is sound afterwards, and a printed id is alive. The day chooses a tenth of the
// calls.
func TestCollectionAtEachCall(t *testing.T) {
	gittest.Slow(t)
	canSupervise(t)
	memory, err := os.MkdirTemp(sharedMemory(t), "git-checkpoint-collection-*")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(memory) })
	collectors := [][]string{{"gc", "-q", "--prune=now"}, {"prune", "--expire=now"}, {"repack", "-adq"}}
	for name, args := range map[string][]string{
		"next":  {"save", "42", "-m", "two"},
		"first": {"save", "43", "-m", "two"},
	} {
		for _, collector := range collectors {
			t.Run(name+"/"+collector[0], func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(memory, name+"-"+collector[0])
				w := newFaultWorld(t, filepath.Join(dir, "template"), refsLoose, "")
				w.tool("save", "42", "-m", "one")
				w.write("a.txt", strings.Repeat(name, 2000))
				w.git("add", ".")
				w.git("write-tree")
				stops, tested := 1000, 0
				for at := 1 + gittest.Day()%10; at <= stops; at += 10 {
					stops = collectAt(t, w, filepath.Join(dir, fmt.Sprint(at)), at, collector, args)
					tested++
				}
				t.Logf("%d of %d calls", tested, stops)
				assert.Greater(t, tested, 2)
			})
		}
	}
}

// collectAt runs a save in a copy of the world, with a collection at one of its calls, and
// returns the number of calls.
func collectAt(t *testing.T, template *faultWorld, dir string, at int, collector, args []string) int {
	w := template.copyTo(t, dir)
	defer os.RemoveAll(dir)
	cmd := w.command("git-checkpoint", args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	run := &faultRun{cmd: cmd, inside: w.root, at: at, meanwhile: func() {
		w.try("git", "reset", "-q")
		w.try("git", collector...) // fails if the save holds the lock of a ref
	}}
	require.NoError(t, run.run())
	if run.hit == nil {
		return run.stops
	}
	where := fmt.Sprintf("at call %d of %d, %v: exit %d: %s%s", at, run.stops, run.hit, cmd.ProcessState.ExitCode(), out.String(), errs.String())
	fsck := w.try("git", "fsck", "--no-dangling", "--no-progress")
	assert.Zero(t, fsck.code, "%s: %s", where, fsck.out+fsck.err)
	verify := w.try("git-checkpoint", "verify")
	assert.Zero(t, verify.code, "%s: %s", where, verify.out)
	if id := strings.TrimSpace(out.String()); id != "" {
		show := w.try("git-checkpoint", "show", args[1], id)
		assert.Zero(t, show.code, "%s: %s", where, show.err)
	}
	again := w.try("git-checkpoint", args...)
	assert.Zero(t, again.code, "%s: %s", where, again.err)
	return run.stops
}

var (
	objectName = regexp.MustCompile(`[0-9a-f]{40}`)
	tableName  = regexp.MustCompile(`(0x[0-9a-f]{12}-0x[0-9a-f]{12})-[0-9a-f]{8}(\.\w+)(\.\w+)?`)
	tempName   = regexp.MustCompile(`/tmp_(obj|pack|idx|rev)_\w+$|\.tmp-?\d+$`)
	clockText  = regexp.MustCompile(`\b1[0-9]{9}\b( [+-]\d{4})?|\b\d{16,19}\b`)
)

// hashes returns the object names in a template's refs and logs.
func (w *faultWorld) hashes() map[string]bool {
	known := map[string]bool{}
	_ = filepath.WalkDir(w.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.Contains(path, "/objects/") {
			return nil
		}
		data, _ := os.ReadFile(path)
		for _, name := range objectName.FindAll(data, -1) {
			known[string(name)] = true
		}
		return nil
	})
	return known
}

// signature returns the same text for two worlds only if they differ in new object names,
// ids and times alone. It contains the number of objects, and ignores temporary object
// files.
func (w *faultWorld) signature(f *faultTest) string {
	var lines []string
	objects := 0
	_ = filepath.WalkDir(w.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		name := strings.TrimPrefix(path, w.root+"/")
		if name == "out" {
			return filepath.SkipDir
		}
		switch {
		case strings.Contains(name, "/objects/"):
			if d.Type().IsRegular() && !tempName.MatchString(name) {
				if objects++; strings.HasSuffix(name, ".lock") || strings.Contains(name, "/pack/") {
					lines = append(lines, f.unify(name))
				}
			}
		case d.IsDir():
			lines = append(lines, f.unify(name)+"/")
		case d.Type()&os.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			lines = append(lines, f.unify(name)+" -> "+f.unify(target))
		default:
			lines = append(lines, f.unify(name)+" "+w.content(f, path, name))
		}
		return nil
	})
	if w.form == refsTable {
		for _, dir := range []string{".", "../remote.git"} {
			refs := w.try("git", "-C", dir, "for-each-ref", "--format=%(refname) %(objectname)")
			lines = append(lines, f.unify(refs.out+refs.err))
		}
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return fmt.Sprintf("%x %d", sum, objects)
}

// content returns the signature of one file.
func (w *faultWorld) content(f *faultTest, path, name string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "?"
	}
	data, _ := os.ReadFile(path)
	mode := info.Mode().String()
	if old, err := os.ReadFile(filepath.Join(f.template.root, name)); err == nil && bytes.Equal(old, data) {
		return mode + " as in the template"
	}
	if strings.HasSuffix(name, ".ref") {
		return mode + " a table"
	}
	return mode + " " + f.unify(string(data))
}

// unify replaces the parts of a text that differ between runs.
func (f *faultTest) unify(text string) string {
	text = objectName.ReplaceAllStringFunc(text, func(name string) string {
		if f.known[name] {
			return name
		}
		return "<object>"
	})
	text = tableName.ReplaceAllString(text, "$1$2")
	return clockText.ReplaceAllString(anonymous(text), "<time>")
}
