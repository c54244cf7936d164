//go:build unix

package main

import (
	"context"
	"path/filepath"
	"strings"
)

// startJGit starts two daemons of JGit, which speak git's own protocol. The second accepts
// no pushes.
func startJGit(_ context.Context, h *host) (*site, error) {
	if err := h.all(h.dir, "init -q --bare repos/git.git", "init -q --bare repos/other.git"); err != nil {
		return nil, err
	}
	daemon := func(args ...string) (string, error) {
		address, err := port()
		if err != nil {
			return "", err
		}
		// Debian's program jgit leaves a jar out of its class path.
		args = append([]string{"-cp", "/usr/share/java/*", "org.eclipse.jgit.pgm.Main", "daemon", "--export-all", "--listen", "127.0.0.1"}, args...)
		args = append(args, "--port", address[strings.LastIndex(address, ":")+1:], filepath.Join(h.dir, "repos"))
		return "git://" + address, h.serve(address, nil, h.program("java"), args...)
	}
	open, err := daemon("--enable", "receive-pack")
	if err != nil {
		return nil, err
	}
	closed, err := daemon("--disable", "receive-pack") // it closes the connection without a word
	return &site{
		transports: []transport{{"git", remote{url: open + "/git.git"}}},
		refusals:   []refusal{{reason: "pushes are disabled", remote: remote{url: closed + "/other.git"}, words: "Could not read from remote repository"}},
	}, err
}
