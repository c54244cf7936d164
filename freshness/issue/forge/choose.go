package forge

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Hosts lists the servers of each kind from trusted settings. Entries have the form host,
// host:port, or URL; the URL has a path if the forge is not at the root.
type Hosts map[Kind][]string

// public maps well-known public servers to their kind.
var public = map[string]Kind{
	"github.com": GitHub, "gitlab.com": GitLab, "gitea.com": Gitea, "codeberg.org": Gitea,
}

// otherNames maps alternative SSH hosts, used if port 22 is blocked, to main hosts.
var otherNames = map[string]string{"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com"}

// Choose returns the site of a remote. If kind is "", Choose derives the kind from the
// host, which must be known. The error explains why no site was found.
func Choose(kind Kind, remote Remote, hosts Hosts) (Site, error) {
	s, err := choose(kind, remote, hosts)
	if err == nil && s.Kind != GitLab && strings.Count(s.Project, "/") != 1 {
		return Site{}, fmt.Errorf("%s is no project on %s: want owner/name", s.Project, s.Host())
	}
	return s, err
}

func choose(kind Kind, remote Remote, hosts Hosts) (Site, error) {
	if other, ok := otherNames[remote.name()]; ok {
		remote.Host = other
	}
	for _, k := range kinds {
		if kind == "" || kind == k {
			if s, err := named(k, remote, hosts[k]); err != nil || s.Kind != "" {
				return s, err
			}
		}
	}
	name := remote.name()
	known, found := public[name]
	if strings.HasSuffix(name, ".ghe.com") {
		known, found = GitHub, true
	}
	switch {
	case found && (kind == "" || kind == known):
		// By default, token variables of the environment belong to GitHub's and GitLab's
		// public servers. Gitea has no such server.
		return Site{Kind: known, Web: "https://" + name, Project: remote.Path, Trusted: known != Gitea}, nil
	case found:
		return Site{}, fmt.Errorf("%s is no %s server", name, kind.title())
	case kind == "":
		return Site{}, fmt.Errorf("%s is not known as a forge", name)
	}
	return Site{Kind: kind, Web: remote.web(), Project: remote.Path}, nil
}

// named searches the configured hosts for the remote's host.
func named(kind Kind, remote Remote, hosts []string) (Site, error) {
	for _, entry := range hosts {
		web, err := parseHost(entry)
		if err != nil {
			return Site{}, err
		}
		if project, ok := below(web, remote); ok {
			return Site{Kind: kind, Web: web.String(), Project: project, Trusted: true}, nil
		}
	}
	return Site{}, nil
}

// web returns the base URL of a host known only from a remote URL. It keeps scheme http,
// because git also uses that scheme.
func (r Remote) web() string {
	if r.Scheme == "ssh" {
		host := url.URL{Host: r.Host}
		return "https://" + strings.TrimSuffix(r.Host, ":"+host.Port()) // an SSH port
	}
	return r.Scheme + "://" + r.Host
}

// parseHost parses one entry of Hosts.
func parseHost(entry string) (*url.URL, error) {
	text := entry
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(strings.TrimRight(text, "/"))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		!plainHost(strings.ToLower(u.Host)) {
		return nil, fmt.Errorf("%q is neither a host nor its URL", withoutUser(entry))
	}
	u.Host = strings.ToLower(u.Host)
	return u, nil
}

// withoutUser removes user and password of a setting before its use in messages.
func withoutUser(text string) string { return text[strings.LastIndexByte(text, '@')+1:] }

// below returns the remote's project if its host matches the server. Ports are compared
// only between HTTP URLs.
func below(web *url.URL, remote Remote) (project string, ok bool) {
	if web.Hostname() != remote.name() {
		return "", false
	}
	if remote.Scheme != "ssh" && port(web.Scheme, web.Host) != port(remote.Scheme, remote.Host) {
		return "", false
	}
	project = remote.Path
	if prefix := strings.Trim(web.Path, "/"); prefix != "" && remote.Scheme != "ssh" {
		project, ok = strings.CutPrefix(project, prefix+"/")
		return project, ok && plainProject(project)
	}
	return project, true
}

func port(scheme, host string) string {
	u := url.URL{Host: host}
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"https": "443", "http": "80"}[scheme]
}

// Project returns remote with another project: owner/name, or a URL that replaces host
// and project.
func Project(text string, remote Remote) (Remote, error) {
	if strings.Contains(text, ":") {
		return ParseRemote(text)
	}
	if remote.Host == "" {
		return Remote{}, errors.New("there is no remote: want a URL with the host")
	}
	remote.Path = text
	return remote.checked()
}

var kinds = [...]Kind{GitHub, GitLab, Gitea}

func (k Kind) title() string {
	return map[Kind]string{GitHub: "GitHub", GitLab: "GitLab", Gitea: "Gitea"}[k]
}
