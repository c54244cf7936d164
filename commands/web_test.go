package commands

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math/rand"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/crunch"
	"git-checkpoint/gitstore/testing/gittest"
)

// A served is a repository in a temporary directory, and the page of git checkpoint web
// with --write for it.
type served struct {
	t      *testing.T
	url    string // address that the command printed
	client *http.Client
	end    func() int // ends the command and returns its exit code
}

func runEnv(out io.Writer) *invoke.Env {
	return &invoke.Env{
		Stdin: strings.NewReader(""), Stdout: out, Stderr: io.Discard, Environ: os.Environ(), Getenv: os.Getenv, Now: time.Now,
		Tty: func() (io.ReadWriteCloser, error) { return nil, io.EOF },
	}
}

// serve saves a checkpoint for each note, after the git commands, and runs the command.
func serve(t *testing.T, notes []string, git ...[]string) *served {
	t.Chdir(t.TempDir())
	for name, value := range map[string]string{"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_DEFAULT_HASH": gitstore.ObjectFormat, "HOME": t.TempDir()} {
		t.Setenv(name, value)
	}
	for _, args := range append([][]string{
		{"init", "-q", "."},
		{"-c", "user.name=Ann", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "first"},
	}, git...) {
		gitHere(t, args...)
	}
	for _, note := range notes {
		require.Zero(t, Run(t.Context(), runEnv(io.Discard), []string{"save", "42", "--phase", "implementing", "-m", note}))
	}
	r, w := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() { code <- Run(ctx, runEnv(w), []string{"web", "42", "--write", "--json"}) }()
	text, err := bufio.NewReader(r).ReadString('\n')
	require.NoError(t, err)
	var said struct {
		URL   string
		Write bool
	}
	require.NoError(t, json.Unmarshal([]byte(text), &said))
	assert.True(t, said.Write)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &served{t, said.URL, &http.Client{Jar: jar, Timeout: 2 * time.Minute}, func() int { stop(); return <-code }}
}

func gitHere(t *testing.T, args ...string) {
	out, err := exec.Command("git", args...).CombinedOutput()
	require.NoError(t, err, string(out))
}

// get returns the page at an address below the printed one.
func (s *served) get(path string) string {
	to, err := url.Parse(s.url)
	require.NoError(s.t, err)
	to.Path += path
	return s.read(s.client.Get(to.String()))
}

// read returns the body of an answer.
func (s *served) read(answer *http.Response, err error) string {
	require.NoError(s.t, err)
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	require.NoError(s.t, err)
	require.Equal(s.t, http.StatusOK, answer.StatusCode, string(page))
	return string(page)
}

// The page shows the result of status while the command runs. A request that only shows a page starts
// no mirror, also if the setting changes.
func TestWebServes(t *testing.T) {
	s := serve(t, []string{"half way"})
	gitHere(t, "config", "checkpoint.mirror", "claude")
	assert.Regexp(t, `^http://127\.0\.0\.1:[0-9]+/i/42\?token=[A-Z0-9]{26}$`, s.url)
	page := s.get("")
	for _, want := range []string{"half way", "git checkpoint resume 42", "Resumes unattended", "implementing", "Continue at"} {
		assert.True(t, strings.Contains(page, want), want)
	}
	assert.NoFileExists(t, ".git/git-checkpoint/mirror")

	gitHere(t, "update-ref", "-d", "refs/checkpoints/42") // no request restores it
	answer, err := s.client.Get(s.url)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusNotFound, answer.StatusCode)
	require.Error(t, exec.Command("git", "rev-parse", "-q", "--verify", "refs/checkpoints/42").Run())
	assert.Zero(t, s.end())
}

// The page shows which session got the work, as status does.
func TestWebShowsWhatStatusShowsBesideTheVerdict(t *testing.T) {
	s := serve(t, []string{"half way"}, []string{"switch", "-q", "-c", "fix-42"})
	assert.NotContains(t, s.get(""), "saved nothing since")
	env := runEnv(io.Discard)
	env.Stdin = strings.NewReader(`{"session_id":"0d5a0e0e-3d0c-4f86-8f6c-0d3f5a9b7c11","source":"startup"}`)
	require.Zero(t, Run(t.Context(), env, []string{"hook", "session-start", "claude"}))
	assert.Regexp(t, `to claude .*, saved nothing since`, s.get(""))
	assert.Zero(t, s.end())
}

// A change on the page updates the mirrored files before the answer.
func TestWebChangesUpdateTheMirror(t *testing.T) {
	s := serve(t, []string{"first", "second"}, []string{"config", "checkpoint.mirror", "crunch"})
	mirrored := func() []string {
		files, err := filepath.Glob(filepath.Join(filepath.FromSlash(strings.ReplaceAll(layout.Find(crunch.Name).Folder, "{issue}", "42")), "CP-*.yaml"))
		require.NoError(t, err)
		return files
	}
	require.Len(t, mirrored(), 2)
	id := regexp.MustCompile(`/c/(CP-[^/"?]+)`).FindStringSubmatch(s.get(""))[1]
	form := s.get("/c/" + id + "/drop")
	proof := regexp.MustCompile(`name="?proof"? value="([^"]+)"`).FindStringSubmatch(form)
	require.NotNil(t, proof, form)
	to, err := url.Parse(s.url)
	require.NoError(t, err)
	to.Path, to.RawQuery = to.Path+"/c/"+id+"/drop", ""
	s.read(s.client.PostForm(to.String(), url.Values{"proof": {proof[1]}}))
	require.Len(t, mirrored(), 1)
	assert.NotContains(t, mirrored()[0], id)
	assert.Zero(t, s.end())
}

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
	steps := 60
	switch {
	case gittest.Torture():
		steps = 200
	case testing.Short():
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
