package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A cache is a folder with a folder for each installed package of npm.
type cache struct {
	dir string
	log io.Writer
}

// reach reports whether the registry of npm answers.
func (c cache) reach(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "npm", "ping").CombinedOutput()
	if err != nil {
		return fmt.Errorf("npm ping: %w: %s", err, lastLine(string(out)))
	}
	return nil
}

// install installs a package, unless the cache has it, and returns the folder of its
// programs.
func (c cache) install(ctx context.Context, folder, pkg string) (string, error) {
	dir := filepath.Join(c.dir, folder)
	bin := filepath.Join(dir, "node_modules", ".bin")
	if _, err := os.Stat(bin); err == nil {
		return bin, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private":true}`), 0o666); err != nil {
		return "", err
	}
	fmt.Fprintf(c.log, "install %s\n", pkg)
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--silent", pkg)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		os.RemoveAll(filepath.Join(dir, "node_modules"))
		return "", fmt.Errorf("npm install %s: %w: %s", pkg, err, lastLine(string(out)))
	}
	return bin, nil
}

// agent installs an agent, and Node.js if the installed version is too old for it. It
// returns the folders of both programs.
func (c cache) agent(ctx context.Context, a *agent) ([]string, error) {
	bin, err := c.install(ctx, a.name, a.pkg+"@latest")
	if err != nil || a.needsNode == "" || nodeIsAtLeast(ctx, a.needsNode) {
		return []string{bin}, err
	}
	node, err := c.install(ctx, "node", "node@"+a.needsNode)
	return []string{bin, node}, err
}

func nodeIsAtLeast(ctx context.Context, version string) bool {
	out, err := exec.CommandContext(ctx, "node", "--version").Output()
	major, _, _ := strings.Cut(strings.TrimPrefix(string(out), "v"), ".")
	have, convErr := strconv.Atoi(major)
	want, _ := strconv.Atoi(version)
	return err == nil && convErr == nil && have >= want
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
