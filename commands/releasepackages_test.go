package commands

import (
	"crypto/sha512"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A packageCase installs a package of a release in an empty directory, checks it and removes
// it. Shell commands run in the release's directory with these variables: ROOT, the empty
// directory; VERSION; ARCH and NODE, the names of this processor for packages and for npm;
// TESTDATA; and REGISTRY, the URL of an npm registry that has the release's npm packages.
type packageCase struct {
	name    string
	needs   string // programs
	file    string // the package, after expansion by the shell
	install string
	remove  string // "": no package manager does it here
	bin     string // directory below ROOT
	share   string // directory of the completions below ROOT
	manPath string // MANPATH below ROOT, or "": man finds the pages by PATH
}

const (
	nixStore = `export NIX_STORE_DIR="$ROOT/nix/store" NIX_STATE_DIR="$ROOT/nix/state" NIX_LOG_DIR="$ROOT/nix/log"
		export NIX_CONFIG="$(printf 'sandbox = false\nbuild-users-group =\nsubstituters =')"
		`
	npmRun = `export npm_config_update_notifier=false npm_config_audit=false npm_config_fund=false
		`
	localNpm = `packages/npm/git-checkpoint-linux-$NODE-$VERSION.tgz`
)

var packageCases = []packageCase{
	{
		name: "archive", needs: "tar", file: "git-checkpoint_${VERSION}_linux_$ARCH.tar.gz", bin: "bin", share: "share",
		install: `tar -xzf "$FILE" --strip-components=1 -C "$ROOT"`,
	},
	{
		name: "deb", needs: "dpkg", file: "git-checkpoint_${VERSION}_linux_$ARCH.deb", bin: "usr/bin", share: "usr/share",
		install: `mkdir -p "$ROOT/var/lib/dpkg/info" "$ROOT/var/lib/dpkg/updates"
			touch "$ROOT/var/lib/dpkg/status"
			dpkg --root="$ROOT" --force-depends -i "$FILE"
			chroot "$ROOT" /usr/bin/git-checkpoint version`,
		remove: `dpkg --root="$ROOT" --force-depends -P git-checkpoint`,
	},
	{
		name: "rpm", needs: "rpm", file: "git-checkpoint_${VERSION}_linux_$ARCH.rpm", bin: "usr/bin", share: "usr/share",
		install: `rpm --root "$ROOT" -i --nodeps "$FILE"
			chroot "$ROOT" /usr/bin/git-checkpoint version`,
		remove: `rpm --root "$ROOT" -e git-checkpoint`,
	},
	{
		name: "apk", needs: "tar", file: "git-checkpoint_${VERSION}_linux_$ARCH.apk", bin: "usr/bin", share: "usr/share",
		install: `tar -xzf "$FILE" --warning=no-unknown-keyword -C "$ROOT"
			grep -x 'depend = git>=2.34' "$ROOT/.PKGINFO"
			grep -x 'license = MIT' "$ROOT/.PKGINFO"
			chroot "$ROOT" /usr/bin/git-checkpoint version`,
	},
	{
		name: "homebrew", needs: "ruby", file: "packages/git-checkpoint.rb", bin: "bin", share: "share",
		install: `ruby -c "$FILE"
			ruby "$TESTDATA/brew.rb" "$FILE" . "$ROOT" "$VERSION" >"$ROOT/archives"
			test "$(cut -d ' ' -f 1,2 "$ROOT/archives" | sort -u | wc -l)" = 4
			while read -r os cpu url sum; do echo "$sum  ${url##*/}"; done <"$ROOT/archives" | sha256sum -c`,
	},
	{
		name: "nix", needs: "nix-env", file: "packages/git-checkpoint.nix", bin: "profile/bin", share: "profile/share",
		install: nixStore + `nix-build -o "$ROOT/result" -E "
				with import $TESTDATA/nixpkgs.nix { archives = $PWD; };
				import $PWD/$FILE { inherit lib fetchurl stdenvNoCC; }"
			nix-env -p "$ROOT/profile" -i "$(readlink "$ROOT/result")"`,
		remove: nixStore + `nix-env -p "$ROOT/profile" -e git-checkpoint
			rm -r "$ROOT/result" "$ROOT/nix/log"
			nix-env -p "$ROOT/profile" --delete-generations old
			nix-store --gc`,
	},
	{
		name: "npm folder", needs: "npm", file: localNpm, bin: "node_modules/.bin", share: "node_modules/git-checkpoint/share",
		manPath: "node_modules/git-checkpoint/share/man",
		install: npmRun + `npm install --offline --ignore-scripts --prefix "$ROOT" "./packages/npm/git-checkpoint-$VERSION.tgz" "./$FILE"
			cd "$ROOT"
			npx --offline git-checkpoint --version`,
		remove: npmRun + `cd "$ROOT"
			npm uninstall --offline git-checkpoint "git-checkpoint-linux-$NODE"
			rm node_modules/.package-lock.json`,
	},
	{
		name: "npm global", needs: "npm", file: localNpm, bin: "bin", share: "lib/node_modules/git-checkpoint/share",
		install: npmRun + `npm install -g --registry "$REGISTRY" --prefix "$ROOT" git-checkpoint
			test "$(ls "$ROOT/lib/node_modules/git-checkpoint/node_modules")" = "git-checkpoint-linux-$NODE"`,
		remove: npmRun + `npm uninstall -g --prefix "$ROOT" git-checkpoint`,
	},
}

// Each package of a release is installed in an empty directory. There the program prints its
// version, man and the shells find their files, a SHA-256 repository works, and the package
// manager removes all files. GIT_CHECKPOINT_TEST_RELEASE=host makes the packages that need no
// goreleaser. A folder is the result of .ci/release.
func TestReleasePackages(t *testing.T) {
	t.Parallel()
	dist := os.Getenv("GIT_CHECKPOINT_TEST_RELEASE")
	switch {
	case dist == "" || dist == "full": // TestReleaseWhole
		t.Skip("GIT_CHECKPOINT_TEST_RELEASE is not host or a folder")
	case runtime.GOOS != "linux":
		t.Skip("packages are installed on Linux")
	case dist == "host":
		lookPaths(t, "npm python3")
		dist = hostRelease(t)
	case !filepath.IsAbs(dist):
		dist = filepath.Join("..", dist)
	}
	installPackages(t, dist)
}

// installPackages runs all packageCases with the release in a directory.
func installPackages(t *testing.T, dist string) {
	dist, err := filepath.Abs(dist)
	require.NoError(t, err)
	testdata, err := filepath.Abs(filepath.Join("..", "testdata", "release"))
	require.NoError(t, err)
	lookPaths(t, "npm python3 man zsh fish")
	version := releasedVersion(t, dist)
	node := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if node == "" {
		node = runtime.GOARCH
	}
	registry := npmRegistry(t, dist)
	for _, c := range packageCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			env := append(cleanEnv(t, filepath.Join(root, c.bin)), "ROOT="+root, "VERSION="+version, "ARCH="+runtime.GOARCH,
				"NODE="+node, "TESTDATA="+testdata, "REGISTRY="+registry)
			shell := &history{t: t, dir: dist, env: env}
			lookPaths(t, c.needs)
			if strings.Contains(c.install, "chroot") && os.Geteuid() != 0 {
				t.Skipf("%s: only root installs it", c.name)
			}
			file := strings.TrimSpace(shell.sh(`echo "` + c.file + `"`))
			if _, err := os.Stat(filepath.Join(dist, file)); err != nil {
				t.Skipf("%s: the release has no %s: only goreleaser makes it", c.name, file)
			}
			shell.env = append(shell.env, "FILE="+file)
			shell.sh(c.install)
			installed{shell, root, version}.check(c)
			if c.remove == "" {
				t.Logf("%s: not removed: no package manager installed it", c.name)
				return
			}
			shell.sh(c.remove)
			assert.Empty(t, shell.sh(`find "$ROOT" -name '*git-checkpoint*' -not -path "$ROOT/.npm/*"`), "left by the package manager")
		})
	}
	t.Run("scoop", func(t *testing.T) { checkScoop(t, dist, version) })
	t.Run("sbom", func(t *testing.T) { checkSBOM(t, dist, version) })
}

// lookPaths skips the test if one of the programs is missing.
func lookPaths(t *testing.T, programs string) {
	t.Helper()
	for program := range strings.FieldsSeq(programs) {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s: no %s", t.Name(), program)
		}
	}
}

// sh runs shell commands, which all must succeed, and returns their standard output.
func (h *history) sh(commands string) string {
	h.t.Helper()
	out, code := h.run("bash", "-euo", "pipefail", "-c", commands)
	require.Zerof(h.t, code, "%s\n%s", commands, out)
	return out
}

// installed is an installed package, with a shell whose PATH begins with its programs.
type installed struct {
	*history
	root, version string
}

func (p installed) check(c packageCase) {
	t := p.t
	assert.Contains(t, p.sh("cd; git checkpoint --version"), "git-checkpoint "+p.version+" ")
	assert.Equal(t, filepath.Join(p.root, c.bin, "git-checkpoint")+"\n", p.sh("command -v git-checkpoint"))

	man := p.sh(`unset MANPATH; [ -z "` + c.manPath + `" ] || export MANPATH="$ROOT/` + c.manPath + `"; man -w git-checkpoint git-checkpoint-save git-checkpoint-settings`)
	assert.Equal(t, 3, strings.Count(man, p.root+"/"), man)

	p.env = append(p.env, "SHARE="+filepath.Join(p.root, c.share))
	assert.Contains(t, p.sh(`. "$SHARE/bash-completion/completions/git-checkpoint"; complete -p git-checkpoint`), "git-checkpoint\n")
	assert.Equal(t, "_git-checkpoint\n", p.sh(`zsh -f -c 'fpath=($SHARE/zsh/*(/) $fpath); autoload -Uz compinit && compinit -u -D; echo $_comps[git-checkpoint]'`))
	assert.Contains(t, p.sh(`XDG_DATA_DIRS="$SHARE" fish -c 'complete -C "git checkpoint sa"'`), "save\t")

	p.dir = t.TempDir()
	p.sh(`git init -q --object-format=sha256 . && echo one >file && git checkpoint save 42 -m first`)
	assert.Contains(t, p.sh(`git checkpoint list 42`), "first")

	// A signal for the program that is on PATH reaches the command, after a save.
	p.sh(`export GIT_CHECKPOINT_ISSUE=43
		git-checkpoint run -- sh -c 'echo up; exec sleep 60' >up & pid=$!
		until [ -s up ]; do sleep 0.1; done
		kill "$pid"
		code=0
		wait "$pid" || code=$?
		[ "$code" = 143 ] || { echo "exit code $code"; exit 1; }
		git checkpoint list`)
}

// checkScoop checks the manifest against the archives for Windows, and runs the program of one
// archive.
func checkScoop(t *testing.T, dist, version string) {
	type archive struct {
		URL, Hash  string
		ExtractDir string `json:"extract_dir"`
	}
	var manifest struct {
		Version, Description, Homepage, License, Bin string
		Suggest                                      map[string]string
		Architecture                                 map[string]archive
	}
	file, err := os.Open(filepath.Join(dist, "packages", "git-checkpoint.json"))
	require.NoError(t, err)
	defer file.Close()
	fields := json.NewDecoder(file)
	fields.DisallowUnknownFields() // all are fields of scoop's schema
	require.NoError(t, fields.Decode(&manifest))
	assert.Equal(t, version, manifest.Version)
	for _, value := range []string{manifest.Description, manifest.Homepage, manifest.License} {
		assert.NotEmpty(t, value)
	}
	require.Len(t, manifest.Architecture, 2)
	program := strings.ReplaceAll(manifest.Bin, `\`, "/")
	for name, arch := range map[string]string{"64bit": "amd64", "arm64": "arm64"} {
		a := manifest.Architecture[name]
		assert.Equal(t, fmt.Sprintf("git-checkpoint_%s_windows_%s.zip", version, arch), path.Base(a.URL))
		zip := filepath.Join(dist, path.Base(a.URL))
		assert.Equal(t, fmt.Sprintf("%x", digest(t, zip)), a.Hash)
		assert.Contains(t, zipped(t, zip), path.Join(a.ExtractDir, program))
	}

	if _, err := os.Stat(filepath.Join(dist, "metadata.json")); err != nil {
		t.Skip("scoop: the program was not run: only goreleaser makes it")
	}
	amd64 := manifest.Architecture["64bit"]
	runOnWine(t, filepath.Join(dist, path.Base(amd64.URL)), path.Join(amd64.ExtractDir, program), version)
}

// runOnWine runs the program in an archive for Windows, which saves in a SHA-256 repository.
func runOnWine(t *testing.T, archive, program, version string) {
	const windows = "/tmp/git-checkpoint-windows" // as in .ci/run
	if _, err := os.Stat(filepath.Join(windows, "complete")); err != nil {
		t.Skipf("scoop: the program was not run: testdata/compat/windows-git %s makes what it needs", windows)
	}
	shell := &history{t: t, dir: t.TempDir(), env: append(cleanEnv(t, "/usr/lib/wine"), "WINEDEBUG=-all", "LC_ALL=C.UTF-8",
		"WINDOWS="+windows, "ARCHIVE="+archive, "PROGRAM="+program)}
	out := shell.sh(`cd "$(mktemp -d /tmp/git-checkpoint-scoop-XXXXXX)" # wine takes /dev/shm for a device
		trap 'wineserver64 -k || true; rm -rf "$PWD"' EXIT
		cp -a "$WINDOWS/prefix" prefix
		python3 -m zipfile -e "$ARCHIVE" .
		export WINEPREFIX=$PWD/prefix # a copy, because others may use the original
		export WINEPATH="Z:${WINDOWS//\//\\}\\bin" PROGRAM=$PWD/$PROGRAM
		wine64 "$PROGRAM" version | cat
		git init -q --object-format=sha256 repo
		(cd repo && echo one >file && wine64 "$PROGRAM" save 42 -m first | cat)
		git -C repo log --format=%s refs/checkpoints/42`)
	assert.Contains(t, out, "git-checkpoint "+version+" ")
	assert.Contains(t, out, " windows/amd64")
	assert.Contains(t, out, "checkpoint 42: manual\n")
}

// checkSBOM compares each SBOM with the modules in the programs of its system.
func checkSBOM(t *testing.T, dist, version string) {
	names, err := filepath.Glob(filepath.Join(dist, "*.cdx.json"))
	require.NoError(t, err)
	if len(names) == 0 {
		t.Skip("the release has no SBOM: only .ci/release makes it")
	}
	require.Len(t, names, 6)
	for _, name := range names {
		var sbom struct {
			Metadata struct {
				Component struct{ Version, Purl string }
			}
			Components []struct{ Name, Version string }
		}
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &sbom))
		goos, goarch, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(name), "git-checkpoint_"+version+"_"), ".cdx.json"), "_")
		assert.Equal(t, "v"+version, sbom.Metadata.Component.Version)
		assert.Contains(t, sbom.Metadata.Component.Purl, "goarch="+goarch+"&goos="+goos)
		var listed []string
		for _, c := range sbom.Components {
			if c.Name != "std" {
				listed = append(listed, c.Name+" "+c.Version)
			}
		}
		for _, b := range readGoreleaser(t).Builds {
			programs, err := filepath.Glob(filepath.Join(dist, b.ID+"_"+goos+"_"+goarch+"_*", b.Binary+"*"))
			require.NoError(t, err)
			require.Len(t, programs, 1)
			info, err := buildinfo.ReadFile(programs[0])
			require.NoError(t, err)
			var linked []string
			for _, dep := range info.Deps {
				linked = append(linked, dep.Path+" "+dep.Version)
			}
			assert.ElementsMatch(t, linked, listed, programs[0])
		}
	}
}

// npmRegistry serves the npm packages of a release and returns its URL.
func npmRegistry(t *testing.T, dist string) string {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	files, err := filepath.Glob(filepath.Join(dist, "packages", "npm", "*.tgz"))
	require.NoError(t, err)
	require.Len(t, files, 7)
	for _, file := range files {
		text, err := exec.Command("tar", "-xzOf", file, "package/package.json").Output()
		require.NoError(t, err)
		var manifest map[string]any
		require.NoError(t, json.Unmarshal(text, &manifest))
		assert.NotContains(t, manifest, "scripts")
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		sum := sha512.Sum512(data)
		manifest["dist"] = map[string]string{
			"tarball":   server.URL + "/files/" + filepath.Base(file),
			"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		}
		version := manifest["version"].(string)
		answer, err := json.Marshal(map[string]any{
			"name": manifest["name"], "dist-tags": map[string]string{"latest": version}, "versions": map[string]any{version: manifest},
		})
		require.NoError(t, err)
		mux.HandleFunc("/"+manifest["name"].(string), func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(answer) })
	}
	mux.Handle("/files/", http.StripPrefix("/files/", http.FileServer(http.Dir(filepath.Join(dist, "packages", "npm")))))
	return server.URL
}

func releasedVersion(t *testing.T, dist string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dist, "git-checkpoint_*_linux_amd64.tar.gz"))
	require.NoError(t, err)
	require.Len(t, names, 1, "no release in %s", dist)
	version := strings.TrimPrefix(filepath.Base(names[0]), "git-checkpoint_")
	return strings.TrimSuffix(version, "_linux_amd64.tar.gz")
}

// hostRelease makes a release without goreleaser: archives with the programs of this system
// and texts for those of others, checksums, and the result of .ci/release-packages.
func hostRelease(t *testing.T) string {
	t.Helper()
	g := readGoreleaser(t)
	dir := sources(t)
	dist := filepath.Join(dir, "dist")
	programs := map[string]string{}
	for _, b := range g.Builds {
		programs[b.ID] = b.build(t, runtime.GOOS, runtime.GOARCH)
	}
	at := &history{t: t, dir: dir, env: os.Environ()}
	at.sh(`bash .ci/release-files "` + programs["git-checkpoint"] + `" 1.2.3 2026-02-14T14:30:00Z`)
	page, err := os.ReadFile(filepath.Join(dir, "bin", "share", "man", "man1", "git-checkpoint.1"))
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(page), `.TH GIT-CHECKPOINT 1 "2026-02-14" "git-checkpoint 1.2.3" "Git Checkpoint"`), "the version, and the date of the commit")
	places, err := releasePlaces(g.Archives[0].Files, dir, "")
	require.NoError(t, err)
	for _, goos := range g.Builds[0].Goos {
		for _, goarch := range g.Builds[0].Goarch {
			name := fmt.Sprintf("git-checkpoint_1.2.3_%s_%s", goos, goarch)
			for _, b := range g.Builds {
				program := programs[b.ID]
				if goos != runtime.GOOS || goarch != runtime.GOARCH {
					program = filepath.Join(dir, "LICENSE")
				}
				built := filepath.Join(dist, b.ID+"_"+goos+"_"+goarch+"_v1", filepath.FromSlash(b.Binary))
				if goos == "windows" {
					built += ".exe"
				}
				require.NoError(t, os.MkdirAll(filepath.Dir(built), 0o777))
				at.sh(`install -m 755 "` + program + `" "` + built + `"`)
				places[b.Binary+strings.TrimPrefix(filepath.Base(built), path.Base(b.Binary))] = built
			}
			folder := filepath.Join(dist, name)
			for place, src := range places {
				install(t, src, filepath.Join(folder, filepath.FromSlash(place)))
			}
			if goos == "windows" {
				at.sh("cd dist && python3 -m zipfile -c " + name + ".zip " + name)
			} else {
				at.sh("cd dist && tar -czf " + name + ".tar.gz " + name)
			}
			require.NoError(t, os.RemoveAll(folder))
			for _, b := range g.Builds {
				delete(places, b.Binary)
			}
		}
	}
	at.sh("cd dist && sha256sum *.tar.gz *.zip >checksums.txt && cd .. && .ci/release-packages dist")
	return dist
}
