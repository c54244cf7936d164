package index

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
)

// cacheTree is the TREE extension: for each directory the tree that git made
// of it, if nothing in it changed since. Nodes stay in the order of the file;
// the invalid ones too, because the order is what says which child is whose.
type cacheTree struct {
	data  []byte
	nodes []cacheNode
	kids  []int32 // children of all nodes; those of one side by side, sorted
}

type cacheNode struct {
	name, nameEnd uint32 // in data
	entries       int32  // of the index below the directory, negative if not known
	first, count  int32  // of its children in kids
	hash          plumbing.Hash
}

// none is the node of a directory that the extension does not have.
const none = -1

func (t *cacheTree) root() int {
	if len(t.nodes) == 0 {
		return none
	}
	return 0
}

func (t *cacheTree) name(node int32) []byte {
	n := &t.nodes[node]
	return t.data[n.name:n.nameEnd]
}

// children are those of a node, in git's order.
func (t *cacheTree) children(node int) []int32 {
	n := &t.nodes[node]
	return t.kids[n.first : n.first+n.count]
}

// child finds the node of a directory inside the directory of a node.
func (t *cacheTree) child(node int, name []byte) int {
	if node == none {
		return none
	}
	kids := t.children(node)
	i, found := slices.BinarySearchFunc(kids, name, func(k int32, name []byte) int {
		return compareNames(t.name(k), name)
	})
	if !found {
		return none
	}
	return int(kids[i])
}

// compareNames is git's order of the children of a node.
func compareNames(a, b []byte) int {
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return c
	}
	return bytes.Compare(a, b)
}

// parseCacheTree reads the extension. Git does without one that is damaged,
// and so do we: it comes back empty.
func parseCacheTree(ext []byte) cacheTree {
	// The copy keeps the mapping out of what is searched at random.
	p := cacheParser{cacheTree: cacheTree{data: bytes.Clone(ext)}}
	if !p.parse() {
		return cacheTree{}
	}
	p.sort()
	return p.cacheTree
}

// minNode is the size of `\x000 0\n`, the least that a node takes.
const minNode = 5

type cacheParser struct {
	cacheTree
	off  int
	open []openNode
}

// openNode is a node whose children are being read, as places in kids.
type openNode struct{ next, end int32 }

func (p *cacheParser) parse() bool {
	p.nodes = make([]cacheNode, 0, len(p.data)/32+1)
	if !p.node() {
		return false
	}
	for len(p.open) > 0 {
		top := &p.open[len(p.open)-1]
		if top.next == top.end {
			p.open = p.open[:len(p.open)-1]
			continue
		}
		p.kids[top.next] = int32(len(p.nodes))
		top.next++
		if !p.node() {
			return false
		}
	}
	return p.off == len(p.data)
}

// node reads one node and makes room for its children.
func (p *cacheParser) node() bool {
	rest := p.data[p.off:]
	name, rest, ok1 := bytes.Cut(rest, []byte{0})
	entries, rest, ok2 := bytes.Cut(rest, []byte{' '})
	count, rest, ok3 := bytes.Cut(rest, []byte{'\n'})
	if !ok1 || !ok2 || !ok3 {
		return false
	}
	n := cacheNode{name: uint32(p.off), nameEnd: uint32(p.off + len(name)), first: int32(len(p.kids))}
	var ok bool
	if n.entries, ok = number(entries); !ok {
		return false
	}
	if n.count, ok = number(count); !ok || n.count < 0 || int(n.count) > len(p.data)/minNode-len(p.kids) {
		return false
	}
	if n.entries >= 0 {
		if len(rest) < hashSize {
			return false
		}
		rest = rest[copy(n.hash[:], rest):]
	}
	p.off = len(p.data) - len(rest)
	p.nodes = append(p.nodes, n)
	if n.count > 0 {
		p.kids = append(p.kids, make([]int32, n.count)...)
		p.open = append(p.open, openNode{n.first, n.first + n.count})
	}
	return true
}

func number(b []byte) (int32, bool) {
	n, err := strconv.ParseInt(string(b), 10, 32)
	return int32(n), err == nil
}

// sort makes sure that children can be searched. Git writes them in this
// order; others may not.
func (p *cacheParser) sort() {
	compare := func(a, b int32) int { return compareNames(p.name(a), p.name(b)) }
	for i := range p.nodes {
		if kids := p.children(i); !slices.IsSortedFunc(kids, compare) {
			slices.SortFunc(kids, compare)
		}
	}
}
