package forge

import (
	"net/url"
	"strings"
)

// Home returns the address of the project's page, or "" if the site is not reached by
// https.
func (s Site) Home() string {
	u, err := url.Parse(s.Web)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return ""
	}
	return strings.TrimRight(u.String(), "/") + "/" + escapePath(s.Project)
}

// IssuePage returns the address of an issue's page, or "" if the key is not a number.
func (s Site) IssuePage(key string) string {
	if s.Home() == "" || key == "" || strings.Trim(key, "0123456789") != "" {
		return ""
	}
	return s.issueURL(key)
}

// CommitPage returns the address of a commit's page. id is a full object id.
func (s Site) CommitPage(id string) string {
	if s.Home() == "" || len(id) < 40 || strings.Trim(id, "0123456789abcdef") != "" {
		return ""
	}
	return s.Home() + s.infix() + "/commit/" + id
}

// BranchPage returns the address of a branch's page.
func (s Site) BranchPage(name string) string {
	if s.Home() == "" || name == "" {
		return ""
	}
	if s.Kind == Gitea {
		return s.Home() + "/src/branch/" + escapePath(name)
	}
	return s.Home() + s.infix() + "/tree/" + escapePath(name)
}

// infix returns the part of GitLab's addresses before the kind of page.
func (s Site) infix() string {
	if s.Kind == GitLab {
		return "/-"
	}
	return ""
}
