package forge_test

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"git-checkpoint/freshness/issue"
	"git-checkpoint/freshness/issue/forge"
	"git-checkpoint/gitstore/testing/forgetest"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const secret = "ghp_verySecret0123456789"

// at is the fixed time of all tests.
var at = time.Date(2026, 2, 14, 14, 30, 0, 0, time.UTC)

var variable = map[forge.Kind]string{forge.GitHub: "GH_ENTERPRISE_TOKEN", forge.GitLab: "GITLAB_TOKEN", forge.Gitea: "GITEA_TOKEN"}

func server(t *testing.T) *forgetest.Server {
	s := forgetest.New("o/r")
	t.Cleanup(s.Close)
	s.Put("42", forgetest.FakeIssue{
		Title: "Refresh tokens", Body: "Tokens expire.\r\n\n😀 <b>\n", Labels: []string{"type:feature", "state:ready"}, Assignees: []string{"ada"},
	})
	return s
}

// ask returns a forge client for the server, with an optional token in its environment.
func ask(t *testing.T, kind forge.Kind, s *forgetest.Server, token string) *forge.Forge {
	t.Helper()
	return &forge.Forge{
		Site:    forge.Site{Kind: kind, Web: s.URL, Project: "o/r", Trusted: true},
		Cache:   filepath.Join(t.TempDir(), "cache"),
		Now:     func() time.Time { return at },
		Network: func(context.Context) forge.Network { return forge.Network{} },
		SignIn: forge.SignIn{Getenv: func(name string) string {
			if name == variable[kind] {
				return token
			}
			return ""
		}},
	}
}

func each(t *testing.T, do func(*testing.T, forge.Kind)) {
	for _, kind := range []forge.Kind{forge.GitHub, forge.GitLab, forge.Gitea} {
		t.Run(string(kind), func(t *testing.T) { do(t, kind) })
	}
}

func TestIssueIsNoNumber(t *testing.T) {
	t.Parallel()
	s := server(t)
	_, err := ask(t, forge.GitHub, s, "").Issue(t.Context(), "PROJ-42")
	require.EqualError(t, err, "issue PROJ-42 is not a number, but GitHub numbers its issues")
	assert.Empty(t, s.Requests())
}

// TestRefusals covers every failed request, with and without token. Errors must be one
// line, arrive in time, and quote neither server nor environment.
func TestRefusals(t *testing.T) {
	until := at.Add(10 * time.Minute).Format("15:04:05")
	for mode, want := range map[string][2]string{
		"hang":            {"timeout"},
		"trickle":         {"timeout"},
		"cut":             {"closed the connection before the end of the answer"},
		"500":             {"has an internal error (500)"},
		"503":             {"has an internal error (503)"},
		"401":             {"does not accept GH_ENTERPRISE_TOKEN (401)", "wants a token: gh auth login, or GITHUB_TOKEN (401)"},
		"403":             {"GH_ENTERPRISE_TOKEN is not allowed to read issue 42 of o/r (403)", "it takes a token to read issue 42 of o/r (403)"},
		"404":             {"there is no issue 42 in o/r, or GH_ENTERPRISE_TOKEN may not see it (404)", "there is no issue 42 in o/r, or a token is required: gh auth login, or GITHUB_TOKEN (404)"},
		"410":             {"issue 42 was deleted, or o/r has its issues elsewhere (410)"},
		"304":             {"redirects without a target (304)"},
		"418":             {"does not let anyone read issue 42 (418)"},
		"no-body":         {"does not let anyone read issue 42 (204)"},
		"limit":           {"its rate limit is reached until " + until + " UTC", "its rate limit is reached until " + until + " UTC; with a token it is higher: gh auth login, or GITHUB_TOKEN"},
		"secondary-limit": {"its rate limit is reached", "its rate limit is reached; with a token it is higher: gh auth login, or GITHUB_TOKEN"},
		"retry-after":     {"its rate limit is reached until 14:31:00 UTC", "its rate limit is reached until 14:31:00 UTC; with a token it is higher: gh auth login, or GITHUB_TOKEN"},
		"elsewhere":       {"redirects to another server, https://other.example, which is not followed"},
		"circle":          {"redirects in circles"},
		"gigabyte":        {"issue 42 is larger than 8 MiB"},
		"sorry-gigabyte":  {"has an internal error (500)"},
		"headers":         {"the headers of its answer are too large"},
		"html":            {"issue 42: the answer is a page of HTML, not JSON"},
		"invalid":         {"issue 42: the answer is not JSON that can be read"},
		"empty":           {"issue 42: the answer is not JSON that can be read"},
		"list":            {"issue 42: the answer is not JSON that can be read"},
		"types":           {"issue 42: line 1, column 31: title: want text"},
		"message":         {"issue 42: the answer is no issue: it has no number and title"},
		"another":         {"issue 42 was moved, and is issue 43 of another project now"},
	} {
		for k, token := range []string{secret, ""} {
			t.Run(fmt.Sprint(mode, " token ", token != ""), func(t *testing.T) {
				t.Parallel()
				s := server(t)
				s.Elsewhere = "https://other.example"
				s.Misbehave(mode)
				deadline, trace := gittest.NewDeadline(t), new(httptrace.ClientTrace)
				switch mode {
				case "hang":
					trace.WroteRequest = func(httptrace.WroteRequestInfo) { deadline.Pass() }
				case "trickle":
					trace.GotFirstResponseByte = deadline.Pass
				}
				got, err := issueOf(t, ask(t, forge.GitHub, s, token), httptrace.WithClientTrace(deadline, trace))
				require.Nil(t, got)
				text := want[k]
				if text == "" {
					text = want[0]
				}
				require.EqualError(t, err, strings.TrimPrefix(s.URL, "http://")+": "+text)
				var e *forge.RequestError
				require.ErrorAs(t, err, &e)
			})
		}
	}
}

// issueOf returns issue 42 of a server. It fails the test if the server's behaviour makes Issue
// hang.
func issueOf(t *testing.T, f *forge.Forge, ctx context.Context) (got *issue.Issue, err error) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); got, err = f.Issue(ctx, "42") }()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatal("Issue still waits for the server")
	}
	return got, err
}

func TestNotTLS(t *testing.T) {
	t.Parallel()
	s := server(t)
	f := ask(t, forge.GitLab, s, secret)
	f.Site.Web = "https" + strings.TrimPrefix(s.URL, "http")
	_, err := f.Issue(t.Context(), "42")
	require.EqualError(t, err, f.Site.Host()+": does not speak TLS")
}

func TestCertificate(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	f := &forge.Forge{Now: time.Now, Network: func(context.Context) forge.Network { return forge.Network{} }, Site: forge.Site{Kind: forge.GitLab, Web: s.URL, Project: "o/r"}, SignIn: forge.SignIn{Getenv: func(string) string { return "" }}}
	_, err := f.Issue(t.Context(), "42")
	require.EqualError(t, err, f.Site.Host()+": its certificate cannot be verified")

	file := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))
	f.Network = func(context.Context) forge.Network { return forge.Network{CAInfo: file} }
	_, err = f.Issue(t.Context(), "42")
	require.ErrorContains(t, err, "there is no issue 42")
	f.Network = func(context.Context) forge.Network { return forge.Network{CAInfo: file + "x"} }
	_, err = f.Issue(t.Context(), "42")
	require.ErrorContains(t, err, "cannot be asked: http.sslCAInfo is not a readable file of certificates")
}

func TestProxy(t *testing.T) {
	t.Parallel()
	s := server(t)
	f := ask(t, forge.GitLab, s, "")
	f.Site.Web = "http://forge.invalid"
	for proxy, want := range map[string]string{
		s.URL: "", strings.TrimPrefix(s.URL, "http://"): "", "http://ann:hunter2@%zz": "http.proxy is not the address of a proxy", "http://": "http.proxy is not the address of a proxy",
	} {
		f.Network = func(context.Context) forge.Network { return forge.Network{Proxy: proxy} }
		_, err := f.Issue(t.Context(), "42")
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "hunter2")
	}
	f.Network = func(context.Context) forge.Network { return forge.Network{Direct: true, Proxy: s.URL} }
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := f.Issue(ctx, "42")
	require.ErrorContains(t, err, "forge.invalid: ", "nothing but the proxy knows it")
}

// TestMemory reads a response of one gigabyte. It is not parallel, because it counts the
// allocations of the whole process.
func TestMemory(t *testing.T) {
	for mode, most := range map[string]uint64{"gigabyte": 100 << 20, "sorry-gigabyte": 10 << 20} {
		t.Run(mode, func(t *testing.T) {
			s := server(t)
			s.Misbehave(mode)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := ask(t, forge.GitHub, s, "").Issue(t.Context(), "42")
			require.Error(t, err)
			runtime.ReadMemStats(&after)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, most)
		})
	}
}

// TestRedirectToAnotherServerIsNotFollowed checks that redirects to another server receive neither token
// nor request.
func TestRedirectToAnotherServerIsNotFollowed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, kind forge.Kind) {
		s, other := server(t), server(t)
		s.Elsewhere = other.URL
		s.Misbehave("elsewhere")
		_, err := ask(t, kind, s, secret).Issue(t.Context(), "42")
		require.ErrorContains(t, err, "redirects to another server, "+other.URL)
		assert.NotEmpty(t, s.Secrets())
		assert.Empty(t, other.Requests())
		assert.Empty(t, other.Secrets())
	})
}

// TestCacheIsPrivate checks file modes, and that the cache contains no token.
func TestCacheIsPrivate(t *testing.T) {
	t.Parallel()
	s := server(t)
	s.Private(secret)
	f := ask(t, forge.GitHub, s, secret)
	_, err := f.Issue(t.Context(), "42")
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(f.Cache, "*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	data, err := os.ReadFile(files[0])
	require.NoError(t, err)
	assert.NotContains(t, string(data), secret)
	if runtime.GOOS != "windows" {
		info, err := os.Stat(files[0])
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		info, err = os.Stat(f.Cache)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	}
}

// TestBrokenCache checks that corrupt entries are ignored.
func TestBrokenCache(t *testing.T) {
	t.Parallel()
	s := server(t)
	f := ask(t, forge.GitHub, s, "")
	_, err := f.Issue(t.Context(), "42")
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(f.Cache, "*.json"))
	require.NoError(t, err)
	for _, text := range []string{"", "{", "null", `{"version":1}`, `{"version":2}`, strings.Repeat("[", 1000), `{"version":1,"url":"` + s.URL + `/api/v3/repos/o/r/issues/42","version":2}`} {
		require.NoError(t, os.WriteFile(files[0], []byte(text), 0o600))
		got, err := f.Issue(t.Context(), "42")
		require.NoError(t, err, text)
		assert.Equal(t, "Refresh tokens", got.Title)
	}
	f.Cache = filepath.Join(files[0], "below a file")
	_, err = f.Issue(t.Context(), "42")
	require.NoError(t, err)
}

// TestLimitIsKept checks that no request is sent before a rate limit ends, except with
// another credential.
func TestLimitIsKept(t *testing.T) {
	t.Parallel()
	s := server(t)
	s.Misbehave("limit")
	f := ask(t, forge.GitHub, s, "")
	_, err := f.Issue(t.Context(), "42")
	require.ErrorContains(t, err, "rate limit is reached until 14:40:00 UTC")
	_, again := f.Issue(t.Context(), "42")
	require.EqualError(t, again, err.Error())
	assert.Len(t, s.Requests(), 1)

	s.Misbehave("")
	f.SignIn.Getenv = func(string) string { return secret }
	_, err = f.Issue(t.Context(), "42")
	require.NoError(t, err)

	f.SignIn.Getenv = func(string) string { return "" }
	s.Misbehave("limit")
	_, err = f.Issue(t.Context(), "42")
	require.Error(t, err)
	s.Misbehave("")
	f.Now = func() time.Time { return at.Add(11 * time.Minute) }
	_, err = f.Issue(t.Context(), "42")
	require.NoError(t, err)
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	s := server(t)
	s.Misbehave("hang")
	ctx, cancel := context.WithCancel(t.Context())
	trace := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { cancel() }}
	_, err := issueOf(t, ask(t, forge.GitHub, s, ""), httptrace.WithClientTrace(ctx, trace))
	require.ErrorIs(t, err, context.Canceled)
}
