package commands

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"gopkg.in/yaml.v3"
)

// A recipeStep is a step of a GitHub Actions job.
type recipeStep struct {
	If  string            `yaml:"if"`
	Env map[string]string `yaml:"env"`
	Run string            `yaml:"run"`
}

// recipeJob returns the CI job of the guide ci for a forge as a bash script: github, gitlab,
// or gitlab-template for the job that uses .ci/gitlab.yml. The caller sets the variables of
// the forge: GITHUB_RUN_ID and JOB_INDEX, or CI_PIPELINE_ID and CI_JOB_NAME_SLUG, and
// CHECKPOINT_RELEASE, with CHECKPOINT_SHA256 for the template.
func recipeJob(forge string) (string, error) {
	block, err := guideBlock("ci", map[string]string{"github": "runs-on:", "gitlab": "CI_PIPELINE_ID", "gitlab-template": "extends:"}[forge])
	if err != nil {
		return "", err
	}
	switch forge {
	case "gitlab":
		return gitlabJob(block, gitlabKeys{})
	case "gitlab-template":
		template, err := gitlabTemplate()
		if err != nil {
			return "", err
		}
		return gitlabJob(block, template)
	}
	return githubJob(block)
}

// gitlabKeys are the keys of a GitLab job that the recipe and the template use.
type gitlabKeys struct {
	Extends      string            `yaml:"extends"`
	Variables    map[string]string `yaml:"variables"`
	BeforeScript []string          `yaml:"before_script"`
	Script       []string          `yaml:"script"`
	AfterScript  []string          `yaml:"after_script"`
}

// gitlabTemplate returns the hidden job of .ci/gitlab.yml.
func gitlabTemplate() (gitlabKeys, error) {
	data, err := os.ReadFile(filepath.Join("..", ".ci", "gitlab.yml"))
	if err != nil {
		return gitlabKeys{}, err
	}
	var jobs map[string]gitlabKeys
	err = yaml.Unmarshal(data, &jobs)
	return jobs[".git-checkpoint"], err
}

// gitlabJob returns the script of job work in a block: its variables, before_script and
// script are one shell. The script of after_script is another shell, which knows how the
// first one ended. The runner ends the first shell's process group if a job is cancelled.
func gitlabJob(block string, template gitlabKeys) (string, error) {
	var file struct {
		Work gitlabKeys `yaml:"work"`
	}
	err := yaml.Unmarshal([]byte(block), &file)
	if err != nil || len(file.Work.Script) == 0 {
		return "", fmt.Errorf("recipe of GitLab CI has no job work (%w)", err)
	}
	variables := maps.Clone(template.Variables)
	if variables == nil {
		variables = map[string]string{}
	}
	maps.Copy(variables, file.Work.Variables)
	head := "set -eo pipefail\n" + exports(variables, doubleQuoted)
	script := strings.Join(append(template.BeforeScript, file.Work.Script...), "\n") + "\n"
	if file.Work.Extends == "" {
		return head + script, nil
	}
	quoted := strings.ReplaceAll(script, "'", `'\''`)
	return head + "CI_JOB_STATUS=success\nsetsid -w bash -eo pipefail -c '" + quoted + "' || { code=$?; CI_JOB_STATUS=failed; }\n" +
		"export CI_JOB_STATUS\n(" + strings.Join(template.AfterScript, "\n") + ") || true\nexit $code\n", nil
}

// githubHead keeps the outputs and the PATH of a job, as the runner does.
const githubHead = `export GITHUB_OUTPUT=$(mktemp) GITHUB_PATH=$(mktemp)
output() {
	awk -v n="$1<<" 'd == "" && index($0, n) == 1 {d = substr($0, length(n) + 1); next} d != "" && $0 == d {exit} d != "" {print}' "$GITHUB_OUTPUT"
}
`

func githubJob(block string) (string, error) {
	var workflow struct {
		Jobs map[string]struct {
			Env   map[string]string `yaml:"env"`
			Steps []recipeStep      `yaml:"steps"`
		} `yaml:"jobs"`
	}
	if err := yaml.Unmarshal([]byte(block), &workflow); err != nil {
		return "", err
	}
	job := workflow.Jobs["work"]
	var strange error
	value := func(s string) string {
		s, err := githubValue(s)
		if err != nil {
			strange = err
		}
		return doubleQuoted(s)
	}
	b := strings.Builder{}
	b.WriteString(githubHead + exports(job.Env, value))
	for _, s := range slices.DeleteFunc(job.Steps, func(s recipeStep) bool { return s.Run == "" }) {
		test := "true"
		if s.If != "" {
			m := githubIf.FindStringSubmatch(s.If)
			if m == nil {
				return "", fmt.Errorf("recipe of GitHub: unknown condition %q", s.If)
			}
			test = fmt.Sprintf("[ \"$(output %s)\" != '%s' ]", m[1], m[2])
		}
		fmt.Fprintf(&b, "if %s; then (\n%sexec bash -e -c '%s'\n) || exit; fi\n", test, exports(s.Env, value), strings.ReplaceAll(s.Run, "'", `'\''`))
		b.WriteString("while read -r dir; do PATH=$dir:$PATH; done <\"$GITHUB_PATH\"\n: >\"$GITHUB_PATH\"\n")
	}
	return b.String(), strange
}

var (
	githubIf   = regexp.MustCompile(`^steps\.resume\.outputs\.(\w+) != '(\w+)'$`)
	githubExpr = regexp.MustCompile(`\$\{\{ (.*?) }}`)
	githubVar  = regexp.MustCompile(`^(vars|steps\.resume\.outputs)\.(\w+)$`)
)

// githubValue replaces the expressions in a value by shell expansions.
func githubValue(s string) (string, error) {
	var strange error
	s = githubExpr.ReplaceAllStringFunc(s, func(e string) string {
		e = githubExpr.FindStringSubmatch(e)[1]
		m := githubVar.FindStringSubmatch(e)
		switch {
		case e == "github.run_id":
			return "$GITHUB_RUN_ID"
		case e == "strategy.job-index":
			return "${JOB_INDEX:-0}"
		case m != nil && m[1] == "vars":
			return "$" + m[2]
		case m != nil:
			return "$(output " + m[2] + ")"
		}
		strange = fmt.Errorf("recipe of GitHub: unknown expression %q", e)
		return ""
	})
	return s, strange
}

func doubleQuoted(s string) string { return `"` + s + `"` }

func exports(env map[string]string, value func(string) string) string {
	var lines []string
	for name, v := range env {
		lines = append(lines, "export "+name+"="+value(v)+"\n")
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// cmdRecipe writes the CI job of the guide ci for a forge to a file: `recipe github job.sh`.
func cmdRecipe(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: recipe github|gitlab|gitlab-template file")
	}
	job, err := recipeJob(args[0])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(job), 0o666))
}
