package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// rowLimit is the time of the virtual machine for each row. On an idle machine, a scenario takes
// about ten seconds.
const rowLimit = 30 * time.Minute

// A fold identifies a row of the table: a file system with an object format.
type fold struct {
	files, objects string
	result
}

// runCasefold runs the scenarios of all versions, and those of the folder casefold, on file
// systems that ignore case. They run in a virtual machine, because few kernels support such
// file systems.
func runCasefold(o options, work string) error {
	dir, err := filepath.Abs(o.casefold)
	if err != nil {
		return err
	}
	o.casefold = dir
	if _, err := os.Stat(filepath.Join(dir, "complete")); err != nil {
		return fmt.Errorf("%s is not complete: run testdata/compat/casefold-vm %[1]s first", dir)
	}
	emulator, err := exec.LookPath("qemu-system-x86_64")
	if err != nil {
		return fmt.Errorf("the package qemu-system-x86 is not installed: %w", err)
	}
	scripts, err := readScripts(o.run, "versions", "casefold")
	if err != nil {
		return err
	}
	rows := foldRows(o)
	image, err := makeImage(o, work, scripts, rows)
	if err != nil {
		return fmt.Errorf("make the root file system: %w", err)
	}
	console, err := os.Create(filepath.Join(dir, "console"))
	if err != nil {
		return err
	}
	defer console.Close()
	printFoldHead(scripts)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, time.Duration(len(rows))*rowLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, emulator, "-nodefaults", "-no-reboot", "-display", "none", "-serial", "stdio",
		"-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "2048",
		"-kernel", filepath.Join(dir, "kernel"), "-initrd", image, "-append", "console=ttyS0 quiet panic=-1 rdinit=/init")
	return runMachine(ctx, cmd, console, rows)
}

// foldRows returns the rows of the table.
func foldRows(o options) []*fold {
	var rows []*fold
	for _, objects := range []string{"sha1", "sha256"} {
		for files := range strings.SplitSeq(o.files, ",") {
			if o.objects == "" || o.objects == objects {
				rows = append(rows, &fold{files: files, objects: objects})
			}
		}
	}
	return rows
}

// makeImage writes the initial root file system of the virtual machine: that of casefold-vm,
// git-checkpoint, the scripts and the rows.
func makeImage(o options, work string, scripts []script, rows []*fold) (string, error) {
	root := filepath.Join(work, "root")
	if err := os.MkdirAll(filepath.Join(root, "scripts"), 0o777); err != nil {
		return "", err
	}
	bin := filepath.Join(root, "usr", "local", "bin")
	if o.bin != "" {
		if err := os.CopyFS(bin, os.DirFS(o.bin)); err != nil {
			return "", err
		}
	} else if err := errors.Join(os.Setenv("CGO_ENABLED", "0"), build(bin, "", "")); err != nil {
		return "", err
	}
	boot, err := fs.ReadFile(files, "casefold/init")
	if err != nil {
		return "", err
	}
	v, err := versionOf("git")
	if err != nil {
		return "", err
	}
	var plan strings.Builder
	for _, r := range rows {
		fmt.Fprintln(&plan, r.files, r.objects)
	}
	texts := map[string]string{"init": string(boot), "rows": plan.String(), "variables": "SERVER=/usr/bin/git REFS=files SYSTEM= " + v.minorVariable()}
	for _, s := range scripts {
		texts["scripts/"+s.name+".sh"] = helpers + s.text
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o777); err != nil {
			return "", err
		}
	}
	image := filepath.Join(work, "image")
	cmd := exec.Command("sh", "-euc", `"$1/busybox" find . | "$1/busybox" cpio -o -H newc | cat "$1/root.cpio" - >"$2"`, "sh", o.casefold, image)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return image, nil
}

// runMachine starts the virtual machine, prints the rows, and fails if a scenario failed.
func runMachine(ctx context.Context, cmd *exec.Cmd, console io.Writer, rows []*fold) error {
	var stderr bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &stderr, 5*time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	complete := readResults(io.TeeReader(out, console), rows)
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("the virtual machine was stopped after at most %s for each file system: %w", rowLimit, ctx.Err())
	case err != nil:
		err = fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, stderr.Bytes())
	case !complete:
		err = errors.New("the virtual machine stopped too early")
	case slices.ContainsFunc(rows, func(r *fold) bool { return len(r.failed) > 0 || len(r.passed)+len(r.skipped) == 0 }):
		err = errors.New("a scenario failed")
	}
	return err
}

// readResults reads the console of the virtual machine until its end. It prints failures and
// finished rows at once, and reports whether all scripts ran.
func readResults(console io.Reader, rows []*fold) (complete bool) {
	var log []string
	why := ""
	lines := bufio.NewScanner(console)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		key, text, _ := strings.Cut(strings.TrimRight(lines.Text(), "\r"), ": ")
		switch key {
		case "skipped":
			why = " (" + text + ")"
		case "row":
			printFold(rows, text)
			log = nil
		case "result":
			complete = complete || text == "complete"
			if field := strings.Fields(text); len(field) >= 4 {
				addResult(rows, field, why, log)
			}
			why, log = "", nil
		default: // a line of a script's log, or of the kernel
			log = append(log, "    "+strings.TrimPrefix(strings.TrimRight(lines.Text(), "\r"), "log: "))
		}
	}
	if !complete && len(log) > 0 {
		fmt.Fprintln(os.Stderr, strings.Join(log, "\n"))
	}
	return complete
}

// addResult adds the result of a script to its row: file system, object format, name of the
// script, exit code, time.
func addResult(rows []*fold, field []string, why string, log []string) {
	for _, r := range rows {
		if r.files != field[0] || r.objects != field[1] {
			continue
		}
		switch name := field[2]; field[3] {
		case "0":
			r.passed = append(r.passed, name)
		case fmt.Sprint(skipped):
			r.skipped = append(r.skipped, name+why)
		default:
			r.failed = append(r.failed, name)
			fmt.Fprintf(os.Stderr, "%s, %s: %s: exit code %s\n%s\n", r.files, r.objects, name, field[3], strings.Join(log, "\n"))
		}
	}
}

func printFoldHead(scripts []script) {
	var names []string
	for _, s := range scripts {
		names = append(names, s.name)
	}
	fmt.Printf("%d scenarios: %s.\n\n", len(names), strings.Join(names, ", "))
	fmt.Println("| file system | objects | passed | failed | skipped |")
	fmt.Println("|---|---|---|---|---|")
}

// printFold prints the row with a name: file system and object format.
func printFold(rows []*fold, name string) {
	i := slices.IndexFunc(rows, func(r *fold) bool { return r.files+" "+r.objects == name })
	if i < 0 {
		return
	}
	r := rows[i]
	fmt.Printf("| %s | %s | %d | %s | %s |\n", r.files, r.objects, len(r.passed), strings.Join(r.failed, ", "), strings.Join(r.skipped, ", "))
}
