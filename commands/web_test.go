package commands

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/crunch"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		files, err := filepath.Glob(filepath.Join(filepath.FromSlash(layout.Folder(crunch.Name, "42")), "CP-*.yaml"))
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
