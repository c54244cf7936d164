package commands

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// rowShim runs scripts, and in each one a subtest for every row of the
// acceptance list that it shows, named after the row: a row fails with the
// steps that have it above them, whatever else fails in the script.
type rowShim struct {
	*testing.T
	rows map[string][]string // by script
}

func newRowShim(t *testing.T) rowShim {
	rows := map[string][]string{}
	for _, r := range rowTable(t) {
		for place := range strings.SplitSeq(r.where, ", ") {
			if script, ok := strings.CutPrefix(place, "script "); ok {
				rows[script] = append(rows[script], r.id)
			}
		}
	}
	return rowShim{t, rows}
}

func (s rowShim) Verbose() bool { return testing.Verbose() }

// Run gives the script a goroutine of its own, so that the rows are told of
// after one that failed.
func (s rowShim) Run(name string, f func(testscript.T)) {
	s.T.Run(name, func(t *testing.T) {
		run := &scriptRun{T: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			f(run)
		}()
		<-done
		for _, id := range s.rows[name] {
			t.Run(id, func(t *testing.T) { run.show(t, name, id) })
		}
		switch {
		case run.failed:
			t.FailNow()
		case run.skipped:
			t.SkipNow()
		}
	})
}

// scriptRun is the T of one script.
type scriptRun struct {
	*testing.T
	failed, skipped bool
	text            strings.Builder
}

func (r *scriptRun) Run(string, func(testscript.T)) { panic("a script has no scripts of its own") }

func (r *scriptRun) Verbose() bool { return testing.Verbose() }

func (r *scriptRun) Log(args ...any) {
	r.T.Log(args...)
	fmt.Fprintln(&r.text, args...)
}

func (r *scriptRun) Skip(args ...any) {
	r.T.Log(args...)
	r.skipped = true
	runtime.Goexit()
}

func (r *scriptRun) Fatal(args ...any) {
	r.T.Log(args...)
	r.FailNow()
}

func (r *scriptRun) FailNow() {
	r.failed = true
	runtime.Goexit()
}

// show fails where a step of the row does. A script that needs a terminal is
// skipped where tests have none.
func (r *scriptRun) show(t *testing.T, script, id string) {
	if r.skipped && runtime.GOOS != "linux" {
		t.Skip("the script needs more than there is here")
	}
	require.False(t, r.skipped, "the script is skipped")
	data, err := os.ReadFile("../testdata/script/" + script + ".txtar")
	require.NoError(t, err)
	failures := r.failures(script)
	require.False(t, r.failed && len(failures) == 0, "the script did not run")
	for _, s := range stepsOf(string(data)) {
		inStep := func(line int) bool { return s.first <= line && line <= s.last }
		if at := slices.IndexFunc(failures, inStep); at >= 0 && mentions(s.comments, id) {
			t.Errorf("%s.txtar:%d: the step %q fails", script, failures[at], strings.TrimSpace(s.comments))
		}
	}
}

// failures are the lines of the script that failed.
func (r *scriptRun) failures(script string) []int {
	var lines []int
	for _, m := range regexp.MustCompile(`(?m)^FAIL: \S*`+regexp.QuoteMeta(script)+`\.txtar:(\d+): `).FindAllStringSubmatch(r.text.String(), -1) {
		n, _ := strconv.Atoi(m[1])
		lines = append(lines, n)
	}
	return lines
}
