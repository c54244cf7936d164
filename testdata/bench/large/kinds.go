package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

const count = 31 // number of versions

// A kind is a kind of agent file, with its versions.
type kind struct {
	name     string
	versions func() [][]byte
}

func kinds() []kind {
	return []kind{{"log", growing}, {"state", edited}, {"database", pages}, {"image", noise}}
}

// event returns one JSON line of a session log.
func event(r *rand.Rand, n int) string {
	words := strings.Fields("read wrote failed retry tests build parse token index layout plan review merge branch commit resume")
	text := make([]string, 8+r.IntN(30))
	for i := range text {
		text[i] = words[r.IntN(len(words))]
	}
	return fmt.Sprintf(`{"id":"%016x","seq":%d,"tool":%q,"path":"src/%s/%s.go","ok":%t,"text":%q}`+"\n",
		r.Uint64(), n, words[r.IntN(len(words))], words[r.IntN(len(words))], words[r.IntN(len(words))], r.IntN(9) > 0, strings.Join(text, " "))
}

// growing returns versions of a log that grows by 120 KB per version.
func growing() [][]byte {
	r := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	var list [][]byte
	for n := 0; len(list) < count; n++ {
		b.WriteString(event(r, n))
		if b.Len() >= 120_000*(len(list)+1) {
			list = append(list, []byte(b.String()))
		}
	}
	return list
}

// edited returns versions of a 3.6 MB state file; each version changes one percent of its
// events at random positions.
func edited() [][]byte {
	r := rand.New(rand.NewPCG(2, 2))
	var events []string
	for size := 0; size < 3_600_000; size += len(events[len(events)-1]) {
		events = append(events, event(r, len(events)))
	}
	var list [][]byte
	for range count {
		for range len(events) / 100 {
			i := r.IntN(len(events))
			events[i] = event(r, i)
		}
		list = append(list, []byte(strings.Join(events, "")))
	}
	return list
}

// pages returns versions of a 4 MB database with half-filled 4 KiB pages; each version
// rewrites twenty pages.
func pages() [][]byte {
	r := rand.New(rand.NewPCG(3, 3))
	data := make([]byte, 4<<20)
	write := func(page int) {
		at := data[page*4096 : page*4096+2048]
		text := ""
		for len(text) < len(at) {
			text += event(r, page)
		}
		copy(at, text)
	}
	for page := range len(data) / 4096 {
		write(page)
	}
	var list [][]byte
	for range count {
		for range 20 {
			write(r.IntN(len(data) / 4096))
		}
		list = append(list, append([]byte(nil), data...))
	}
	return list
}

// noise returns versions of compressed data: 2 MB of new random bytes per version.
func noise() [][]byte {
	var list [][]byte
	for v := range count {
		r := rand.NewChaCha8([32]byte{byte(v)})
		data := make([]byte, 2_000_000)
		_, _ = r.Read(data)
		list = append(list, data)
	}
	return list
}
