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
	nodes []cacheNode
	kids  []int // children of all nodes; those of one side by side, sorted
}

type cacheNode struct {
	name    []byte
	entries int // of the index below the directory, negative if not known
	hash    plumbing.Hash
	first   int // of its children in kids
	count   int
}

// parseCacheTree reads the extension. Git does without one that is damaged,
// and so do we: it comes back empty.
func parseCacheTree(ext []byte) cacheTree {
	// The names outlive the mapping in errors and are read at random.
	p := cacheParser{rest: bytes.Clone(ext), most: len(ext) / minNode}
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
	rest []byte
	most int // bound for the number of nodes
	open []openNode
}

// openNode is a node whose children are being read.
type openNode struct{ at, next, end int }

func (p *cacheParser) parse() bool {
	p.nodes = make([]cacheNode, 0, len(p.rest)/32+1)
	if !p.node() {
		return false
	}
	for len(p.open) > 0 {
		top := &p.open[len(p.open)-1]
		if top.next == top.end {
			p.open = p.open[:len(p.open)-1]
			continue
		}
		p.kids[top.next] = len(p.nodes)
		top.next++
		if !p.node() {
			return false
		}
	}
	return len(p.rest) == 0
}

// node reads one node and makes room for its children.
func (p *cacheParser) node() bool {
	var n cacheNode
	name, rest, ok1 := bytes.Cut(p.rest, []byte{0})
	entries, rest, ok2 := bytes.Cut(rest, []byte{' '})
	count, rest, ok3 := bytes.Cut(rest, []byte{'\n'})
	if !ok1 || !ok2 || !ok3 {
		return false
	}
	var err1, err2 error
	n.name = name
	n.entries, err1 = strconv.Atoi(string(entries))
	n.count, err2 = strconv.Atoi(string(count))
	if err1 != nil || err2 != nil || n.count < 0 || n.count > p.most-len(p.kids) {
		return false
	}
	if n.entries >= 0 {
		if len(rest) < hashSize {
			return false
		}
		rest = rest[copy(n.hash[:], rest):]
	}
	n.first = len(p.kids)
	p.kids = append(p.kids, make([]int, n.count)...)
	p.open = append(p.open, openNode{len(p.nodes), n.first, n.first + n.count})
	p.nodes = append(p.nodes, n)
	p.rest = rest
	return true
}

// sort makes sure that children can be searched. Git writes them in this
// order; others may not.
func (p *cacheParser) sort() {
	less := func(a, b int) int { return compareNames(p.nodes[a].name, p.nodes[b].name) }
	for _, n := range p.nodes {
		kids := p.kids[n.first : n.first+n.count]
		if !slices.IsSortedFunc(kids, less) {
			slices.SortFunc(kids, less)
		}
	}
}

// compareNames is git's order of the children of a node.
func compareNames(a, b []byte) int {
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return c
	}
	return bytes.Compare(a, b)
}

// none is the node of a directory that the extension does not have.
const none = -1

func (t *cacheTree) root() int {
	if len(t.nodes) == 0 {
		return none
	}
	return 0
}

// child finds the node of a directory inside the directory of a node.
func (t *cacheTree) child(node int, name []byte) int {
	if node == none {
		return none
	}
	n := t.nodes[node]
	kids := t.kids[n.first : n.first+n.count]
	i, found := slices.BinarySearchFunc(kids, name, func(k int, name []byte) int {
		return compareNames(t.nodes[k].name, name)
	})
	if !found {
		return none
	}
	return kids[i]
}
