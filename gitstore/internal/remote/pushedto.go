package remote

import (
	"cmp"
	"slices"
	"strings"

	"git-checkpoint/gitstore/internal/git"
)

// PushedTo is where a push to a remote goes: the remote, or the place that its
// pushurl or url.<base>.pushInsteadOf names where that is another repository, as
// for a fork.
func PushedTo(config []git.ConfigEntry, name string) string {
	var fetches, pushes []string
	for _, e := range config {
		switch e.Key {
		case "remote." + name + ".url":
			fetches = append(fetches, e.Value)
		case "remote." + name + ".pushurl":
			pushes = append(pushes, e.Value)
		}
	}
	at := cmp.Or(fetches...)
	switch {
	case len(pushes) == 0:
		return pushedInstead(config, name, cmp.Or(at, name))
	case slices.Contains(pushes, at), strings.HasPrefix(pushes[0], "-"):
		return name
	}
	return pushes[0]
}

// pushedInstead is where pushInsteadOf sends a push to a URL, name where that is
// the same repository by another way, or nowhere else.
func pushedInstead(config []git.ConfigEntry, name, url string) string {
	to, rewritten := instead(config, ".pushinsteadof", url)
	from, _ := instead(config, ".insteadof", url)
	if !rewritten || samePlace(to, from) || strings.HasPrefix(to, "-") {
		return name
	}
	return to
}

// instead is a URL with its longest prefix replaced that a setting of
// url.<base> names.
func instead(config []git.ConfigEntry, setting, url string) (to string, rewritten bool) {
	to, longest := url, 0
	for _, e := range config {
		base, of := strings.CutPrefix(e.Key, "url.")
		base, ends := strings.CutSuffix(base, setting)
		if of && ends && len(e.Value) > longest && strings.HasPrefix(url, e.Value) {
			to, longest = base+url[len(e.Value):], len(e.Value)
		}
	}
	return to, longest > 0
}

// samePlace reports whether two URLs lead to one repository. Each way has a port of
// its own; on the same way, another port is another server.
func samePlace(a, b string) bool {
	way, _, _ := strings.Cut(a, "://")
	ports := strings.HasPrefix(b, way+"://")
	return place(a, ports) == place(b, ports)
}

// place is the host and the path of a URL, without the way to get there:
// git@host:a/b.git is https://host/a/b.
func place(url string, ports bool) string {
	url = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(url, "file://"), "/"), ".git")
	_, rest, web := strings.Cut(url, "://")
	if !web {
		host, path, scp := strings.Cut(url, ":")
		if !scp || strings.Contains(host, "/") {
			return url // a folder
		}
		rest = host + "/" + path
	}
	host, path, _ := strings.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	if i := strings.LastIndexByte(host, ':'); !ports && i > strings.LastIndexByte(host, ']') {
		host = host[:i]
	}
	return strings.ToLower(host) + "/" + strings.Trim(path, "/")
}
