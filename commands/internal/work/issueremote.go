package work

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/freshness/issue/forge"
	"git-checkpoint/gitstore"
)

// issueRemote returns the remote of the issue tracker's project: upstream, the branch's
// remote, origin, or the only remote, in this order. If project is set, it replaces the
// remote's project.
func issueRemote(entries []gitstore.ConfigEntry, branch, project string) (forge.Remote, error) {
	remote, err := remoteOf(entries, remoteNames(entries, branch))
	if project == "" {
		return remote, err
	}
	if remote, err = forge.Project(project, remote); err != nil {
		err = errors.New("issue_project: " + err.Error())
	}
	return remote, err
}

// remoteOf returns the first configured remote of a list of names.
func remoteOf(entries []gitstore.ConfigEntry, names []string) (forge.Remote, error) {
	for _, name := range names {
		if url, _ := gitstore.LastEntry(entries, "remote."+name+".url"); url.Value != "" {
			remote, err := forge.ParseRemote(insteadOf(entries, url.Value))
			if err != nil {
				err = errors.New("remote " + name + ": " + err.Error())
			}
			return remote, err
		}
	}
	return forge.Remote{}, errors.New("no remote names a server with issues")
}

// remoteNames returns the names of remotes that may have the issues, in order of
// precedence.
func remoteNames(entries []gitstore.ConfigEntry, branch string) []string {
	names := []string{"upstream"}
	if branch != "" {
		remote, _ := gitstore.LastEntry(entries, "branch."+branch+".remote")
		names = append(names, remote.Value)
	}
	names = append(names, "origin")
	var all []string
	for _, e := range entries {
		if name, ok := cutBoth(e.Key, "remote.", ".url"); ok && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	if len(all) == 1 {
		names = append(names, all...)
	}
	return names
}

// insteadOf applies url.<base>.insteadOf. The longest match wins.
func insteadOf(entries []gitstore.ConfigEntry, url string) string {
	best, base := "", ""
	for _, e := range entries {
		to, ok := cutBoth(e.Key, "url.", ".insteadof")
		if ok && strings.HasPrefix(url, e.Value) && len(e.Value) > len(best) {
			best, base = e.Value, to
		}
	}
	return base + url[len(best):]
}

// cutBoth returns the text between a prefix and a suffix.
func cutBoth(s, prefix, suffix string) (string, bool) {
	s, has := strings.CutPrefix(s, prefix)
	s, ends := strings.CutSuffix(s, suffix)
	return s, has && ends && s != ""
}

// network returns git's proxy and certificate settings for a site, including
// http.<url>.*.
func network(c *invoke.Invocation, ctx context.Context, site forge.Site) forge.Network {
	n := forge.Network{CAInfo: c.Env.Getenv("GIT_SSL_CAINFO")}
	out, err := c.Store.Git().Output(ctx, "config", "--null", "--get-urlmatch", "http", site.Web)
	if err != nil {
		return n // no such settings
	}
	for pair := range strings.SplitSeq(string(out), "\x00") {
		switch key, value, _ := strings.Cut(pair, "\n"); key {
		case "http.proxy":
			n.Proxy, n.Direct = value, value == ""
		case "http.sslcainfo":
			if home, ok := strings.CutPrefix(value, "~/"); ok {
				value = filepath.Join(c.Env.Getenv("HOME"), home)
			}
			n.CAInfo = cmp.Or(n.CAInfo, value)
		}
	}
	return n
}
