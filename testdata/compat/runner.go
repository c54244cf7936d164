package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// runRunners runs each job with each runner of a CI service, and prints a table.
// git-checkpoint is not on PATH, because the job installs it from an archive.
func runRunners(o options, work string) error {
	var parts [3][]script // common functions, runners, jobs
	for i, folder := range []string{"runners", "runners/services", "runners/jobs"} {
		list, err := readScripts(regexp.MustCompile(""), folder)
		if err != nil {
			return err
		}
		parts[i] = list
	}
	var cells []script
	for _, service := range parts[1] {
		for _, job := range parts[2] {
			if name := service.name + " " + job.name; o.run.MatchString(name) {
				cells = append(cells, script{name, parts[0][0].text + service.text + job.text})
			}
		}
	}
	source, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	archive, sum, err := pack(o.bin, work)
	if err != nil {
		return err
	}
	return runTable(cells, work, filepath.SplitList(os.Getenv("PATH")), "SOURCE="+source, "RELEASE=file://"+archive, "SHA256="+sum)
}

// pack writes the programs of the folder bin to an archive with the paths of a release. It
// returns the path and the checksum of the archive.
func pack(bin, work string) (archive, sum string, err error) {
	archive = filepath.Join(work, "release.tar.gz")
	const script = `mkdir -p bin libexec/git-checkpoint
cp "$1/git-checkpoint" bin
cp "$1/git-checkpoint-sha256" libexec/git-checkpoint
tar -czf "$2" -C .. release`
	cmd := exec.Command("sh", "-ec", script, "-", bin, archive)
	cmd.Dir = filepath.Join(work, "release")
	if err := os.MkdirAll(cmd.Dir, 0o777); err != nil {
		return "", "", err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("pack a release: %w: %s", err, out)
	}
	data, err := os.ReadFile(archive)
	return archive, fmt.Sprintf("%x", sha256.Sum256(data)), err
}
