package storetest

import (
	"git-checkpoint/gitstore"

	"github.com/stretchr/testify/assert"
)

func filePromises() []Promise {
	return []Promise{
		{Name: "files/what is staged is held", hold: func(t *trial) {
			t.Stage("dir/a.txt", "one\n")
			t.Stage("dir/odd name \t\".txt", "\x00\xff\r\n")
			t.manual()
			held := t.Files(t.find(gitstore.Latest))
			assert.Equal(t, "one\n", held["dir/a.txt"])
			assert.Equal(t, "\x00\xff\r\n", held["dir/odd name \t\".txt"])
		}},
		{Name: "files/each checkpoint holds its own", hold: func(t *trial) {
			for _, text := range []string{"one", "two", "three"} {
				t.Stage("a.txt", text)
				t.manual()
			}
			assert.Equal(t, "three", t.Files(t.find("latest"))["a.txt"])
			assert.Equal(t, "one", t.Files(t.find("latest~2"))["a.txt"])
		}},
		{Name: "files/they stay when those below are dropped", hold: func(t *trial) {
			t.Stage("a.txt", "one")
			below := t.manual().ID
			t.Stage("a.txt", "two")
			t.manual()
			before := t.Files(t.find(gitstore.Latest))
			t.drop(below)
			assert.Equal(t, before, t.Files(t.find(gitstore.Latest)))
		}},
		{Name: "files/one that is new is something new", hold: func(t *trial) {
			t.manual()
			t.Stage("a.txt", "changed")
			req := request(issue, "interval")
			req.IfChanged = true
			assert.Equal(t, t.save(req).ID, t.live()[0])
		}},
	}
}
