package forge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/freshness/issue/forge"
)

func TestParseRemote(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want forge.Remote
	}{
		{"https://github.com/o/r.git", forge.Remote{Scheme: "https", Host: "github.com", Path: "o/r"}},
		{"https://x-access-token:hunter2@GitHub.com/o/r/", forge.Remote{Scheme: "https", Host: "github.com", Path: "o/r"}},
		{"git@github.com:o/r.git", forge.Remote{Scheme: "ssh", Host: "github.com", Path: "o/r"}},
		{"gitlab.com:g/sub/p", forge.Remote{Scheme: "ssh", Host: "gitlab.com", Path: "g/sub/p"}},
		{"ssh://git@git.example.com:2222/o/r", forge.Remote{Scheme: "ssh", Host: "git.example.com:2222", Path: "o/r"}},
		{"http://127.0.0.1:8080/o/r", forge.Remote{Scheme: "http", Host: "127.0.0.1:8080", Path: "o/r"}},
		{"git://example.org/o/r.git", forge.Remote{Scheme: "ssh", Host: "example.org", Path: "o/r"}},
	} {
		got, err := forge.ParseRemote(c.in)
		require.NoError(t, err, c.in)
		assert.Equal(t, c.want, got, c.in)
	}
	for _, in := range []string{
		"", "/srv/git/r.git", "../r", "./a:b/c", "C:/src/r", "c:\\src", "file:///srv/r", "https://github.com/", "https://github.com/o",
		"https:///o/r", "https://user:hunter2@ho st/o/r", "https://github.com/o/../r", "git@-oProxyCommand=x:o/r", "ext::sh -c o/r",
		"https://github.com/o/r\nhost: evil", "https://a%0d%0ab/o/r", "git@host:o/r s", "hunter2@:o/r", "%zz://hunter2@x/o/r",
		"https://user:123/hunter2@github.com/o/r", "user:hunter2@github.com:o/r",
	} {
		_, err := forge.ParseRemote(in)
		require.Error(t, err, in)
		assert.NotContains(t, err.Error(), "hunter2")
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	hosts := forge.Hosts{
		forge.GitHub: {"ghe.example.com", "https://two.example.com:8443"},
		forge.GitLab: {"https://dev.example.com/gitlab/", "http://127.0.0.1:8080"},
		forge.Gitea:  {"git.example.com"},
	}
	for _, c := range []struct {
		name, remote string
		kind         forge.Kind
		want         forge.Site
		err          string
	}{
		{"github.com", "git@github.com:o/r", "", forge.Site{forge.GitHub, "https://github.com", "o/r", true}, ""},
		{"over the other port", "ssh://git@ssh.github.com:443/o/r", "", forge.Site{forge.GitHub, "https://github.com", "o/r", true}, ""},
		{"data residency", "https://acme.ghe.com/o/r", "", forge.Site{forge.GitHub, "https://acme.ghe.com", "o/r", true}, ""},
		{"gitlab.com", "https://gitlab.com/g/s/p.git", "", forge.Site{forge.GitLab, "https://gitlab.com", "g/s/p", true}, ""},
		{"codeberg, whose tokens no variable holds", "https://codeberg.org/o/r", "", forge.Site{forge.Gitea, "https://codeberg.org", "o/r", false}, ""},
		{"http to a public host", "http://github.com/o/r", "", forge.Site{forge.GitHub, "https://github.com", "o/r", true}, ""},
		{"named", "git@ghe.example.com:o/r", "", forge.Site{forge.GitHub, "https://ghe.example.com", "o/r", true}, ""},
		{"named by URL, ssh", "ssh://git@two.example.com:2222/o/r", "", forge.Site{forge.GitHub, "https://two.example.com:8443", "o/r", true}, ""},
		{"named by URL, another port of the web", "https://two.example.com/o/r", "", forge.Site{}, "two.example.com is not known as a forge"},
		{"below a path", "https://dev.example.com/gitlab/g/p", "", forge.Site{forge.GitLab, "https://dev.example.com/gitlab", "g/p", true}, ""},
		{"beside that path", "https://dev.example.com/wiki/g/p", "", forge.Site{}, "dev.example.com is not known as a forge"},
		{"a test", "http://127.0.0.1:8080/o/r", "", forge.Site{forge.GitLab, "http://127.0.0.1:8080", "o/r", true}, ""},
		{"gitea", "https://git.example.com/o/r", "", forge.Site{forge.Gitea, "https://git.example.com", "o/r", true}, ""},
		{"unknown host", "https://evil.example/o/r", "", forge.Site{}, "evil.example is not known as a forge"},
		{"a name that ends alike", "https://notgithub.com/o/r", "", forge.Site{}, "notgithub.com is not known as a forge"},
		{"github.com.evil", "https://github.com.evil.example/o/r", "", forge.Site{}, "github.com.evil.example is not known as a forge"},
		{"unknown host, kind given: no tokens for it", "https://evil.example:99/o/r", forge.GitLab, forge.Site{forge.GitLab, "https://evil.example:99", "o/r", false}, ""},
		{"the same over ssh", "ssh://git@evil.example:22/o/r", forge.Gitea, forge.Site{forge.Gitea, "https://evil.example", "o/r", false}, ""},
		{"the wrong kind", "https://github.com/o/r", forge.GitLab, forge.Site{}, "github.com is no GitLab server"},
		{"too deep", "https://github.com/o/r/x", "", forge.Site{}, "o/r/x is no project on github.com: want owner/name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			remote, err := forge.ParseRemote(c.remote)
			require.NoError(t, err)
			got, err := forge.Choose(c.kind, remote, hosts)
			if c.err != "" {
				require.EqualError(t, err, c.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestChooseRefusesHosts(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{"ftp://x", "https://user:hunter2@x.example", "https://x.example?a=b", "a b", "-x", "https://", "x.example#y"} {
		_, err := forge.Choose("", forge.Remote{Scheme: "https", Host: "x.example", Path: "o/r"}, forge.Hosts{forge.GitHub: {entry}})
		require.ErrorContains(t, err, "is neither a host nor its URL", entry)
		assert.NotContains(t, err.Error(), "hunter2")
	}
}

func TestProject(t *testing.T) {
	t.Parallel()
	origin := forge.Remote{Scheme: "ssh", Host: "github.com", Path: "me/fork"}
	got, err := forge.Project("them/r", origin)
	require.NoError(t, err)
	assert.Equal(t, forge.Remote{Scheme: "ssh", Host: "github.com", Path: "them/r"}, got)
	got, err = forge.Project("https://gitlab.com/g/p", origin)
	require.NoError(t, err)
	assert.Equal(t, forge.Remote{Scheme: "https", Host: "gitlab.com", Path: "g/p"}, got)
	_, err = forge.Project("them/r", forge.Remote{})
	require.EqualError(t, err, "there is no remote: want a URL with the host")
	for _, text := range []string{"r", "../r", "a//b", "x:/y"} {
		_, err = forge.Project(text, origin)
		require.Error(t, err, text)
	}
}

func FuzzParseRemote(f *testing.F) {
	for _, s := range []string{"git@github.com:o/r.git", "https://u:p@h:1/a/b", "h:a/b", "ssh://[::1]:22/a/b", "https://h/%2e%2e/b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := forge.ParseRemote(text)
		if err != nil {
			return
		}
		s, err := forge.Choose(forge.GitLab, r, nil)
		if err != nil {
			return
		}
		assert.NotEmpty(t, s.Host(), text)
		assert.NotContains(t, s.Web, "@")
		assert.False(t, strings.ContainsAny(s.Web+s.Project, " \r\n\t\x00"), "%q", s)
	})
}
