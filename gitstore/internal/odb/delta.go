package odb

// A delta describes an object as changes to another object, its base:
//
//	size of the base, size of the result (7 bits a byte, low bits first),
//	then 1xxxxxxx offset/size bytes: copy from the base,
//	or   0nnnnnnn and n bytes: insert these bytes.
//
// Size 0 in a copy instruction means 64 KiB. Instruction 0 is reserved.
const copyDefault = 0x10000

// deltaSizes returns the base size, the result size and the instructions of a delta.
func deltaSizes(d []byte) (base, result int64, code []byte, err error) {
	if base, d, err = deltaSize(d); err != nil {
		return 0, 0, nil, err
	}
	if result, d, err = deltaSize(d); err != nil {
		return 0, 0, nil, err
	}
	return base, result, d, nil
}

func deltaSize(d []byte) (size int64, rest []byte, err error) {
	for i, c := range d {
		if i > 8 {
			break
		}
		size |= int64(c&0x7f) << (7 * i)
		if c&0x80 == 0 {
			return size, d[i+1:], nil
		}
	}
	return 0, nil, formatError("size in a delta is damaged")
}

// applyDelta applies delta to base and returns the result, at most limit bytes. It checks
// all instructions before it allocates memory for the result.
func applyDelta(base, delta []byte, limit int64) ([]byte, error) {
	from, to, code, err := deltaSizes(delta)
	if err != nil {
		return nil, err
	}
	if from != int64(len(base)) {
		return nil, formatError("delta is for a base of %d bytes, not %d", from, len(base))
	}
	if to > limit {
		return nil, ErrTooLarge
	}
	if err := checkDelta(code, from, to); err != nil {
		return nil, err
	}
	out := make([]byte, 0, to)
	for len(code) > 0 {
		op, rest, _ := nextOp(code)
		if op.insert != nil {
			out = append(out, op.insert...)
		} else {
			out = append(out, base[op.off:op.off+op.size]...)
		}
		code = rest
	}
	return out, nil
}

func checkDelta(code []byte, from, to int64) error {
	total := int64(0)
	for len(code) > 0 {
		op, rest, ok := nextOp(code)
		if !ok {
			return formatError("instruction in a delta is damaged")
		}
		if op.insert == nil && op.off+op.size > from {
			return formatError("delta copies from behind its base")
		}
		total += op.size
		if total > to {
			return formatError("delta makes more than its %d bytes", to)
		}
		code = rest
	}
	if total != to {
		return formatError("delta makes %d bytes, not %d", total, to)
	}
	return nil
}

// An op is one delta instruction: an insertion, or a copy if insert is nil.
type op struct {
	insert    []byte
	off, size int64
}

func nextOp(code []byte) (o op, rest []byte, ok bool) {
	c := code[0]
	code = code[1:]
	if c == 0 || c < 0x80 && int(c) > len(code) {
		return o, nil, false
	}
	if c < 0x80 {
		return op{insert: code[:c], size: int64(c)}, code[c:], true
	}
	for bit := range 7 {
		if c&(1<<bit) == 0 {
			continue
		}
		if len(code) == 0 {
			return o, nil, false
		}
		if bit < 4 {
			o.off |= int64(code[0]) << (8 * bit)
		} else {
			o.size |= int64(code[0]) << (8 * (bit - 4))
		}
		code = code[1:]
	}
	if o.size == 0 {
		o.size = copyDefault
	}
	return o, code, true
}
