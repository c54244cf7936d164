package web

import (
	"errors"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"git-checkpoint/commands/internal/invoke"
)

// openBrowser opens an address in the browser. The address has the token, and other users of
// the machine can read the arguments of a process. So the browser opens a file that only
// this user can read, and the file leads to the address. The returned function removes the
// file.
func openBrowser(c *invoke.Invocation, address string) (remove func(), err error) {
	dir, err := os.MkdirTemp("", "git-checkpoint-web-*") // mode 0700
	if err != nil {
		return func() {}, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	file := filepath.Join(dir, "open.html")
	if err := os.WriteFile(file, []byte(redirectTo(address)), 0o600); err != nil {
		return remove, err
	}
	argv := browserCommand(c.Env.Getenv("BROWSER"), file)
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return remove, errors.New("the program " + argv[0] + " was not found")
	}
	cmd := exec.Command(path, argv[1:]...)
	cmd.Env = c.Env.Environ
	if err := cmd.Start(); err != nil {
		return remove, err
	}
	go func() { _ = cmd.Wait() }()
	return remove, nil
}

// redirectTo returns a page that leads to an address at once.
func redirectTo(address string) string {
	address = html.EscapeString(address)
	return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer">` +
		`<meta http-equiv="refresh" content="0;url=` + address + `"><title>git-checkpoint</title><a href="` + address + `">Open the page</a></html>` + "\n"
}

// browserCommand returns the command that opens a file in the browser. browser is the
// variable BROWSER: a list of programs, whose first is used.
func browserCommand(browser, file string) []string {
	if first, _, _ := strings.Cut(browser, string(os.PathListSeparator)); first != "" && !strings.ContainsAny(first, " %") {
		return []string{first, file}
	}
	switch runtime.GOOS {
	case "darwin":
		return []string{"open", file}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", file}
	}
	return []string{"xdg-open", file}
}
