package commands

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"git-checkpoint/commands/internal/invoke"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The page shows the result of status while the command runs.
func TestWebServes(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, value := range map[string]string{"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1", "HOME": t.TempDir()} {
		t.Setenv(name, value)
	}
	for _, args := range [][]string{
		{"init", "-q", "."},
		{"-c", "user.name=Ann", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "first"},
	} {
		out, err := exec.Command("git", args...).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	env := func(out io.Writer) *invoke.Env {
		return &invoke.Env{
			Stdin: strings.NewReader(""), Stdout: out, Stderr: io.Discard, Environ: os.Environ(), Getenv: os.Getenv, Now: time.Now,
			Tty: func() (io.ReadWriteCloser, error) { return nil, io.EOF },
		}
	}
	require.Zero(t, Run(t.Context(), env(io.Discard), []string{"save", "42", "--phase", "implementing", "-m", "half way"}))

	r, w := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() { code <- Run(ctx, env(w), []string{"web", "42", "--write", "--json"}) }()
	text, err := bufio.NewReader(r).ReadString('\n')
	require.NoError(t, err)
	var said struct {
		URL   string
		Write bool
	}
	require.NoError(t, json.Unmarshal([]byte(text), &said))
	assert.True(t, said.Write)
	assert.Regexp(t, `^http://127\.0\.0\.1:[0-9]+/i/42\?token=[A-Z0-9]{26}$`, said.URL)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	answer, err := (&http.Client{Jar: jar, Timeout: 20 * time.Second}).Get(said.URL)
	require.NoError(t, err)
	page, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	answer.Body.Close()
	for _, want := range []string{"half way", "git checkpoint resume 42", "Unattended", "implementing", "Goes on at"} {
		assert.True(t, strings.Contains(string(page), want), want)
	}
	stop()
	assert.Zero(t, <-code)
}
