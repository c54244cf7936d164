//go:build amd64

package commands

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/require"
)

// A faultTest is a row with one form of refs.
type faultTest struct {
	row   *faultRow
	args  []string
	form  refsForm
	table *faultTable
	dir   string
	git2  string
	every int            // test every nth stop
	first int            // number of stops before the first tested stop
	point *regexp.Regexp // only the first stop with this text, of kind
	kind  fault

	template             *faultWorld
	before, after, again faultState // states before the command, after one run, after two runs
	begun                faultState // after an interrupted and a second run
	code, codeAgain      int

	known    map[string]bool     // object names in the template's refs
	verdicts map[string]*verdict // by signature
	told     map[string]bool
}

func (f *faultTest) test(t *testing.T) {
	w := newFaultWorld(t, filepath.Join(f.dir, "template"), f.form, f.git2)
	f.template = w
	w.shares = slices.Contains([]string{"sync", "push", "fetch"}, f.row.args[0]) || slices.Contains(f.row.args, "--push")
	if f.row.prepare != nil {
		f.row.prepare(w)
	}
	w.settle()
	f.args = slices.Clone(f.row.args)
	if i := slices.Index(f.args, aboutID); i >= 0 {
		f.args[i] = w.ids("42")[1]
	}
	var err error
	f.before, err = w.state()
	require.NoError(t, err)
	if f.row.damage != nil {
		f.row.damage(w)
	}
	f.expect(t)
	f.known, f.verdicts = w.hashes(), map[string]*verdict{}
	if f.point != nil {
		problems, hit := f.inject(t, f.kind, 0)
		require.NotNil(t, hit, "%v is not among the calls", f.point)
		require.Empty(t, problems)
		return
	}
	for kind := range faultKinds {
		tried, failed := 0, 0
		n := f.count(t, kind)
		for at := 1 + (f.first+gittest.Day())%f.every; at <= n; at += f.every {
			problems, hit := f.inject(t, kind, at)
			if hit == nil {
				break // fewer calls than the previous run
			}
			tried++
			if len(problems) > 0 {
				failed++
				f.tell(t, fmt.Sprintf("%v at %d of %d, %v", kind, at, n, hit), problems)
			}
		}
		t.Logf("%v: %d of %d stops, %d failures, %d states so far", kind, tried, n, failed, len(f.verdicts))
		f.table.add(f.row.name, f.form, kind, faultCount{stops: n, tried: tried, failed: failed})
	}
	f.table.states(len(f.verdicts))
}

// tell reports problems, each only at its first occurrence.
func (f *faultTest) tell(t *testing.T, where string, problems []string) {
	text := strings.Join(problems, "\n\t")
	if f.told == nil {
		f.told = map[string]bool{}
	}
	if !f.told[text] {
		f.told[text] = true
		t.Errorf("%s:\n\t%s", where, text)
	}
}

// expect runs the command without fault, once and twice, and records the expected states.
func (f *faultTest) expect(t *testing.T) {
	w := f.template.copyTo(t, filepath.Join(f.dir, "expected"))
	o := w.try("git-checkpoint", f.args...)
	f.code = o.code
	var err error
	f.after, err = w.state()
	require.NoError(t, err)
	require.Truef(t, f.row.damage != nil || fmt.Sprint(f.before.shape(f.before), f.before.files, f.before.index) != fmt.Sprint(f.after.shape(f.before), f.after.files, f.after.index), "%s changes nothing: %s", o.name, o.err)
	require.Empty(t, w.sound())
	if f.row.begun != nil {
		b := f.template.copyTo(t, filepath.Join(f.dir, "begun"))
		f.row.begun(b)
		b.try("git-checkpoint", f.args...)
		f.begun, err = b.state()
		require.NoError(t, err)
		require.NoError(t, os.RemoveAll(b.root))
	}
	o = w.try("git-checkpoint", f.args...)
	f.codeAgain = o.code
	f.again, err = w.state()
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(w.root))
	if f.row.thins {
		f.before.thinned = map[string]bool{}
		for id := range f.before.ids {
			f.before.thinned[id] = f.after.ids[id] == "" || f.again.ids[id] == ""
		}
	}
}

func (f *faultTest) count(t *testing.T, kind fault) int {
	w := f.template.copyTo(t, filepath.Join(f.dir, "counted"))
	r, _ := w.fault(t, kind, 0, nil, f.args...)
	require.NoError(t, os.RemoveAll(w.root))
	return r.stops
}

// fault runs the program with a fault at a stop. A stop of zero injects nothing and
// counts the calls. If first is not nil, the stop is the first call that matches it.
func (w *faultWorld) fault(t *testing.T, kind fault, at int, first *regexp.Regexp, args ...string) (*faultRun, outcome) {
	t.Helper()
	r := &faultRun{
		cmd: w.command("git-checkpoint", args...), inside: w.root, fault: kind, at: at,
		stdout: filepath.Join(w.root, "out", "stdout"), stderr: filepath.Join(w.root, "out", "stderr"), first: first,
	}
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := os.Create(r.stdout)
	require.NoError(t, err)
	defer stdout.Close()
	stderr, err := os.Create(r.stderr)
	require.NoError(t, err)
	defer stderr.Close()
	r.cmd.Stdout, r.cmd.Stderr = stdout, stderr
	begin := time.Now()
	require.NoError(t, r.run())
	o := outcome{name: strings.Join(args, " "), code: r.cmd.ProcessState.ExitCode(), took: time.Since(begin)}
	o.out, o.err = readTrimmed(r.stdout), readTrimmed(r.stderr)
	return r, o
}

func readTrimmed(name string) string {
	data, _ := os.ReadFile(name)
	return strings.TrimSpace(string(data))
}

// A verdict is the result of the checks of a state after a fault.
type verdict struct {
	left     faultState
	problems []string
}

// inject runs the command with a fault at a stop and returns all problems afterwards.
// States with equal signatures are checked once.
func (f *faultTest) inject(t *testing.T, kind fault, at int) ([]string, *stop) {
	w := f.template.copyTo(t, filepath.Join(f.dir, "world"))
	defer os.RemoveAll(w.root)
	r, o := w.fault(t, kind, at, f.point, f.args...)
	if r.hit == nil {
		return nil, nil
	}
	c := &faultCheck{f: f, w: w, at: at, o: o, killed: kind == faultKill || kind == faultAlone}
	c.remoteBlind = kind == faultFiles && strings.HasPrefix(r.hit.path, "remote.git/")
	c.remoteTable = strings.HasPrefix(r.hit.path, "remote.git/reftable/")
	c.stuck = kind == faultEIO && strings.HasPrefix(r.hit.call, "unlink")
	if c.killed {
		w.later()
	}
	pending := 0 // 0, or 1 to 3 for the command that follows an interrupted restore
	if f.row.restores && w.pending() {
		pending = 1 + at/f.every%3
	}
	key := fmt.Sprintln(w.signature(f), o.code, c.killed, len(idText.FindAllString(o.out, -1)), pending, c.stuck)
	v := f.verdicts[key]
	if v == nil {
		c.checkLeft()
		v = &verdict{left: c.left}
		if len(c.problems) == 0 {
			c.checkNext()
		}
		v.problems = c.problems
		f.verdicts[key] = v
	}
	c.left, c.problems = v.left, slices.Clone(v.problems)
	if !c.killed {
		c.checkAnswer()
	}
	if len(c.problems) > 0 && len(v.problems) == 0 {
		c.problems = append(c.problems, fmt.Sprintf("it ended with exit %d: %q %q", o.code, o.out, o.err))
	}
	return c.problems, r.hit
}

// A faultCheck checks a world after a fault.
type faultCheck struct {
	f      *faultTest
	w      *faultWorld
	at     int
	o      outcome
	killed bool
	stuck  bool // a file removal failed

	remoteBlind bool // remote git failed to open a file
	remoteTable bool // remote git failed to write a reftable
	left        faultState
	problems    []string
}

func (c *faultCheck) wrong(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// checkLeft checks the state after the fault: checkpoints, files and output.
func (c *faultCheck) checkLeft() {
	f := c.f
	if f.row.damage != nil && c.o.code != f.code {
		return // damage remains
	}
	var err error
	if c.left, err = c.w.state(); err != nil {
		c.left = faultState{}
		c.wrong("%v", err)
		return
	}
	c.checkAlive(c.left)
	for _, id := range idText.FindAllString(c.o.out, -1) {
		if c.left.ids[id] == "" && f.before.ids[id] == "" {
			c.wrong("%s was printed and is not there", id)
		}
	}
	c.checkFiles(c.left)
	for _, problem := range c.w.sound() {
		c.wrong("%s", problem)
	}
}

// partly reports whether the command may have stopped between a chain and its archive. Then a
// checkpoint can be in both until the next command that changes one of them.
func (c *faultCheck) partly() bool {
	return c.killed || strings.Contains(c.o.err, "but not all that belongs to it")
}

// checkAlive fails if a checkpoint's place matches neither the old nor the expected
// state.
func (c *faultCheck) checkAlive(s faultState) {
	f := c.f
	for id, was := range f.before.ids {
		if is := s.ids[id]; is != was && is != f.after.ids[id] && !(is == isBoth && c.partly()) {
			c.wrong("%s was %s, is %q", id, was, is)
		}
	}
	for id, was := range f.before.remote {
		if is := s.remote[id]; is != was && is != f.after.remote[id] {
			c.wrong("%s was %s at the remote, is %q", id, was, is)
		}
	}
}

// leftover matches a temporary file of a killed process. The next replacement of the same
// file removes this leftover.
var leftover = regexp.MustCompile(`/\.[^/]+(\.git-checkpoint-\d+-\d+|\.\d+\.tmp)$`)

// excludeLeftover matches the leftover of info/exclude. No later command replaces that
// file if the line is in it.
var excludeLeftover = regexp.MustCompile(`^repo/\.git/info/\.exclude\.git-checkpoint-\d+-\d+$`)

// checkFiles fails if a file's content matches neither the old nor the expected state.
func (c *faultCheck) checkFiles(s faultState) {
	f := c.f
	for name := range unionOf(s.files, f.before.files, f.after.files) {
		if leftover.MatchString(name) {
			continue
		}
		is, there := s.files[name]
		was, wasThere := f.before.files[name]
		will, willBe := f.after.files[name]
		if (is != was || there != wasThere) && (is != will || there != willBe) {
			c.wrong("%s is neither as it was nor as it will be: %.300q", name, is)
		}
	}
	if s.index != f.before.index && s.index != f.after.index {
		c.wrong("the index is neither as it was nor as it will be:\n%s", s.index)
	}
	if s.heads != f.before.heads && s.heads != f.after.heads {
		c.wrong("branches are neither as they were nor as they will be: %s", s.heads)
	}
}

func unionOf(all ...map[string]string) map[string]bool {
	names := map[string]bool{}
	for _, m := range all {
		for name := range m {
			names[name] = true
		}
	}
	return names
}

// saysDone matches errors in which a failed command reports its changes.
var saysDone = regexp.MustCompile(`the change is made|is in the chain|export is incomplete|is not complete|(?m)^recorded: |but not all that belongs to it|the command itself is done|pushed to \S+, but|are restored, but|hint: git checkpoint (restore --(continue|abort)|undo|redo|sync|push)`)

// saysMoved matches results in which a failed command reports its changes.
var saysMoved = regexp.MustCompile(`: (fetched|pushed) \d+ checkpoint|^CP-\S+\t`)

// checkAnswer compares the command's output with actual changes.
func (c *faultCheck) checkAnswer() {
	f := c.f
	if c.left.files == nil {
		return // state is unreadable, or damage remains
	}
	if c.o.code == f.code {
		if strings.Contains(c.o.err, "warning: not saved") || strings.Contains(c.o.err, "warning: not pushed") {
			return // exit code belongs to the protected command or to the save, and a warning reports the failure
		}
		if c.remoteBlind && f.form == refsTable && !strings.Contains(c.o.err, "not pushed") {
			return // the remote's git cannot open its configuration, writes the ref as a file, and reports success
		}
		if c.remoteBlind && strings.Contains(c.o.out, ": no checkpoints on ") {
			return // the remote's git cannot open the folder or table, lists no refs, and exits with 0
		}
		if got, want := c.left.shape(f.before), f.after.shape(f.before); got != want {
			c.wrong("it succeeded and did not do it: %s, expected %s", got, want)
		}
		got, want := maps.Clone(c.left.files), maps.Clone(f.after.files)
		for _, ignored := range []string{"repo/.git/info/exclude"} { // a failure there is no failure of the command
			delete(got, ignored)
			delete(want, ignored)
		}
		if strings.Contains(c.o.err, "warning: mirror: ") { // the warning reports outdated mirrored files; the checkpoints are complete
			for _, files := range []map[string]string{got, want} {
				maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasPrefix(name, mirrored) })
			}
		}
		c.sameFiles(faultState{files: got, index: c.left.index}, faultState{files: want, index: f.after.index}, "it succeeded")
		return
	}
	if c.o.err == "" {
		c.wrong("it failed without a word")
	}
	if c.remoteTable && strings.Contains(c.o.err, ": reftable: transaction prepare: ") {
		return // the remote's git moves the ref, cannot compact its tables, and reports that no ref has moved
	}
	changed := c.left.shape(f.before) != f.before.shape(f.before) || !maps.Equal(c.left.files, f.before.files) || c.left.index != f.before.index
	if changed && !saysDone.MatchString(c.o.err) && !saysMoved.MatchString(c.o.out) {
		c.wrong("it failed, changed something and does not say so: %s %s", c.left.shape(f.before), changedFiles(c.left.files, f.before.files))
	}
}

// mirrored is the folder of the mirror row's files.
const mirrored = "repo/.claude/checkpoints/"

func changedFiles(a, b map[string]string) string {
	var names []string
	for name := range unionOf(a, b) {
		if a[name] != b[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func (c *faultCheck) sameFiles(got, want faultState, when string) {
	if names := changedFiles(got.files, want.files); names != "" {
		c.wrong("%s, and these files are not as they should be: %s", when, names)
	}
	if got.index != want.index {
		c.wrong("%s, and the index is not as it should be:\n%s", when, got.index)
	}
}

// checkNext runs the command again, or continues or aborts a restore.
func (c *faultCheck) checkNext() {
	f := c.f
	args, wants := f.args, []faultEnd{{f.code, &f.after}, {f.codeAgain, &f.again}}
	if f.row.begun != nil {
		wants = append(wants, faultEnd{f.code, &f.begun})
	}
	if f.row.restores && c.w.pending() {
		switch c.at / f.every % 3 {
		case 1:
			args, wants = []string{"restore", "--continue"}, []faultEnd{{failure.OK, &f.after}}
		case 2:
			want := &f.before
			if f.args[0] == "undo" || f.args[0] == "redo" {
				want = &f.after // a killed undo is finished
			}
			args, wants = []string{"restore", "--abort"}, []faultEnd{{failure.OK, want}}
		}
	}
	o := c.w.try("git-checkpoint", args...)
	if c.w.waited(o) {
		c.wrong("the next %s waited for a lock, it took %v: exit %d: %s", o.name, o.took, o.code, o.err)
	}
	state, err := c.w.state()
	if err != nil {
		c.wrong("after the next %s (exit %d: %s): %v", o.name, o.code, o.err, err)
		return
	}
	if c.w.shares && strings.Contains(o.err, "cannot lock ref") && len(locksIn(filepath.Join(c.w.root, "remote.git"))) > 0 {
		// The remote's git was killed. This program must not remove another repository's
		// locks. It reports the push error, and local data stays complete.
		c.checkAlive(state)
		return
	}
	if c.tableLocked(o) {
		c.checkAlive(state)
		return
	}
	if !slices.ContainsFunc(wants, func(e faultEnd) bool { return e.is(o.code, state, f.before) }) {
		c.wrong("the next %s ended with exit %d: %q %q, and left %s %s, expected exit %d and %s, or exit %d and %s", o.name, o.code, o.out, o.err,
			state.shape(f.before), changedFiles(state.files, wants[0].state.files), wants[0].code, wants[0].state.shape(f.before), f.codeAgain, f.again.shape(f.before))
	}
	for _, problem := range c.w.sound() {
		c.wrong("after the next command: %s", problem)
	}
	locks := slices.DeleteFunc(c.w.locks(), func(name string) bool {
		info, err := os.Stat(name)
		// An old lock stays until a command moves its ref. mirror.lock is permanent: the lock is on it, not its existence.
		return err == nil && time.Since(info.ModTime()) > time.Minute || filepath.Base(name) == "mirror.lock"
	})
	if len(locks) > 0 && !c.stuck {
		c.wrong("locks are left: %v", locks)
	}
	if f.row.undo && len(c.problems) == 0 && wants[0].state == &f.after {
		c.checkUndo()
	}
}

// locksIn returns the lock files in a repository.
func locksIn(dir string) []string {
	var locks []string
	_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".lock") {
			locks = append(locks, path)
		}
		return nil
	})
	return locks
}

// A faultEnd is a valid result of the next command.
type faultEnd struct {
	code  int
	state *faultState
}

func (e faultEnd) is(code int, s, before faultState) bool {
	files := maps.Clone(s.files)
	maps.DeleteFunc(files, func(name, _ string) bool { return excludeLeftover.MatchString(name) })
	return code == e.code && s.shape(before) == e.state.shape(before) && maps.Equal(files, e.state.files) && s.index == e.state.index && s.heads == e.state.heads
}

// checkUndo runs undo and checks that the old state returns.
func (c *faultCheck) checkUndo() {
	f := c.f
	o := c.w.try("git-checkpoint", "undo", "42")
	state, err := c.w.state()
	if err != nil {
		c.wrong("after undo (exit %d: %s): %v", o.code, o.err, err)
		return
	}
	if end := (faultEnd{failure.OK, &f.before}); !end.is(o.code, state, f.before) && !c.tableLocked(o) {
		c.wrong("undo ended with exit %d: %q %q, and left %s %s, expected %s", o.code, o.out, o.err, state.shape(f.before),
			changedFiles(state.files, f.before.files), f.before.shape(f.before))
	}
}

// tableLocked reports whether a command failed at the lock of a reftable or of packed refs
// that git failed to remove after the fault. Git has ended, so the lock's owner is unknown.
func (c *faultCheck) tableLocked(o outcome) bool {
	packed := strings.Contains(o.err, "packed-refs.lock': File exists")
	return c.stuck && (packed || strings.Contains(o.err, "tables.list.lock exists; if no git is running, remove it"))
}

// sound returns the problems that verify and git fsck find.
func (w *faultWorld) sound() []string {
	var problems []string
	dirs := []string{"."}
	if w.shares {
		dirs = append(dirs, "../remote.git")
	}
	for _, dir := range dirs {
		if o := w.try("git-checkpoint", "-C", dir, "verify"); o.code != 0 && o.code != failure.None {
			problems = append(problems, fmt.Sprintf("verify %s: exit %d: %s %s", dir, o.code, o.out, o.err))
		}
		if o := w.try("git", "-C", dir, "fsck", "--no-dangling", "--no-progress"); o.code != 0 || o.out+o.err != "" {
			problems = append(problems, fmt.Sprintf("fsck %s: exit %d: %s %s", dir, o.code, o.out, o.err))
		}
	}
	return problems
}
