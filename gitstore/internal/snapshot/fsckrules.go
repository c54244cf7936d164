package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"path"
	"strings"

	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// checkReceived fails if servers with receive.fsckObjects would reject a staged file.
// Such a server would also reject every later checkpoint of the chain. Files that are
// unchanged since HEAD are not checked.
func (s *Capturer) checkReceived(ctx context.Context, staged []trees.Change) error {
	for _, c := range staged {
		if c.New.Hash.IsZero() || c.New.Mode == trees.ModeGitlink {
			continue
		}
		name := path.Base(c.Path)
		if !trees.IsModules(name) && !trees.IsAttributes(name) {
			continue
		}
		why, err := s.NotReceived(ctx, name, c.New)
		if err != nil {
			return err
		}
		if why != "" {
			return &repo.RefusedError{
				Reason: fmt.Sprintf("%s is staged, and %s: a server that checks received objects would reject every later checkpoint of this issue", failure.QuoteStrict(c.Path), why),
				Paths:  []string{c.Path},
				Hint:   "git restore --staged -- " + failure.QuoteStrict(c.Path),
			}
		}
	}
	return nil
}

// NotReceived returns the reason why a server would reject a file with a name that is
// special to git, or "".
func (s *Capturer) NotReceived(ctx context.Context, name string, f trees.Entry) (string, error) {
	if err := trees.CheckPath(name, f.Mode); err != nil {
		return "it is a symlink", nil
	}
	if trees.IsAttributes(name) {
		data, err := trees.ReadAs(s.repo.Objects, plumbing.BlobObject, f.Hash)
		if err != nil {
			return "", err
		}
		for line := range bytes.Lines(data) {
			if len(bytes.TrimSuffix(line, []byte("\n"))) >= maxAttributeLine {
				return fmt.Sprintf("has a line of %d bytes or more", maxAttributeLine), nil
			}
		}
		return "", nil
	}
	out, err := s.repo.Git.Output(ctx, "config", "--list", "--null", "--blob", f.Hash.String())
	if err != nil {
		return "", nil // if git cannot parse the file, a server only warns
	}
	for _, field := range git.Fields(out) {
		key, value, _ := strings.Cut(field, "\n")
		if why := badModule(key, value); why != "" {
			return why, nil
		}
	}
	return "", nil
}

// maxAttributeLine is git's line length limit for .gitattributes.
const maxAttributeLine = 2048

// badModule returns the reason why git rejects a setting of .gitmodules, or "". The rules
// are those of git's fsck_gitmodules_fn.
func badModule(key, value string) string {
	rest, ok := strings.CutPrefix(key, "submodule.")
	at := strings.LastIndexByte(rest, '.')
	if !ok || at < 0 {
		return ""
	}
	name, variable := rest[:at], rest[at+1:]
	switch {
	case badModuleName(name):
		return fmt.Sprintf("names a submodule %q", name)
	case variable == "url" && badModuleURL(value):
		return fmt.Sprintf("has a URL that git does not take, of submodule %q", name)
	case variable == "path" && strings.HasPrefix(value, "-"):
		return fmt.Sprintf("has a path that begins with a dash, of submodule %q", name)
	case variable == "update" && strings.HasPrefix(value, "!"):
		return fmt.Sprintf("has a command to run, of submodule %q", name)
	}
	return ""
}

// badModuleName reports whether a submodule name is empty or has a ".." component.
func badModuleName(name string) bool {
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '/' || r == '\\' }) {
		if part == ".." {
			return true
		}
	}
	return name == ""
}

// badModuleURL reports whether a URL starts like an option, contains a line break, or is
// a web URL without host.
func badModuleURL(text string) bool {
	decoded, err := url.PathUnescape(text)
	if err != nil {
		decoded = text
	}
	if strings.HasPrefix(text, "-") || strings.Contains(decoded, "\n") {
		return true
	}
	scheme, rest, web := strings.Cut(text, ":")
	if web = web && (scheme == "http" || scheme == "https" || scheme == "ftp" || scheme == "ftps"); !web {
		return false
	}
	host, ok := strings.CutPrefix(rest, "//")
	return !ok || host == "" || strings.HasPrefix(host, "/") || strings.HasPrefix(host, ":")
}
