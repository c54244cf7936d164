package config

import "strings"

// Markdown documents every setting, made from the table.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| key | value | default | from a worktree file | |\n|---|---|---|---|---|\n")
	for i := range table {
		k := &table[i]
		row := []string{"`" + k.Name + "`", k.Takes(), code(k.Default), k.FromFile(), k.Doc}
		for j := range row {
			row[j] = strings.ReplaceAll(row[j], "|", `\|`)
		}
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	b.WriteString("\n| variable | |\n|---|---|\n")
	for _, v := range variables {
		b.WriteString("| `" + v.Name + "` | " + v.Doc + " |\n")
	}
	return b.String()
}

// Takes is what values the key takes, in words; what is typed is in backquotes.
func (k *Key) Takes() string {
	if k.Type != Enum {
		return k.Type.String()
	}
	values := make([]string, len(k.Values))
	for i, v := range k.Values {
		values[i] = code(v)
	}
	return orWords(values)
}

// FromFile is whether a file in the worktree may set the key, in words.
func (k *Key) FromFile() string {
	if len(k.NotFile) > 0 {
		return "yes, but not " + code(strings.Join(k.NotFile, ", "))
	}
	return k.Trust.String()
}

func code(s string) string {
	if s == "" {
		return "none"
	}
	return "`" + s + "`"
}
