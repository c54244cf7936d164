package forge_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/freshness/issue/forge"
)

// all returns an environment with every token variable set.
func all(extra map[string]string) func(string) string {
	return func(name string) string {
		if v, ok := extra[name]; ok {
			return v
		}
		if strings.HasSuffix(name, "_TOKEN") {
			return "value-of-" + name
		}
		return ""
	}
}

// TestTokenGoesOnlyToItsOwnHost lists the variable used for each site if every variable
// is set.
func TestTokenGoesOnlyToItsOwnHost(t *testing.T) {
	t.Parallel()
	site := func(kind forge.Kind, host string, trusted bool) forge.Site {
		return forge.Site{Kind: kind, Web: "https://" + host, Project: "o/r", Trusted: trusted}
	}
	actions := map[string]string{"GITHUB_SERVER_URL": "https://ghe.example.com"}
	for _, c := range []struct {
		name string
		site forge.Site
		env  map[string]string
		want string
	}{
		{"github.com", site(forge.GitHub, "github.com", true), nil, "GH_TOKEN"},
		{"github.com, GH_TOKEN empty", site(forge.GitHub, "github.com", true), map[string]string{"GH_TOKEN": ""}, "GITHUB_TOKEN"},
		{"a job's token is not for another server", site(forge.GitHub, "github.com", true), map[string]string{"GH_TOKEN": "", "GITHUB_SERVER_URL": "https://ghe.example.com"}, ""},
		{"a job on Enterprise", site(forge.GitHub, "ghe.example.com", false), map[string]string{"GITHUB_SERVER_URL": "https://ghe.example.com", "GH_ENTERPRISE_TOKEN": "", "GITHUB_ENTERPRISE_TOKEN": ""}, "GITHUB_TOKEN"},
		{"Enterprise, in the settings", site(forge.GitHub, "ghe.example.com", true), nil, "GH_ENTERPRISE_TOKEN"},
		{"Enterprise, in GH_HOST", site(forge.GitHub, "ghe.example.com", false), map[string]string{"GH_HOST": "ghe.example.com"}, "GH_ENTERPRISE_TOKEN"},
		{"a host of the remote alone", site(forge.GitHub, "evil.example", false), actions, ""},
		{"gitlab.com", site(forge.GitLab, "gitlab.com", true), nil, "GITLAB_TOKEN"},
		{"gitlab.com, the token is for another", site(forge.GitLab, "gitlab.com", true), map[string]string{"GITLAB_HOST": "https://git.example.com/"}, ""},
		{"the other", site(forge.GitLab, "git.example.com", false), map[string]string{"GITLAB_HOST": "https://git.example.com/"}, "GITLAB_TOKEN"},
		{"a job", site(forge.GitLab, "git.example.com", false), map[string]string{"CI_SERVER_HOST": "git.example.com", "GITLAB_TOKEN": ""}, "CI_JOB_TOKEN"},
		{"a job's token stays at its server", site(forge.GitLab, "gitlab.com", true), map[string]string{"CI_SERVER_HOST": "git.example.com", "GITLAB_TOKEN": "", "GITLAB_ACCESS_TOKEN": ""}, ""},
		{"evil GitLab", site(forge.GitLab, "evil.example", false), nil, ""},
		{"gitea.com", site(forge.Gitea, "gitea.com", false), nil, ""},
		{"gitea in the settings", site(forge.Gitea, "git.example.com", true), nil, "GITEA_TOKEN"},
		{"gitea in the environment", site(forge.Gitea, "git.example.com", false), map[string]string{"GITEA_SERVER_URL": "https://git.example.com"}, "GITEA_TOKEN"},
		{"a job on Gitea", site(forge.Gitea, "git.example.com", false), map[string]string{"GITHUB_SERVER_URL": "https://git.example.com", "GITEA_TOKEN": "", "FORGEJO_TOKEN": ""}, "GITHUB_TOKEN"},
		{"a name that begins alike", site(forge.GitLab, "git.example.com.evil.example", false), map[string]string{"GITLAB_HOST": "git.example.com"}, ""},
		{"what cannot be in a header", site(forge.GitHub, "github.com", true), map[string]string{"GH_TOKEN": "a\nX: b", "GITHUB_TOKEN": "two words"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := forge.SignIn{Getenv: all(c.env)}.Find(t.Context(), c.site)
			assert.Equal(t, c.want, got.From)
			assert.Equal(t, c.want == "", got.IsZero())
		})
	}
}

// TestTokensStayEncrypted checks http sites known only from a remote URL.
func TestTokensStayEncrypted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		kind    forge.Kind
		env     map[string]string
		trusted bool
		want    string
	}{
		{"GitLab's host", forge.GitLab, map[string]string{"GITLAB_HOST": "git.example.com"}, false, ""},
		{"a job on GitLab", forge.GitLab, map[string]string{"CI_SERVER_URL": "https://git.example.com"}, false, ""},
		{"gh's host", forge.GitHub, map[string]string{"GH_HOST": "git.example.com"}, false, ""},
		{"a job on Enterprise", forge.GitHub, map[string]string{"GITHUB_SERVER_URL": "https://git.example.com"}, false, ""},
		{"Gitea's host", forge.Gitea, map[string]string{"GITEA_SERVER_URL": "https://git.example.com"}, false, ""},
		{"http in the environment", forge.GitLab, map[string]string{"GITLAB_HOST": "HTTP://git.example.com"}, false, "GITLAB_TOKEN"},
		{"http in the settings", forge.GitLab, map[string]string{"GITLAB_HOST": "git.example.com"}, true, "GITLAB_TOKEN"},
	} {
		t.Run(c.name, func(t *testing.T) {
			site := forge.Site{Kind: c.kind, Web: "http://git.example.com", Project: "o/r", Trusted: c.trusted}
			signIn := forge.SignIn{Getenv: all(c.env)}
			assert.Equal(t, c.want, signIn.Find(t.Context(), site).From)
		})
	}
}

func TestCredentialIsNotShown(t *testing.T) {
	t.Parallel()
	site := forge.Site{Kind: forge.GitHub, Web: "https://github.com", Project: "o/r", Trusted: true}
	c := forge.SignIn{Getenv: func(string) string { return secret }}.Find(t.Context(), site)
	require.False(t, c.IsZero())
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		assert.NotContains(t, fmt.Sprintf(verb, c), secret)
	}
}

// programs replaces gh and git's credential helper.
type programs struct {
	gh, git string
	calls   []string
}

func (p *programs) run(_ context.Context, stdin, name string, args ...string) (string, error) {
	p.calls = append(p.calls, name+" "+strings.Join(args, " ")+"\n"+stdin)
	out := map[string]string{"gh": p.gh, "git": p.git}[name]
	if out == "" {
		return "", errors.New("none")
	}
	return out, nil
}

func TestTokensOfGhAndCredentialHelper(t *testing.T) {
	t.Parallel()
	s := server(t)
	s.Private(secret)
	host := strings.TrimPrefix(s.URL, "http://")
	none := func(string) string { return "" }

	p := &programs{gh: secret + "\n"}
	f := ask(t, forge.GitHub, s, "")
	f.SignIn = forge.SignIn{Getenv: none, Run: p.run}
	_, err := f.Issue(t.Context(), "42")
	require.NoError(t, err)
	assert.Equal(t, []string{"gh auth token --hostname " + host + "\n"}, p.calls)

	p = &programs{git: "protocol=http\nhost=" + host + "\nusername=ann\npassword=" + secret + "\n"}
	f.SignIn.Run = p.run
	_, err = f.Issue(t.Context(), "42")
	require.NoError(t, err)
	assert.Equal(t, "git credential fill\nprotocol=http\nhost="+host+"\npath=o/r.git\n\n", p.calls[1])

	f = ask(t, forge.Gitea, s, "")
	f.SignIn = forge.SignIn{Getenv: none, Run: p.run}
	_, err = f.Issue(t.Context(), "42")
	require.ErrorContains(t, err, "does not accept git's credential helper (401)", "the server of the test knows no passwords")
	assert.Contains(t, s.Secrets(), "Authorization: Basic YW5uOmdocF92ZXJ5U2VjcmV0MDEyMzQ1Njc4OQ==")

	p.git = "protocol=https\nhost=evil.example\nusername=ann\npassword=other\n"
	_, err = f.Issue(t.Context(), "42")
	require.ErrorContains(t, err, " a token is required")
}

// TestExpiredPassword checks that a refused credential leads to a second request without
// it.
func TestExpiredPassword(t *testing.T) {
	t.Parallel()
	s := server(t)
	s.Private(secret)
	p := &programs{gh: "expired"}
	f := ask(t, forge.GitHub, s, "")
	f.SignIn.Run = p.run
	_, err := f.Issue(t.Context(), "42")
	require.ErrorContains(t, err, "does not accept gh (401)")
	assert.Len(t, s.Requests(), 2)
}
