package index

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"git-checkpoint/gitstore/internal/git/objectformat"

	"github.com/go-git/go-git/v5/plumbing"
)

// A cacheTree is the TREE extension: for each unchanged directory the tree that git wrote
// last. Nodes keep the order of the file, including invalid nodes, because the order
// determines the parent of each node.
type cacheTree struct {
	data  []byte
	nodes []cacheNode
	kids  []int32 // children of all nodes; children of a node are adjacent and sorted
}

type cacheNode struct {
	name, nameEnd uint32 // offsets in data
	entries       int32  // number of index entries below the directory, negative if invalid
	first, count  int32  // range of its children in kids
	hash          plumbing.Hash
}

// none represents a directory without a node.
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

// children returns the children of a node in git's order.
func (t *cacheTree) children(node int) []int32 {
	n := &t.nodes[node]
	return t.kids[n.first : n.first+n.count]
}

// child returns the node of a directory within the directory of node.
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

// compareNames compares children of a node in git's order: by length, then by bytes.
func compareNames(a, b []byte) int {
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return c
	}
	return bytes.Compare(a, b)
}

// parseCacheTree parses the extension. Like git, it ignores a damaged extension and
// returns an empty cacheTree.
func parseCacheTree(ext []byte) cacheTree {
	// Copy the data, because random access would load many pages of the mapping.
	p := cacheParser{cacheTree: cacheTree{data: bytes.Clone(ext)}}
	if !p.parse() {
		return cacheTree{}
	}
	p.sort()
	return p.cacheTree
}

// minNode is the minimum size of a node, `\x000 0\n`.
const minNode = 5

type cacheParser struct {
	cacheTree
	off  int
	open []openNode
}

// An openNode is a node whose children are being read, as a range of kids.
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

// node parses a node and reserves entries for its children.
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
		if len(rest) < objectformat.Size {
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

// sort sorts the children of each node for binary search. Git writes them in this order;
// other programs may not.
func (p *cacheParser) sort() {
	compare := func(a, b int32) int { return compareNames(p.name(a), p.name(b)) }
	for i := range p.nodes {
		if kids := p.children(i); !slices.IsSortedFunc(kids, compare) {
			slices.SortFunc(kids, compare)
		}
	}
}
