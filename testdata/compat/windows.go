package main

import (
	"os"
	"os/exec"
	"path/filepath"
)

// runWindows runs the scenarios of all versions, and those of the folder windows, with the
// git for Windows that the script windows-git built. The scripts run in the shell of this
// system; git and git-checkpoint run under wine.
func runWindows(o options, work string) error {
	dir, err := filepath.Abs(o.windows)
	if err != nil {
		return err
	}
	bin := filepath.Join(dir, "bin")
	if err := build(bin, "windows", filepath.Join(dir, "overlay.json")); err != nil {
		return err
	}
	scripts, err := readScripts(o.run, "versions", "windows")
	if err != nil {
		return err
	}
	defer keepWine(dir)()
	v, err := versionOf(filepath.Join(bin, "git"))
	if err != nil {
		return err
	}
	v.dir, v.server, v.system = bin, "server-git", "windows"
	var list []cell
	for _, objects := range []string{"sha1", "sha256"} {
		if o.objects == "" || o.objects == objects {
			list = append(list, cell{v, v, objects, "files"})
		}
	}
	return runCells(list, filepath.Join(work, "cell"), bin, scripts)
}

// keepWine starts wine's server and services before the scripts, and returns a function that
// ends them. Otherwise each script would start them, and wait for them: a service keeps the
// output of the command that started it open.
func keepWine(dir string) (end func()) {
	run := func(program, argument string) {
		cmd := exec.Command(program, argument)
		cmd.Env = append(os.Environ(), "WINEPREFIX="+filepath.Join(dir, "prefix"))
		_ = cmd.Run() // if wine does not work, the scripts fail
	}
	const server = "/usr/lib/wine/wineserver64"
	run(server, "-p")
	run(filepath.Join(dir, "bin", "git"), "version")
	return func() { run(server, "-k") }
}
