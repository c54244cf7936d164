package remote

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/repo"
)

// A Destination is the repository to which pushes of checkpoints go. If a remote has several push
// URLs, git pushes to each of them with the same lease, although their refs may differ. Checkpoints
// are pushed to the URL for fetches if it is a push URL, otherwise to the first push URL.
type Destination struct {
	URL    string   // "" if git does not know the remote
	Others []string // further push URLs, sorted
	Same   bool     // fetches read this repository too, so its remote-tracking refs are known

	isSpecial bool // git push needs other settings than those of the remote
}

// DestinationOf asks git where pushes to a remote or URL go.
func DestinationOf(ctx context.Context, r *repo.Repo, name string) Destination {
	g := r.Git
	if !Configured(r.Config, name) {
		g, name = withRemote(g, git.ConfigEntry{Key: "url", Value: name}), oneURL
	}
	d := Destination{Same: true}
	out, err := g.Output(ctx, "remote", "-v")
	if err != nil {
		return d
	}
	fetched, pushed := "", []string{}
	for line := range strings.Lines(string(out)) {
		of, line, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if at := strings.LastIndex(line, " (fetch)"); of == name && at >= 0 {
			fetched = line[:at]
		} else if url, isPush := strings.CutSuffix(line, " (push)"); of == name && isPush {
			pushed = append(pushed, url)
		}
	}
	if len(pushed) == 0 {
		return d
	}
	if d.URL = pushed[0]; slices.Contains(pushed, fetched) {
		d.URL = fetched
	}
	mirror, _ := git.Last(r.Config, "remote."+name+".mirror") // then git rejects single refspecs
	d.isSpecial = len(pushed) > 1 || d.URL != fetched || git.Bool(mirror)
	d.Same = isSame(d.URL, fetched)
	d.Others = slices.DeleteFunc(pushed, func(url string) bool { return url == d.URL || url == "" })
	slices.Sort(d.Others)
	d.Others = slices.Compact(d.Others)
	return d
}

// isSame reports whether two URLs name the same repository, maybe by different protocols: their
// hosts and their paths are equal. Each protocol uses its own port.
func isSame(a, b string) bool {
	scheme, _, _ := strings.Cut(a, "://")
	ports := strings.HasPrefix(b, scheme+"://")
	return place(a, ports) == place(b, ports)
}

// place returns host and path of a URL without its scheme and user, so that git@host:a/b.git
// equals https://host/a/b.
func place(url string, ports bool) string {
	url = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(url, "file://"), "/"), ".git")
	_, rest, hasScheme := strings.Cut(url, "://")
	host, path, isSCP := strings.Cut(url, ":")
	switch {
	case hasScheme:
		host, path, _ = strings.Cut(rest, "/")
	case !isSCP || strings.Contains(host, "/"):
		return url // local directory
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	if i := strings.LastIndexByte(host, ':'); !ports && i > strings.LastIndexByte(host, ']') {
		host = host[:i]
	}
	return strings.ToLower(host) + "/" + strings.Trim(path, "/")
}

// oneURL is the name of a remote that exists only in the environment of a git process.
const oneURL = "git-checkpoint-push"

// withRemote adds settings of the remote oneURL to the environment of git. Arguments of a process
// are visible to other users, and a URL may contain a password.
func withRemote(g git.Git, settings ...git.ConfigEntry) git.Git {
	count, _ := strconv.Atoi(os.Getenv("GIT_CONFIG_COUNT"))
	for _, e := range settings {
		g = g.With(fmt.Sprintf("GIT_CONFIG_KEY_%d=remote.%s.%s", count, oneURL, e.Key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", count, e.Value))
		count++
	}
	return g.With(fmt.Sprintf("GIT_CONFIG_COUNT=%d", count))
}

// sendTo makes the connection one to the destination of pushes.
func (l *Conn) sendTo(d Destination) {
	l.Bundle = isBundle(cmp.Or(l.repo.Info.Root, l.git.Dir), d.URL)
	if !d.isSpecial {
		return
	}
	settings := []git.ConfigEntry{{Key: "url", Value: d.URL}}
	for _, e := range l.repo.Config {
		key, ok := strings.CutPrefix(e.Key, "remote."+l.Remote+".")
		if ok && !slices.Contains([]string{"url", "pushurl", "mirror"}, key) {
			settings = append(settings, git.ConfigEntry{Key: key, Value: e.Value})
		}
	}
	l.git, l.from = withRemote(l.git, settings...), oneURL
}

// isBundle reports whether a URL is a bundle file, which begins with "# v". Git resolves a relative
// path from the root of the worktree.
func isBundle(root, url string) bool {
	file := strings.TrimPrefix(url, "file://")
	if !filepath.IsAbs(file) {
		file = filepath.Join(root, file)
	}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() { // a pipe would block the read
		return false
	}
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, 3)
	n, _ := f.Read(start)
	return string(start[:n]) == "# v"
}
