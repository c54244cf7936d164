package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math/rand"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/commands/internal/view"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// planned is the plan of the page or of the command: lines "<what> <path>", and the refusal.
type planned struct {
	Files   []string
	Refusal string
	Hint    string
}

// worlds makes random changes in the repository of the current directory.
type worlds struct {
	t    *testing.T
	r    *rand.Rand
	step int
}

func (w *worlds) pick(list ...string) string { return list[w.r.Intn(len(list))] }

// change makes one change. Commands that the state of the repository refuses change nothing.
func (w *worlds) change() {
	w.step++
	path := w.pick("a", "b", "dir/c", "dir/d", "new 1", "new 2")
	try := func(args ...string) { _ = exec.Command("git", args...).Run() }
	run := func(args ...string) { Run(w.t.Context(), runEnv(io.Discard), args) }
	switch w.r.Intn(12) {
	case 0, 1, 2, 3:
		require.NoError(w.t, os.MkdirAll("dir", 0o755))
		text := strings.Repeat("line\n", 1+w.r.Intn(3)) + fmt.Sprintf("%d\n", w.r.Intn(4)) + strings.Repeat("tail\n", 3)
		require.NoError(w.t, os.WriteFile(filepath.FromSlash(path), []byte(text), 0o644))
	case 4:
		_ = os.Remove(filepath.FromSlash(path))
	case 5:
		try("add", "-A")
	case 6:
		try("commit", "-qam", "a commit")
	case 7:
		try("switch", "-q", w.pick("main", "issue-42"))
	case 8:
		run("restore", "42", "--yes", "--changed", w.pick("merge", "checkpoint"), "latest~"+w.pick("0", "1", "2"))
		try("checkout", "-q", "--", ".") // no conflicts stay
	default:
		run("save", "42", "-m", fmt.Sprint("save ", w.step))
	}
}

// ofCommand returns the plan of restore --dry-run --json.
func ofCommand(t *testing.T, args ...string) (p planned) {
	var out, errs bytes.Buffer
	env := runEnv(&out)
	env.Stderr = &errs
	Run(t.Context(), env, append([]string{"restore", "42"}, args...))
	var r view.Restore
	if out.Len() > 0 {
		require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	}
	add := func(what string, paths []string) {
		for _, path := range paths {
			p.Files = append(p.Files, what+" "+path)
		}
	}
	add("would restore", slices.DeleteFunc(slices.Clone(r.Restored), func(path string) bool { return slices.Contains(r.Removed, path) }))
	add("would remove", r.Removed)
	add(view.LeftSince, r.Skipped)
	add(view.LeftInTheWay, r.InTheWay)
	add(view.LeftSparse, r.Sparse)
	add(view.HasConflicts, r.Conflicts)
	slices.Sort(p.Files)
	var refused struct{ Type, Message, Hint string }
	for text := range strings.Lines(errs.String()) {
		if json.Unmarshal([]byte(text), &refused) == nil && refused.Type == "error" {
			p.Refusal, p.Hint = refused.Message, refused.Hint
		}
	}
	return p
}

var (
	plannedRow = regexp.MustCompile(`<li><code>([^<]*)</code> <span class="st-text[^>]*>([^<]*)</span>`)
	wordsOfAll = []string{"would restore", "would remove", view.LeftSince, view.LeftInTheWay, view.LeftSparse, view.HasConflicts}
)

// ofPage returns the plan of a page.
func ofPage(page string) (files []string) {
	for _, row := range plannedRow.FindAllStringSubmatch(page, -1) {
		for what := range strings.SplitSeq(html.UnescapeString(row[2]), "; ") {
			what, _, _ = strings.Cut(what, ", from the earlier")
			if slices.Contains(wordsOfAll, what) {
				files = append(files, what+" "+html.UnescapeString(row[1]))
			}
		}
	}
	slices.Sort(files)
	return files
}

// The page plans a restore as the command does, in 200 random states of a repository: the same files,
// the same refusals with the same commands.
func TestPageAndCommandPlanTheSame(t *testing.T) {
	steps := 200
	if testing.Short() {
		steps = 20
	}
	s := serve(t, []string{"first"}, []string{"config", "checkpoint.min-interval", "0"})
	w := &worlds{t: t, r: rand.New(rand.NewSource(42))}
	gitHere(t, "branch", "-q", "-M", "main")
	gitHere(t, "config", "user.name", "Ann")
	gitHere(t, "config", "user.email", "a@example.com")
	gitHere(t, "branch", "-q", "issue-42")
	restored, refused := 0, 0
	for world := range steps {
		for range 1 + w.r.Intn(4) {
			w.change()
		}
		var list struct {
			Checkpoints []struct {
				ID string `json:"checkpoint_id"`
			}
		}
		var out bytes.Buffer
		require.Zero(t, Run(t.Context(), runEnv(&out), []string{"list", "42", "--json"}))
		require.NoError(t, json.Unmarshal(out.Bytes(), &list))
		id := list.Checkpoints[w.r.Intn(min(len(list.Checkpoints), 6))].ID
		args, q := []string{id, "--dry-run", "--json"}, url.Values{}
		if changed := w.pick("", "", "merge", "checkpoint", "mine"); changed != "" {
			args, q = append(args, "--changed", changed), url.Values{"changed": {changed}}
		}
		if w.r.Intn(4) == 0 {
			path := w.pick("a", "b", "dir/c", "new 1")
			args = append(args, "--", path)
			q.Set("path", path)
		}
		want := ofCommand(t, args...)
		page := s.ask("/c/"+id+"/restore", q)
		what := fmt.Sprintf("world %d: restore 42 %s", world, strings.Join(args, " "))
		require.Equal(t, want.Files, ofPage(page), what)
		if len(want.Files) > 0 {
			restored++
		}
		if want.Refusal != "" {
			refused++
			text := html.UnescapeString(page)
			assert.True(t, strings.Contains(text, want.Refusal), "%s: the page lacks %q", what, want.Refusal)
			for hint := range strings.SplitSeq(want.Hint, " or ") {
				assert.True(t, strings.Contains(text, hint), "%s: the page lacks %q", what, hint)
			}
		}
	}
	if !testing.Short() {
		assert.Greater(t, restored, steps/3, "the worlds are too quiet")
		assert.Greater(t, refused, steps/20, "the worlds refuse too little")
	}
	assert.Zero(t, s.end())
}

// ask returns a page below the printed address, with a query.
func (s *served) ask(path string, q url.Values) string {
	to, err := url.Parse(s.url)
	require.NoError(s.t, err)
	q.Set("token", to.Query().Get("token"))
	to.Path, to.RawQuery = to.Path+path, q.Encode()
	return s.read(s.client.Get(to.String()))
}
