//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
)

// javaJars is Debian's class path. Its program jgit leaves a jar out.
const javaJars = "/usr/share/java/*"

// jgitServlet serves the repositories of a folder over HTTP, with JGit's servlet.
const jgitServlet = `import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;
import org.eclipse.jgit.http.server.GitServlet;

class Servlet {
	public static void main(String[] args) throws Exception {
		Server server = new Server(new java.net.InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])));
		ServletHolder git = new ServletHolder(new GitServlet());
		git.setInitParameter("base-path", args[1]);
		git.setInitParameter("export-all", "true");
		new ServletContextHandler(server, "/").addServlet(git, "/*");
		server.start();
		server.join();
	}
}
`

// jgitShell runs JGit instead of the git program that a client asks sshd for. It has the
// path of java and the folder of the repositories.
const jgitShell = `#!/bin/sh
set -- $SSH_ORIGINAL_COMMAND
name=$(echo "$2" | tr -d "'/")
case $1 in
git-upload-pack | git-receive-pack) ;;
*) echo "no git command: $1" >&2; exit 1 ;;
esac
exec %s -XX:TieredStopAtLevel=1 -cp '` + javaJars + `' org.eclipse.jgit.pgm.Main "${1#git-}" "%s/$name"
`

// startJGit starts servers of JGit for git's own protocol, HTTP, and ssh. A second daemon
// and a second repository of the servlet accept no pushes.
func startJGit(_ context.Context, h *host) (*site, error) {
	repos := filepath.Join(h.dir, "repos")
	for _, name := range []string{"git", "http", "ssh", "other"} {
		if err := h.all(h.dir, "init -q --bare repos/"+name+".git"); err != nil {
			return nil, err
		}
	}
	for name, enabled := range map[string]string{"http": "true", "other": "false"} {
		if err := h.all(filepath.Join(repos, name+".git"), "config http.receivepack "+enabled); err != nil {
			return nil, err
		}
	}
	open, err := h.jgitDaemon(repos, "--enable")
	if err != nil {
		return nil, err
	}
	closed, err := h.jgitDaemon(repos, "--disable") // it closes the connection without a word
	if err != nil {
		return nil, err
	}
	web, err := h.jgitServlet(repos)
	if err != nil {
		return nil, err
	}
	ssh, err := h.jgitOverSSH(repos)
	return &site{
		transports: []transport{{"git", remote{url: open + "/git.git"}}, {"HTTP", remote{url: web + "/http.git"}}, {"ssh", remote{ssh + "/ssh.git", "ann"}}},
		refusals: []refusal{
			{reason: "pushes are disabled", remote: remote{url: closed + "/other.git"}, words: "Could not read from remote repository"},
			{reason: "pushes are disabled, HTTP", remote: remote{url: web + "/other.git"}, words: "Service not enabled"},
		},
	}, err
}

// jgitDaemon starts JGit's daemon with receive-pack enabled or disabled.
func (h *host) jgitDaemon(repos, receivePack string) (url string, err error) {
	address, err := port()
	if err != nil {
		return "", err
	}
	return "git://" + address, h.serve(address, nil, h.program("java"), "-cp", javaJars, "org.eclipse.jgit.pgm.Main", "daemon", "--export-all",
		"--listen", "127.0.0.1", receivePack, "receive-pack", "--port", portOf(address), repos)
}

func (h *host) jgitServlet(repos string) (url string, err error) {
	address, err := port()
	if err != nil {
		return "", err
	}
	source := filepath.Join(h.dir, "Servlet.java")
	if err := os.WriteFile(source, []byte(jgitServlet), 0o666); err != nil {
		return "", err
	}
	return "http://" + address, h.serve(address, nil, h.program("java"), "-cp", javaJars, source, portOf(address), repos)
}

func (h *host) jgitOverSSH(repos string) (url string, err error) {
	ann, err := h.key("ann")
	if err != nil {
		return "", err
	}
	shell := filepath.Join(h.dir, "jgit-shell")
	if err := os.WriteFile(shell, fmt.Appendf(nil, jgitShell, h.program("java"), repos), 0o755); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Join(h.dir, ".ssh"), 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(h.dir, ".ssh", "authorized_keys"), []byte(ann+"\n"), 0o600); err != nil {
		return "", err
	}
	me, err := user.Current()
	if err != nil {
		return "", err
	}
	address, err := h.sshd("ForceCommand " + shell + "\n")
	return "ssh://" + me.Username + "@" + address, err
}

func portOf(address string) string { return address[strings.LastIndex(address, ":")+1:] }
