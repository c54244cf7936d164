// Command compat runs scenarios of a user with several versions of git, or with other
// programs that read and write git repositories, and prints a Markdown table.
//
// Usage:
//
//	go run ./testdata/compat [-run REGEXP] [-pairs all] [-bin DIR] DIR...
//	go run ./testdata/compat -programs [-run REGEXP] [-bin DIR]
//	go run ./testdata/compat -runners [-run REGEXP] [-bin DIR]
//	go run ./testdata/compat -suite DIR [-objects FORMAT] [-refs FORMAT] [-run REGEXP] [-bin DIR]
//	go run ./testdata/compat -windows DIR [-objects FORMAT] [-run REGEXP]
//	go run ./testdata/compat -casefold DIR [-objects FORMAT] [-files NAMES] [-run REGEXP] [-bin DIR]
//
// Each DIR contains a git, for example bin-wrappers of a built source of git. The last
// DIR should be the newest version. Each version runs with itself, with refs in files and
// in a reftable, and with SHA-1 and SHA-256 objects, if git supports them. Each version
// also runs as the client and as the server of the newest version. The scenarios are the
// shell scripts in the folder versions.
//
// With -programs, the scripts in the folder programs run, with the git on PATH. The table
// names each script that was skipped because its program is not installed.
//
// With -runners, the scripts in the folder runners/jobs run with each runner of CI services
// in the folder runners/services. A job installs git-checkpoint from an archive of a release,
// by the action or the template of this repository.
//
// With -suite, git's own tests run, and git-checkpoint is compared with git in each
// repository that a test leaves behind. DIR is a built source of git.
//
// With -windows, the scenarios and the scripts in the folder windows run with git and
// git-checkpoint for Windows, under wine. The script windows-git makes DIR.
//
// With -casefold, the scenarios and the scripts in the folder casefold run in a virtual
// machine, on vfat, on ext4 with casefold, and on plain ext4. The script casefold-vm makes DIR.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

type options struct {
	run      *regexp.Regexp // scripts to run, by name
	programs bool           // other programs instead of versions of git
	runners  bool           // runners of CI services instead of versions of git
	all      bool           // each version with each other one
	suite    string         // built source of git, or ""
	windows  string         // folder of git for Windows, or ""
	casefold string         // folder of the virtual machine, or ""
	files    string         // file systems of the virtual machine
	objects  string         // object format of -suite, -windows and -casefold, or "" for both formats
	refs     string         // ref format of -suite, or "" for both formats
	bin      string         // folder of git-checkpoint, or "" to build it
	dirs     []string       // folders of the gits
}

func main() {
	var o options
	run := flag.String("run", "", "run only the scripts whose names match this regular expression")
	pairs := flag.String("pairs", "newest", "the pairs of versions: `newest` pairs each version with itself and the newest, all pairs each with each")
	flag.BoolVar(&o.programs, "programs", false, "run the scripts of other programs, with the git on PATH")
	flag.BoolVar(&o.runners, "runners", false, "run jobs with the runners of CI services that are on PATH")
	flag.StringVar(&o.suite, "suite", "", "compare with git in the repositories of git's own tests; `folder` is a built source of git")
	flag.StringVar(&o.windows, "windows", "", "run with git for Windows under wine, from a `folder` that testdata/compat/windows-git made")
	flag.StringVar(&o.casefold, "casefold", "", "run on file systems that ignore case, in a virtual machine from a `folder` that testdata/compat/casefold-vm made")
	flag.StringVar(&o.files, "files", "vfat,casefold,ext4", "with -casefold, the `names` of the file systems")
	flag.StringVar(&o.objects, "objects", "", "with -suite, -windows and -casefold, only this `format`: sha1 or sha256")
	flag.StringVar(&o.refs, "refs", "", "with -suite, only this `format`: files or reftable")
	flag.StringVar(&o.bin, "bin", "", "`folder` with git-checkpoint and git-checkpoint-sha256; by default both are built")
	flag.Parse()
	o.all, o.dirs = *pairs == "all", flag.Args()
	pattern, err := regexp.Compile(*run)
	if err == nil {
		o.run = pattern
		err = start(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compat:", err)
		os.Exit(1)
	}
}

// start builds git-checkpoint and runs the scripts.
func start(o options) error {
	work, err := os.MkdirTemp("", "compat-")
	if err != nil {
		return err
	}
	defer remove(work)
	if o.windows != "" {
		return runWindows(o, work)
	}
	if o.casefold != "" {
		return runCasefold(o, work)
	}
	if o.bin == "" {
		o.bin = filepath.Join(work, "bin")
		if err := build(o.bin, "", ""); err != nil {
			return err
		}
	}
	if o.bin, err = filepath.Abs(o.bin); err != nil {
		return err
	}
	if o.programs {
		return runPrograms(o, work)
	}
	if o.runners {
		return runRunners(o, work)
	}
	if o.suite != "" {
		return runSuite(o, work)
	}
	return runVersions(o, work)
}

// runVersions runs the scenarios for each pair of versions, and fails if a scenario
// failed.
func runVersions(o options, work string) error {
	if len(o.dirs) == 0 {
		return errors.New("no folder with a git is given")
	}
	scripts, err := readScripts(o.run, "versions")
	if err != nil {
		return err
	}
	var gits []version
	for i, dir := range o.dirs {
		v, err := wrap(dir, filepath.Join(work, fmt.Sprint("git", i)))
		if err != nil {
			return err
		}
		gits = append(gits, v)
	}
	return runCells(cells(gits, o.all), filepath.Join(work, "cell"), o.bin, scripts)
}

// runCells prints the table, and fails if a scenario failed.
func runCells(cells []cell, work, bin string, scripts []script) error {
	printHead(scripts)
	failed := false
	for _, c := range cells {
		r := c.run(work, bin, scripts)
		printRow(c, r)
		failed = failed || len(r.failed) > 0
	}
	if failed {
		return errors.New("a scenario failed")
	}
	return nil
}

// build builds the programs for both object formats in dir. goos is the target's system, or
// "" for this system, and overlay the file of the compiler's flag, or "".
func build(dir, goos, overlay string) error {
	for name, tag := range map[string]string{"git-checkpoint": "", "git-checkpoint-sha256": "sha256"} {
		if goos == "windows" {
			name += ".exe"
		}
		cmd := exec.Command("go", "build", "-overlay", overlay, "-tags", tag, "-o", filepath.Join(dir, name), ".")
		cmd.Env = append(os.Environ(), "GOOS="+goos)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w: %s", err, out)
		}
	}
	return nil
}
