// Command equality compares the states of this program with those of the program before "one
// tree": refs/checkpoints/42:state and :staged with the tree of `export --as commits` and with
// git write-tree. It does so in random worlds, or in copies of repositories.
//
//	go run ./testdata/equality -old FILE [-new FILE] [-n 500] [-seed 1] [-v] [REPOSITORY...]
package main

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

var (
	before = flag.String("old", "", "the program before, a `file` with the name git-checkpoint")
	after  = flag.String("new", "", "this program, a `file`; by default it is built")
	worlds = flag.Int("n", 500, "random worlds")
	seed   = flag.Uint64("seed", 1, "seed of the first world")
	each   = flag.Bool("v", false, "print each difference that has a name, too")
)

func main() {
	flag.Parse()
	work, err := os.MkdirTemp("", "equality-")
	check(err)
	defer os.RemoveAll(work)
	if *after == "" {
		*after = filepath.Join(work, "git-checkpoint")
		run(".", "go", "build", "-o", *after, ".")
	}
	kinds, equal, total := map[string]int{}, 0, 0
	compare := func(name, world string) {
		total++
		differences := differ(world)
		if len(differences) == 0 {
			equal++
		}
		for _, d := range differences {
			kinds[d.kind]++
			if *each || d.kind == unnamed {
				fmt.Printf("%s: %s: %s\n", name, d.kind, d.text)
			}
		}
		check(os.RemoveAll(world))
	}
	for _, dir := range flag.Args() {
		world := filepath.Join(work, "world")
		run(".", "cp", "-a", dir, world)
		compare(dir, world)
	}
	for n := range *worlds {
		if flag.NArg() == 0 {
			compare(fmt.Sprint("seed ", *seed+uint64(n)), build(filepath.Join(work, "world"), *seed+uint64(n)))
		}
	}
	fmt.Printf("%d worlds, %d equal\n", total, equal)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Printf("%6d paths: %s\n", kinds[kind], kind)
	}
	if kinds[unnamed] > 0 {
		os.RemoveAll(work)
		os.Exit(1)
	}
}

// build makes a world with random operations. An operation that git refuses changes nothing.
func build(dir string, seed uint64) string {
	run(".", "git", "init", "-q", "-b", "main", dir)
	random := rand.New(rand.NewPCG(seed, 2))
	names := []string{"a", "d/b", "d/c", "n", "d/n", "x/y", "x/z", "d", "x", "ig.log", "d/k.log", "t.txt", "b\"\\ \xe9"}
	git := func(args ...string) { _, _ = try(dir, "git", args...) }
	for range 10 + random.IntN(40) {
		name := names[random.IntN(len(names))]
		path := filepath.Join(dir, name)
		clear := func() {
			os.RemoveAll(path)
			for up := filepath.Dir(path); up != dir; up = filepath.Dir(up) {
				if info, err := os.Lstat(up); err == nil && !info.IsDir() {
					os.Remove(up)
				}
			}
			os.MkdirAll(filepath.Dir(path), 0o777)
		}
		switch random.IntN(22) {
		case 0, 1, 2, 3, 4:
			clear()
			end := []string{"\n", "\r\n"}[random.IntN(2)]
			os.WriteFile(path, fmt.Appendf(nil, "text %d%send%s", random.IntN(5), end, end), 0o666)
		case 5:
			os.RemoveAll(path)
		case 6:
			clear()
			os.Symlink([]string{"a", "/etc", "d"}[random.IntN(3)], path)
		case 7:
			if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
				os.Chmod(path, info.Mode().Perm()^0o111)
			}
		case 8, 9:
			git("add", "-A", "--", name)
		case 10:
			git("add", []string{"-f", "-N"}[random.IntN(2)], "--", name)
		case 11:
			git(slices.Concat([]string{"rm", "-q", "-r", "-f"}, [][]string{{"--cached"}, {}}[random.IntN(2)], []string{"--", name})...)
		case 12, 13:
			git("add", "-A")
			git("commit", "-q", "-m", "all")
		case 14:
			git("commit", "-q", "-m", "staged")
		case 15:
			branch := []string{"main", "other"}[random.IntN(2)]
			git("branch", branch)
			git("switch", "-q", "-f", branch)
		case 16: // both branches change the name, or one removes it
			git("reset", "-q", "--hard")
			git("branch", "-f", "other")
			for _, branch := range []string{"other", "main"} {
				git("switch", "-q", branch)
				clear()
				if random.IntN(4) > 0 {
					os.WriteFile(path, fmt.Appendf(nil, "%s %d\n", branch, random.IntN(3)), 0o666)
				}
				git("add", "-A", "-f")
				git("commit", "-q", "-m", branch)
			}
			git("merge", "-q", "other")
		case 17:
			rules := []string{"*.log\n", "n\nx/\n", ".gitignore\n", "d\n!d/b\n", ""}[random.IntN(5)]
			os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(rules), 0o666)
		case 18:
			rules := []string{"*.txt text eol=crlf\n", "* text=auto\n", "a -text\n", "* text\n"}[random.IntN(4)]
			os.WriteFile(filepath.Join(dir, ".gitattributes"), []byte(rules), 0o666)
		case 19:
			git("stash", "-q", "-u")
			git("stash", "pop", "-q", "--index")
		case 20:
			git("update-index", []string{"--skip-worktree", "--assume-unchanged"}[random.IntN(2)], "--", name)
		case 21:
			if random.IntN(4) == 0 {
				run(".", "git", "init", "-q", filepath.Join(dir, "nest"))
				os.WriteFile(filepath.Join(dir, "nest/f"), []byte("f\n"), 0o666)
			}
		}
	}
	return dir
}
