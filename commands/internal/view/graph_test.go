package view

import (
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
)

func TestGraph(t *testing.T) {
	for name, tt := range map[string]struct {
		edges string // "id:parent,parent" newest first
		want  string
	}{
		"a line":                {"c:b b:a a:", "*  c\n*  b\n*  a\n"},
		"parallel work":         {"c:a b:a a:", "*  c\n| *  b\n|/\n*  a\n"},
		"a merge":               {"d:c,b c:a b:a a:", "*  d\n|\\\n* |  c\n| *  b\n|/\n*  a\n"},
		"three at once":         {"d:a c:a b:a a:", "*  d\n| *  c\n| | *  b\n|_|/\n|/\n*  a\n"},
		"across another lane":   {"e:b d:a c:b b:a a:", "*  e\n| *  d\n| | *  c\n|_|/\n* |  b\n|/\n*  a\n"},
		"a root beside a lane":  {"c: b:a a:", "*  c\n\n*  b\n*  a\n"},
		"a root left of a lane": {"d:b c:a b: a:", "*  d\n| *  c\n* |  b\n /\n*  a\n"},
		"an unknown parent":     {"c:x b:a a:", "*  c\n\n*  b\n*  a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var nodes []GraphNode
			for _, word := range strings.Fields(tt.edges) {
				id, parents, _ := strings.Cut(word, ":")
				n := GraphNode{ID: id, Entry: &Entry{Title: id, Checkpoint: &gitstore.Checkpoint{ID: checkpoint.ID(id)}}}
				if parents != "" {
					n.Parents = strings.Split(parents, ",")
				}
				nodes = append(nodes, n)
			}
			var lines []string
			for line := range strings.Lines(Screen{}.Graph(nodes, time.Time{})) {
				marks, text, _ := strings.Cut(line, "  ")
				if text != "" {
					words := strings.Fields(text)
					marks += "  " + words[0]
				}
				lines = append(lines, strings.TrimRight(marks, " \n")+"\n")
			}
			assert.Equal(t, tt.want, strings.Join(lines, ""))
		})
	}
}
