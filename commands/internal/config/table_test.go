package config

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestEveryKeyIsDescribed(t *testing.T) {
	gitVariable := regexp.MustCompile(`^checkpoint\.([a-z-]+\.)?[a-z][a-z0-9-]*$`)
	for _, k := range Keys() {
		t.Run(k.Name, func(t *testing.T) {
			assert.Regexp(t, `^[a-z_]+(\.[a-z_]+)?$`, k.Name)
			assert.Regexp(t, gitVariable, GitName(k.Name))
			assert.Regexp(t, `^[A-Z].*\.$`, k.Doc)
			assert.NotContains(t, k.Doc, "\n")
			v, err := parse(&k, k.Default)
			require.NoError(t, err)
			assert.Equal(t, k.Default, v.text, "the default is in canonical form")
			if k.Type == Enum {
				assert.Contains(t, k.Values, k.Default)
			}
			if k.Type == Int {
				assert.Less(t, k.Min, k.Max)
			}
			for _, no := range k.NotFile {
				assert.Contains(t, k.Values, no)
			}
		})
	}
}

func TestKeysAreDistinctInEveryForm(t *testing.T) {
	squash := strings.NewReplacer("-", "", "_", "")
	var names, vars []string
	for _, k := range Keys() {
		names, vars = append(names, squash.Replace(k.Name)), append(vars, Variable(k.Name))
	}
	for _, v := range Variables {
		vars = append(vars, v.Name)
	}
	for _, all := range [][]string{names, vars} {
		slices.Sort(all)
		assert.Equal(t, slices.Compact(slices.Clone(all)), all)
	}
}

// Documentation counts a mapping as one setting.
func TestAtMostThirtyFiveSettings(t *testing.T) {
	names := map[string]bool{}
	for _, k := range Keys() {
		if g := k.Group(); g != nil {
			names[g.Name] = true
		} else {
			names[k.Name] = true
		}
	}
	assert.LessOrEqual(t, len(names), 35)
	assert.Len(t, groups, 5)
}

// markdown renders documentation of all settings from the table.
func markdown() string {
	var b strings.Builder
	b.WriteString("| key | value | default | from a worktree file | |\n|---|---|---|---|---|\n")
	for _, k := range Keys() {
		row := []string{"`" + k.Name + "`", k.Takes(), code(k.Default), k.FromFile(), k.Doc}
		for j := range row {
			row[j] = strings.ReplaceAll(row[j], "|", `\|`)
		}
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	b.WriteString("\n| variable | |\n|---|---|\n")
	for _, v := range Variables {
		b.WriteString("| `" + v.Name + "` | " + v.Text + " |\n")
	}
	return b.String()
}

func TestMarkdownMatchesGoldenFile(t *testing.T) {
	const golden = "testdata/settings.md"
	got := markdown()
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "run with -update")
}
