package forge

import (
	"net/url"
	"strings"

	"git-checkpoint/freshness/issue"
)

// Kind is the API of a forge.
type Kind string

// The kinds of forges.
const (
	GitHub Kind = "github"
	GitLab Kind = "gitlab"
	Gitea  Kind = "gitea"
)

// A Site is a project on a forge.
type Site struct {
	Kind    Kind
	Web     string // scheme://host with optional port and path
	Project string // owner/name; GitLab also has owner/group/name
	Trusted bool   // trusted settings allow tokens of the environment for this host
}

// Host returns the host with its port, if any.
func (s Site) Host() string {
	u, err := url.Parse(s.Web)
	if err != nil {
		return ""
	}
	return u.Host
}

// Scheme returns https, or http if settings or remote specify http.
func (s Site) Scheme() string {
	scheme, _, _ := strings.Cut(s.Web, "://")
	return scheme
}

// IssueURL returns the web page of an issue.
func (s Site) IssueURL(number string) string {
	if s.Kind == GitLab {
		return s.Web + "/" + escapePath(s.Project) + "/-/issues/" + number
	}
	return s.Web + "/" + escapePath(s.Project) + "/issues/" + number
}

// api returns the API URL of an issue.
func (s Site) api(number string) string {
	switch s.Kind {
	case GitHub:
		return s.githubAPI() + "/repos/" + escapePath(s.Project) + "/issues/" + number
	case GitLab:
		return s.Web + "/api/v4/projects/" + url.PathEscape(s.Project) + "/issues/" + number
	}
	return s.Web + "/api/v1/repos/" + escapePath(s.Project) + "/issues/" + number
}

// githubAPI returns api.HOST on GitHub's own servers, and /api/v3 on Enterprise servers.
func (s Site) githubAPI() string {
	if host := s.Host(); githubCom(host) {
		return s.Scheme() + "://api." + host
	}
	return s.Web + "/api/v3"
}

func githubCom(host string) bool { return host == "github.com" || strings.HasSuffix(host, ".ghe.com") }

func escapePath(path string) string {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}

// names returns the JSON keys of the site's API.
func (s Site) names() issue.Names {
	if s.Kind == GitLab {
		return issue.Names{Number: "iid", Body: "description", Login: "username"}
	}
	return issue.Names{Number: "number", Body: "body", Login: "login"}
}
