#!/usr/bin/env python3
"""Makes damaged copies of the repository of good/base.sh: `damage.py REPOSITORY DIRECTORY [STEP]` writes one for each damage, or
for each STEPth, and prints a line of JSON with its name and the rule that verify has to name, "" for a change that is no damage.
With `generated` as a fourth argument it writes one repository, with an issue for each value in each place of a checkpoint.
A changed checkpoint gets the state commit and the Checkpoint-Content that it has to have, so that only the damage is wrong."""
import ast, hashlib, json, os, re, subprocess, sys, zlib
import reader
DIR, FILE, EXE, LINK, MODULE = 0o40000, 0o100644, 0o100755, 0o120000, 0o160000
ID, CLOCK = 'CP-x-20260214T143000Z-00000000', '1771079400000000000'

class Store:  # objects and refs of a repository
    def __init__(self, path):
        git = lambda *args: subprocess.run(['git', '-C', path, *args], check=True, stdout=subprocess.PIPE).stdout
        self.path, self.format = os.path.abspath(path), git('rev-parse', '--show-object-format').decode().strip()
        refs = git('for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', reader.LIVE, reader.ARCHIVE).decode()
        self.refs, self.objects, data = dict(line.split() for line in refs.splitlines()), {}, git('cat-file', '--batch', '--batch-all-objects')
        while data:
            head, data = data.split(b'\n', 1)
            oid, kind, size = head.decode().split()
            self.objects[oid], data = (kind, data[:int(size)]), data[int(size) + 1:]

class Damaged(reader.Repo):  # a copy of a store, with the commit c at a place of the chain of issue 42
    def __init__(self, store, place):
        self.store, self.refs, self.new, self.gone, self.disk, self.ref = store, dict(store.refs), {}, set(), {}, reader.LIVE + '42'
        self.hash = lambda data=b'': hashlib.new(store.format, data)
        self.empty, self.missing = self.hash(b'tree 0\0').hexdigest(), '12345678' * (self.hash().digest_size // 4)
        self.branch, chain = self.refs['refs/heads/other'], self.chain()
        saves = [oid for oid in chain if len(self.commit(oid).parents) == 2]
        self.c = self.commit(chain[-1] if place == 'g' else saves[{'n': 0, 's': 1, 'm': 3, 'o': -1}[place]])
    def get(self, oid, kind, *rest, **more):
        return (self.new.get(oid) or self.store.objects[oid])[1]
    def put(self, kind, data):
        oid = self.hash(b'%s %d\0' % (kind.encode(), len(data)) + data).hexdigest()
        if oid not in self.store.objects:
            self.new[oid] = kind, data
        return oid
    def blob(self, data):
        return self.put('blob', data if isinstance(data, bytes) else data.encode())
    def commit(self, oid):
        data = self.get(oid, 'commit')
        c = reader.Commit(oid, data)
        c.lines = data.split(b'\n\n')[0].decode().split('\n')[1 + len(c.parents):]
        return c
    def put_commit(self, c):
        return self.put('commit', '\n'.join([f'tree {c.tree}'] + [f'parent {p}' for p in c.parents] + c.lines).encode() + b'\n\n' + c.text)
    def put_tree(self, entries):
        return self.put('tree', b''.join(b'%o %s\0' % (mode, os.fsencode(name)) + bytes.fromhex(oid) for mode, name, oid in entries))
    def set(self, tree, path, mode, oid):  # returns a tree with an entry, or without it if its id is None
        name, _, below = path.partition('/')
        entries = self.tree(tree, strict=False)
        if below:
            mode, oid = DIR, self.set(next((e for _, n, e in entries if n == name), self.empty), below, mode, oid)
        entries = [e for e in entries if e[1] != name] + [(mode, name, oid)] * bool(oid)
        return self.put_tree(sorted(entries, key=lambda e: os.fsencode(e[1]) + b'/' * (e[0] == DIR)))
    def find(self, path):
        return self.below(self.c.tree, path)
    def chain(self, ref=None):
        found = [self.refs[ref or self.ref]]
        while parents := self.commit(found[-1]).parents:
            found.append(parents[0])
        return found
    def replace(self, oid):  # puts a commit into the place of c in the chain
        chain = self.chain()
        for above in reversed(chain[:chain.index(self.c.oid)]):
            c = self.commit(above)
            c.parents[0] = oid
            oid = self.put_commit(c)
        self.refs[self.ref] = oid
    def save(self, state=True, content=True):  # writes c, by default with the state commit and the content that it has to have
        if state and len(self.c.parents) == 2:
            def follow(s, i):
                s.tree, i.tree = self.find('state') or s.tree, self.find('staged') or i.tree
            self.commits(follow)
        if content and self.c.trailer('Content'):
            want = reader.content(self.commit(self.put_commit(self.c)), self.tree(self.c.tree, strict=False)).encode()
            self.c.text = re.sub(rb'(?m)^(Checkpoint-Content: ).*$', rb'\g<1>' + want, self.c.text)
        oid = self.put_commit(self.c)
        self.replace(oid)
        self.c = self.commit(oid)
    def commits(self, change):  # changes the state commit and the index commit
        s = self.commit(self.c.parents[1])
        i = self.commit(s.parents[1])
        change(s, i)
        s.parents[1:2] = [self.put_commit(i)] * len(s.parents[1:2])
        self.c.parents[1] = self.put_commit(s)

    # changes of a commit
    def state(self, change, **more):
        self.commits(change)
        self.save(state=False, **more)
    def parents(self, change):
        self.c.parents = change(self.c.parents)
        self.save(state=False, content=False)
    def text(self, old, new, **more):  # replaces a text of the message
        assert old.encode() in self.c.text, old
        self.c.text = self.c.text.replace(old.encode(), new if isinstance(new, bytes) else new.encode(), 1)
        self.save(**more)
    def trailer(self, name, value, **more):  # replaces, adds or removes a trailer
        line, later = f'Checkpoint-{name}: {value}\n' if value else '', '|'.join(list(reader.TRAILERS)[list(reader.TRAILERS).index(name):])
        old = re.search(rf'(?m)^Checkpoint-{name}: .*\n', self.c.message) or re.search(rf'(?m)^(?=Checkpoint-({later}): )', self.c.message)
        self.c.text = (self.c.message[:old.start()] + line + self.c.message[old.end():]).encode()
        self.save(**more)
    def edit(self, change, **more):
        change(self.c)
        self.save(**more)
    def file(self, path, data, mode=FILE, oid=None, **more):  # replaces a path of the tree: by data, or an object, or nothing
        oid = oid or (data if data is None or mode in (DIR, MODULE) else self.blob(data))
        self.c.tree = self.set(self.c.tree, path, mode, oid)
        self.save(**more)
    def folder(self, path, *entries):  # replaces a path of the tree by a folder with entries as they are
        self.file(path, self.put_tree([(mode, name, self.blob(data)) for mode, name, data in entries]), DIR)
    def twice(self, path, data, mode=FILE):  # adds another entry with the name of an entry of the top tree
        entries = self.tree(self.c.tree)
        at = [name for _, name, _ in entries].index(path)
        self.c.tree = self.put_tree(entries[:at + 1] + [(mode, path, data if mode == DIR else self.blob(data))] + entries[at + 1:])
        self.save()
    def data(self, path='checkpoint.yaml'):
        return self.get(self.find(path), 'blob')
    def record(self, old, new):
        assert old.encode() in self.data(), old
        self.file('checkpoint.yaml', self.data().replace(old.encode(), new if isinstance(new, bytes) else new.encode(), 1))
    def line(self, key, value):  # replaces the value of a key, in the first line of the record that has it
        self.record(re.search(f'(?m)^{key}:.*$', self.data().decode())[0], f'{key}:{value}')
    def other(self, oid):  # gives an object another content
        self.disk[oid] = (self.new.get(oid) or self.store.objects[oid])[0], self.get(oid, '') + b'\n'
    def above(self, text, *entries, parents=()):  # adds a ledger commit to the chain
        c = self.commit(self.refs[self.ref])
        c.tree = self.put_tree([(FILE, name, self.blob(data)) for name, data in entries])
        c.parents, c.text = [self.refs[self.ref], *parents], text.encode()
        self.refs[self.ref] = self.put_commit(c)
    def insert(self, c):  # puts a copy of a commit on top of c
        c.parents[0:1] = [self.c.oid]
        self.replace(self.put_commit(c))
    def double(self):  # puts the checkpoint with another content below c
        c = self.commit(self.c.oid)
        self.file('x-other', 'x\n')
        self.insert(c)
    def swap(self):  # puts c below the commit below
        below = self.commit(self.c.parents[0])
        c = self.commit(self.c.oid)
        c.parents[0] = below.parents[0]
        below.parents[0] = self.put_commit(c)
        self.replace(self.put_commit(below))
    def names(self, text):  # writes the ledger of the newest checkpoint
        self.c = self.commit(self.refs[self.ref])
        self.file('ledger', text)
    def write(self, path):
        shared = not self.gone and not self.disk.keys() & self.store.objects.keys()
        objects = {**({} if shared else self.store.objects), **self.new, **self.disk}
        files = {f'objects/{oid[:2]}/{oid[2:]}': o if isinstance(o, bytes) else loose(o) for oid, o in objects.items() if oid not in self.gone}
        version = f'1\n[extensions]\n\tobjectformat = {self.store.format}' if self.store.format != 'sha1' else '0'
        config = f'[core]\n\trepositoryformatversion = {version}\n[checkpoint]\n\tissue-source = none\n'
        files.update({ref: oid + '\n' for ref, oid in self.refs.items()}, HEAD='ref: refs/heads/issue-42\n', config=config)
        files['objects/info/alternates'] = self.store.path + '/.git/objects\n' if shared else ''
        for name, data in files.items():
            os.makedirs(os.path.dirname(f'{path}/.git/{name}'), exist_ok=True)
            with open(f'{path}/.git/{name}', 'wb') as f:
                f.write(data if isinstance(data, bytes) else data.encode())
def loose(o):
    return zlib.compress(b'%s %d\0' % (o[0].encode(), len(o[1])) + o[1], 1)
def own(d, change, path='state/only.txt'):  # changes an object that only this checkpoint has
    d.file(path, f'only {path}\n')
    change(d.find(path))
def at(c, **values):  # sets attributes of a commit
    vars(c).update(values)
def by(old, new, *lines):  # returns a change of the lines author (0) and committer (1)
    return lambda c: at(c, lines=[line.replace(old, new) if n in lines else line for n, line in enumerate(c.lines)])
def head(d, oid, text='', **more):  # moves HEAD of the save, and with a text that of the record
    text and d.line('  head', ' ' + text)
    d.state(lambda s, i: (at(s, parents=[oid, *s.parents[1:]]), at(i, parents=[oid])), **more)
def everywhere(d, **more):  # changes the author in all three commits
    d.c.lines[0] = d.c.lines[0].replace('Ann', 'Bob')
    d.state(lambda s, i: (by('Ann', 'Bob', 0, 1)(s), by('Ann', 'Bob', 0, 1)(i)), **more)
def fork(d):  # makes it the first checkpoint of a fork, with the state commit of its source
    d.record('\nnote: ', f'\nlineage:\n  fork:\n    issue: 41\n    checkpoint_id: {ID}\n    name: a\nnote: ')
    d.state(lambda s, i: [at(c, text=f'{name} of {ID}\n'.encode()) or by('Ann', 'Bob', 0, 1)(c) for c, name in ((s, 'state'), (i, 'index'))])
def raw(mode, name):  # makes a folder in the state with an entry as it is
    return lambda d: d.folder('state/dir', (mode, name, 'x\n'))
def record(old, new):
    return lambda d: d.record(old, new)
def note(new):
    return record('\nnote: ', f'\n{new}\nnote: ')
def line(key, value):
    return lambda d: d.line(key, value)
def trailer(name, value):
    return lambda d: d.trailer(name, value)
def ledger(text, mode=FILE):
    return lambda d: d.file('ledger', text, mode)
def names(form):  # makes the newest ledger name the checkpoint
    return lambda d: d.names(form.format(c=d.c, content=d.c.trailer('Content')))
def above(text, *entries, **more):
    return lambda d: d.above(text, *entries, **{key: value(d) for key, value in more.items()})
LEDGER, FACT = 'ledger of issue 42\n\nCheckpoint-Issue: 42\nCheckpoint-Version: 1.0\n', f'set deleted {ID} * none\n'

# The rule, "" for no damage; the places: the newest checkpoint, the one below of the index alone, one in the middle, the oldest,
# genesis; a name; and the change.
DAMAGES = [
    # commits
    ('state', 'nm', 'no state commit', lambda d: d.parents(lambda p: p[:1])),
    ('state', 'nm', 'three parents', lambda d: d.parents(lambda p: p + p[1:])),
    ('genesis', 'n', 'parents swapped', lambda d: d.parents(lambda p: p[::-1])),
    ('state', 'nm', 'state commit of another checkpoint', lambda d: d.parents(lambda p: [p[0], d.commit(d.chain(reader.ARCHIVE + '42')[0]).parents[1]])),
    ('content', 'nm', 'another HEAD than in the content', lambda d: head(d, d.branch, content=False)),
    ('agree', 'nm', 'another HEAD than in the record', lambda d: head(d, d.branch)),
    ('', 'nm', 'another HEAD', lambda d: head(d, d.branch, f'{d.store.format}:{d.branch}')),
    ('', 'n', 'unborn branch', lambda d: head(d, d.chain()[-1], 'null')),
    ('object', 'nm', 'state commit missing', lambda d: d.gone.add(d.c.parents[1])),
    ('object', 'nm', 'index commit missing', lambda d: d.gone.add(d.commit(d.c.parents[1]).parents[1])),
    ('object', 'n', 'HEAD of the save missing', lambda d: d.gone.add(d.commit(d.c.parents[1]).parents[0])),
    ('state', 'nm', 'state commit without an index commit', lambda d: d.state(lambda s, i: at(s, parents=s.parents[:1]))),
    ('state', 'n', 'state commit with three parents', lambda d: d.state(lambda s, i: at(s, parents=s.parents + [d.branch]))),
    ('state', 'n', 'index commit with two parents', lambda d: d.state(lambda s, i: at(i, parents=i.parents + [d.branch]))),
    ('state', 'n', 'index commit without a parent', lambda d: d.state(lambda s, i: at(i, parents=[]))),
    ('state', 'nm', 'index commit on another HEAD', lambda d: d.state(lambda s, i: at(i, parents=[d.branch]))),
    ('state', 'nm', 'state commit with another tree', lambda d: d.state(lambda s, i: at(s, tree=d.empty))),
    ('state', 'nm', 'index commit with another tree', lambda d: d.state(lambda s, i: at(i, tree=d.empty))),
    ('state', 'nm', 'state commit with another message', lambda d: d.state(lambda s, i: at(s, text=f'state of {ID}\n'.encode()))),
    ('state', 'n', 'index commit with another message', lambda d: d.state(lambda s, i: at(i, text=b'staged files\n'))),
    ('state', 'nm', 'state commit of another author', lambda d: d.state(lambda s, i: by('Ann', 'Bob', 0, 1)(s))),
    ('state', 'n', 'index commit of another committer', lambda d: d.state(lambda s, i: by('Ann', 'Bob', 1)(i))),
    ('content', 'nm', 'other author than in the content', lambda d: everywhere(d, content=False)),
    ('', 'nm', 'other author', everywhere),
    ('state', 'nm', 'other author than that of the state commit', lambda d: d.edit(by('Ann', 'Bob', 0))),
    ('', 'no', 'first checkpoint of a fork', fork),
    ('state', 'n', 'other author date', lambda d: d.edit(by(' +0000', '1 +0000', 0))),
    ('', 'nm', 'other committer', lambda d: d.edit(by('Ann', 'Bob', 1), content=False)),
    ('', 'n', 'signed by git', lambda d: d.edit(lambda c: c.lines.extend(['gpgsig -----BEGIN PGP SIGNATURE-----', ' ', ' -----END PGP SIGNATURE-----']))),
    ('commit', 'n', 'two authors', lambda d: d.edit(lambda c: c.lines.insert(0, c.lines[0]))),
    ('commit', 'n', 'no committer', lambda d: d.edit(lambda c: c.lines.pop())),
    ('chain', 'nm', 'commit missing', lambda d: d.gone.add(d.c.oid)),
    ('object', 'nm', 'commit with the content of another', lambda d: d.other(d.c.oid)),
    ('twice', 'nm', 'same checkpoint twice', lambda d: d.insert(d.c)),
    ('twice', 'n', 'checkpoint of the archive', lambda d: d.insert(d.commit(d.refs[reader.ARCHIVE + '42']))),
    ('', 'nm', 'two contents of one id', lambda d: d.double()),
    ('commit', 'nm', 'commit of the project in the chain', lambda d: d.insert(d.commit(d.branch))),
    ('clock', 'n', 'clock before the one below', lambda d: (d.line('clock', ' 1'), d.trailer('Clock', '1'))),
    ('order', 'nm', 'order swapped', lambda d: d.swap()),
    ('', 'm', 'order in a circle', lambda d: d.trailer('After', d.commit(d.refs[d.ref]).id)),
    ('', 's', 'commit removed', lambda d: d.replace(d.c.parents[0])),
    ('genesis', 'o', 'no genesis', lambda d: d.parents(lambda p: p[1:])),
    ('genesis', 'g', 'genesis of another issue', lambda d: d.text('issue 42', 'issue 43')),
    ('genesis', 'g', 'genesis with another date', lambda d: d.edit(by('1767225600', '1767225601', 0, 1))),
    ('genesis', 'g', 'genesis with a file', lambda d: d.file('x', 'x\n')),
    ('genesis', 'g', 'genesis above the project', lambda d: d.parents(lambda p: [d.branch])),
    # refs
    ('chain', 'n', 'ref to a tree', lambda d: d.refs.update({d.ref: d.c.tree})),
    ('chain', 'n', 'ref to a blob', lambda d: d.refs.update({d.ref: d.blob('x\n')})),
    ('chain', 'n', 'ref to a tag', lambda d: d.refs.update({d.ref: d.put('tag', f'object {d.c.oid}\ntype commit\ntag x\ntagger {d.c.author.decode()}\n\nx\n'.encode())})),
    ('chain', 'n', 'ref to nothing', lambda d: d.refs.update({d.ref: d.missing})),
    ('genesis', 'n', 'ref to the branch', lambda d: d.refs.update({d.ref: d.branch})),
    ('commit', 'n', 'ref of another issue', lambda d: d.refs.update({reader.LIVE + '77': d.refs.pop(d.ref)})),
    ('', 'n', 'ref with an invalid name', lambda d: d.refs.update({reader.LIVE + '%zz': d.c.oid})),
    ('', 'n', 'ref with a folder', lambda d: d.refs.update({reader.LIVE + 'a/b': d.c.oid})),
    # messages
    ('', 'nm', 'other subject', lambda d: d.text('checkpoint 42: ', 'checkpoint 41: ')),
    ('', 'nm', 'other note', lambda d: d.text(' note\n', ' words\n')),
    ('content', 'nm', 'other note than in the content', lambda d: d.text(' note\n', ' words\n', content=False)),
    ('commit', 'nm', 'no id', trailer('Id', '')),
    ('agree', 'nm', 'other id', trailer('Id', ID)),
    ('commit', 'nm', 'invalid id', trailer('Id', '../../etc/passwd x')),
    ('commit', 'nm', 'id twice', lambda d: d.text('Checkpoint-Id:', f'Checkpoint-Id: {ID}\nCheckpoint-Id:')),
    ('', 'nm', 'trailers in another order', lambda d: (d.trailer('Issue', ''), d.text('Checkpoint-Clock:', 'Checkpoint-Issue: 42\nCheckpoint-Clock:'))),
    ('commit', 'nm', 'no issue', trailer('Issue', '')),
    ('commit', 'nm', 'other issue', trailer('Issue', '43')),
    ('agree', 'nm', 'other trigger', trailer('Trigger', 'interval')),
    ('commit', 'nm', 'invalid trigger', trailer('Trigger', 'not a word')),
    ('commit', 'nm', 'no trigger', trailer('Trigger', '')),
    ('agree', 'nm', 'other phase', trailer('Phase', 'build')),
    ('agree', 'nm', 'other branch', trailer('Branch', 'main')),
    ('agree', 'nm', 'no branch', trailer('Branch', '')),
    ('', 'nm', 'branch in quotes', trailer('Branch', '"issue\\x2d42"')),
    ('commit', 'nm', 'quote without an end', trailer('Branch', '"x')),
    ('agree', 'nm', 'not resumable', trailer('Resumable', 'false')),
    ('commit', 'nm', 'resumable without meaning', trailer('Resumable', 'maybe')),
    ('commit', 'n', 'resumable in capitals', trailer('Resumable', 'TRUE')),
    ('agree', 'nm', 'other clock', trailer('Clock', '1771079400000000001')),
    ('commit', 'nm', 'no clock', trailer('Clock', '')),
    ('commit', 'nm', 'clock without meaning', trailer('Clock', 'soon')),
    ('commit', 'n', 'negative clock', trailer('Clock', '-1')),
    ('commit', 'n', 'clock with a zero in front', trailer('Clock', '0' + CLOCK)),
    ('commit', 'n', 'clock that is too large', trailer('Clock', str(1 << 63))),
    ('agree', 'o', 'left out files that no record has', trailer('Left-Out', '7')),
    ('commit', 'n', 'negative number of files that were left out', trailer('Left-Out', '-1')),
    ('commit', 'n', 'no number of files that were left out', trailer('Left-Out', 'some')),
    ('commit', 'n', 'turn 0', trailer('Turn', '0')),
    ('commit', 'nm', 'after without meaning', trailer('After', '\x1b[31mred')),
    ('commit', 'nm', 'no checkpoint before', trailer('After', '')),
    ('commit', 'n', 'nine checkpoints before', trailer('After', ' '.join([ID] * 9))),
    ('', 'n', 'other checkpoints before', trailer('After', ID + ' ' + ID[:-1] + '1')),
    ('agree', 'nm', 'other scope', trailer('Scope', 'cut')),
    ('commit', 'n', 'unknown scope', trailer('Scope', 'half')),
    ('commit', 'n', 'no scope', trailer('Scope', '')),
    ('content', 'nm', 'other content', lambda d: d.trailer('Content', 'ab' * 32, content=False)),
    ('commit', 'nm', 'no content', lambda d: d.trailer('Content', '', content=False)),
    ('commit', 'n', 'content in capitals', lambda d: d.trailer('Content', d.c.trailer('Content').upper(), content=False)),
    ('agree', 'nm', 'later minor version', trailer('Version', '1.9')),
    ('commit', 'n', 'version without a minor', trailer('Version', '1')),
    ('commit', 'n', 'version without meaning', trailer('Version', '1.x')),
    ('', 'nm', 'unknown trailer', lambda d: d.text('Checkpoint-Clock:', 'Checkpoint-Colour: red\nCheckpoint-Clock:')),
    ('commit', 'n', 'line that is no trailer', lambda d: d.text('Checkpoint-Clock:', 'colour\nCheckpoint-Clock:')),
    ('commit', 'n', 'message with NUL', lambda d: d.text('newest note', 'newest\0note')),
    ('', 'n', 'message in other bytes', lambda d: d.text('newest note', b'\xff\xfe note')),
    # trees
    ('tree', 'nm', 'no record', lambda d: d.file('checkpoint.yaml', None)),
    ('tree', 'n', 'record is a folder', lambda d: d.file('checkpoint.yaml', d.empty, DIR)),
    ('tree', 'n', 'record is a symlink', lambda d: d.file('checkpoint.yaml', d.data(), LINK)),
    ('tree', 'n', 'record is executable', lambda d: d.file('checkpoint.yaml', d.data(), EXE)),
    ('path', 'nm', 'two records', lambda d: d.twice('checkpoint.yaml', d.data().replace(b'note: ', b'x_note: '))),
    ('path', 'n', 'two states', lambda d: d.twice('state', d.empty, DIR)),
    ('tree', 'nm', 'no state', lambda d: d.file('state', None)),
    ('tree', 'nm', 'no staged files', lambda d: d.file('staged', None)),
    ('', 'nm', 'empty state', lambda d: d.file('state', d.empty, DIR)),
    ('', 'n', 'empty staged files', lambda d: d.file('staged', d.empty, DIR)),
    ('state', 'nm', 'other staged file', lambda d: d.file('staged/staged.txt', 'other\n', state=False)),
    ('state', 'nm', 'other file of the state', lambda d: d.file('state/staged.txt', 'other\n', state=False)),
    ('tree', 'n', 'staged is a file', lambda d: d.file('staged', 'x\n', state=False)),
    ('tree', 'n', 'state is a file', lambda d: d.file('state', 'x\n', state=False)),
    ('tree', 'n', 'state is a submodule', lambda d: d.file('state', d.branch, MODULE, state=False)),
    ('tree', 'n', 'conflicts is a file', lambda d: d.file('conflicts', 'x\n')),
    ('tree', 'n', 'conflict of stage 4', lambda d: d.file('conflicts/4/x', 'x\n')),
    ('tree', 'n', 'stage is a file', lambda d: d.file('conflicts/1', 'x\n')),
    ('', 'n', 'conflict', lambda d: d.file('conflicts/2/x', 'x\n')),
    ('tree', 'nm', 'unknown name', lambda d: d.file('future/x', 'x\n')),
    ('tree', 'n', 'unknown file', lambda d: d.file('README', 'x\n')),
    ('', 'nm', 'extension', lambda d: d.file('x-future/x', 'x\n')),
    ('', 'n', 'extension of one file', lambda d: d.file('x-future', 'x\n', EXE)),
    ('content', 'n', 'extension that is not in the content', lambda d: d.file('x-future', 'x\n', content=False)),
    ('tree', 'n', 'extension is a symlink', lambda d: d.file('x-future', 'x\n', LINK)),
    ('tree', 'n', 'extension is a submodule', lambda d: d.file('x-future', d.branch, MODULE)),
    ('', 'n', 'reserved names', lambda d: (d.file('raw/x', 'x\n'), d.file('submodules/x', 'x\n'))),
    ('tree', 'n', 'reserved name of a file', lambda d: d.file('raw', 'x\n')),
    ('', 'nm', 'signature', lambda d: d.file('signature/key', 'x\n', content=False)),
    ('tree', 'n', 'signature is a file', lambda d: d.file('signature', 'x\n')),
    ('', 'n', 'symlink out of the folder', lambda d: d.file('state/out', '/etc/passwd', LINK)),
    ('', 'n', 'submodule', lambda d: d.file('state/module', d.missing, MODULE)),
    ('object', 'nm', 'file missing', lambda d: own(d, d.gone.add)),
    ('object', 'nm', 'file with other content', lambda d: own(d, d.other)),
    ('object', 'n', 'file of an extension missing', lambda d: own(d, d.gone.add, 'x-future/x')),
    ('object', 'nm', 'file is a commit', lambda d: d.file('state/only.txt', None, oid=d.branch)),
    ('object', 'nm', 'folder missing', lambda d: d.file('state/gone', d.missing, DIR)),
    ('object', 'nm', 'folder is a file', lambda d: d.file('state/gone', d.blob('x\n'), DIR)),
    ('object', 'nm', 'record missing', lambda d: d.gone.add(d.find('checkpoint.yaml'))),
    ('object', 'nm', 'record with other content', lambda d: d.other(d.find('checkpoint.yaml'))),
    ('object', 'nmo', 'tree missing', lambda d: d.gone.add(d.c.tree)),
    ('object', 'n', 'staged file missing', lambda d: own(d, d.gone.add, 'staged/only.txt')),
    ('object', 'nm', 'file damaged on the disk', lambda d: own(d, lambda oid: d.disk.update({oid: b'damage'}))),
    ('object', 'nm', 'file cut on the disk', lambda d: own(d, lambda oid: d.disk.update({oid: loose(d.new[oid])[:12]}))),
    ('object', 'n', 'tree cut', lambda d: d.file('state/dir', d.put('tree', b'100644 name\0short'), DIR)),
    ('path', 'n', 'tree not sorted', lambda d: d.folder('state/dir', (FILE, 'b', 'x'), (FILE, 'a', 'x'))),
    ('path', 'n', 'name twice', lambda d: d.folder('state/dir', (FILE, 'a', 'x'), (FILE, 'a', 'y'))),
    ('path', 'n', 'symlink and folder of one name', lambda d: d.file('state/dir', d.put_tree([(LINK, 'a', d.blob('/tmp')), (DIR, 'a', d.empty)]), DIR)),
    *[('path', 'n', f'name {name!a:.40} of {len(name)} bytes', raw(FILE, name)) for name in ('..', '.', 'a/b', '/etc', '', '.git', '.GiT', 'git~1', '.git ', '.git.',
        '.git::$INDEX_ALLOCATION', '.g\u200cit', '.git\\b', 'a\\.git\\b', 'x' * 5000)],
    *[('', 'n', f'name {name!a:.40} of {len(name)} bytes', raw(FILE, name)) for name in ('a\\b', '..\\b', 'c:x', '.gitmodules', '.gitignore', 'caf\udce9', 'x' * 255)],
    ('path', 'n', 'name .gitmodules of a symlink', raw(LINK, '.gitmodules')),
    ('', 'n', 'mode 100664', raw(0o100664, 'a')),
    ('path', 'n', 'mode 0', raw(0, 'a')),
    ('path', 'n', 'mode 777', raw(0o777, 'a')),
    ('object', 'n', 'mode without meaning', lambda d: d.file('state/dir', d.put('tree', b'1006xx a\0' + bytes.fromhex(d.empty)), DIR)),
    ('path', 'n', 'name .git of a folder', lambda d: d.file('state/dir', d.put_tree([(DIR, '.git', d.put_tree([]))]), DIR)),
    ('path', 'n', 'deep folders', lambda d: d.file('state/' + 'd/' * 2100 + 'x', 'x\n')),
    # records
    ('record', 'nm', 'record cut', lambda d: d.file('checkpoint.yaml', re.split(b'(?<=created_at: ")', d.data())[0])),
    ('record', 'nm', 'empty record', lambda d: d.file('checkpoint.yaml', '')),
    ('record', 'n', 'record is a list', lambda d: d.file('checkpoint.yaml', '- a\n')),
    ('record', 'n', 'record is a word', lambda d: d.file('checkpoint.yaml', 'word\n')),
    ('record', 'n', 'record in other bytes', record('\nnote: ', b'\nx_note: caf\xe9\nnote: ')),
    ('record', 'n', 'record with NUL', note('x_note: a\0b')),
    ('record', 'n', 'record with a tab', note('x_note:\n\tb: 1')),
    ('record', 'nm', 'key twice', note('note: a')),
    ('record', 'n', 'quote of the record without an end', note('x_note: "a')),
    ('record', 'n', 'two documents', note('---')),
    ('record', 'n', 'tag', note('x_note: !!python/object x')),
    ('record', 'n', 'alias without anchor', note('x_note: *x')),
    ('record', 'n', 'deep record', note('x_note:\n' + '\n'.join('  ' * k + 'a:' for k in range(1, 100)) + ' 1')),
    ('record', 'n', 'huge record', note('x_note: ' + 'x' * (33 << 20))),
    ('', 'nm', 'unknown key', note('x_future:\n  - a: 1')),
    ('agree', 'nm', 'wrong key', record('checkpoint_id: ', 'checkpoint_idd: ')),
    ('agree', 'nm', 'other id in the record', line('checkpoint_id', ' ' + ID)),
    ('schema', 'nm', 'no time', record('created_at: ', 'created_on: ')),
    ('schema', 'nm', 'time without meaning', line('created_at', ' yesterday')),
    ('', 'nm', 'other time', line('created_at', ' "2026-02-13T08:01:00.000000Z"')),
    ('record', 'nm', 'major version in the record', line('version', ' "2.0"')),
    ('record', 'nm', 'later major version', lambda d: (d.line('version', ' "2.0"'), d.trailer('Version', '2.0'))),
    ('record', 'nm', 'version in the record without meaning', line('version', ' "x"')),
    ('', 'nm', 'minor version', lambda d: (d.line('version', ' "1.7"'), d.trailer('Version', '1.7'))),
    ('agree', 'nm', 'other issue in the record', line('issue_number', ' 43')),
    ('agree', 'nm', 'no issue in the record', record('issue_number: ', 'issue_numbers: ')),
    ('agree', 'nm', 'other trigger in the record', line('trigger', ' interval')),
    ('agree', 'nm', 'other phase in the record', line('  current_phase', ' build')),
    ('record', 'nm', 'attempt is text', line('  phase_attempt', ' many')),
    ('schema', 'nm', 'attempt is negative', line('  phase_attempt', ' -1')),
    ('', 'nm', 'attempt is text of a number', line('  phase_attempt', ' "1"')),
    ('record', 'nm', 'section is a text', record('issue_snapshot:\n  branch: issue-42\n', 'issue_snapshot: x\n')),
    ('agree', 'nm', 'other branch in the record', line('  branch', ' main')),
    ('agree', 'nm', 'not resumable in the record', line('  can_resume', ' false')),
    ('record', 'nm', 'resumable is a word', line('  can_resume', ' maybe')),
    ('record', 'nm', 'warnings are a text', line('  warnings', ' x')),
    ('record', 'n', 'files are a mapping', record('files_modified:\n', 'files_modified: {}\nx_files:\n')),
    ('schema', 'n', 'file without a path', record('  - path: ', '  - paths: ')),
    ('agree', 'nm', 'other clock in the record', line('clock', ' 1')),
    ('agree', 'nm', 'no clock in the record', record('clock: ', 'clocks: ')),
    ('agree', 'nm', 'other scope in the record', line('  scope', ' cut')),
    ('schema', 'nm', 'HEAD is no id', line('  head', ' main')),
    ('agree', 'nm', 'other HEAD in the record', line('  head', ' sha1:' + '12' * 20)),
    ('agree', 'nm', 'no HEAD in the record', line('  head', ' null')),
    ('schema', 'n', 'bad quotes in a path', record('    - path: large.bin', '    - path: "\\"a"')),
    ('schema', 'n', 'skipped without a path', record('    - path: large.bin\n      ', '    - ')),
    ('agree', 'n', 'skipped removed', record('  skipped:\n', '  skipper:\n')),
    ('schema', 'n', 'state of a node', note('execution_graph:\n  node_states:\n    a:\n      status: lost')),
    ('schema', 'n', 'cycle of tasks', note('tasks:\n  a:\n    depends_on:\n      - b\n  b:\n    depends_on:\n      - a')),
    # ledgers
    ('ledger', 'n', 'ledger with a line of another form', ledger('colour red\n')),
    ('', 'n', 'facts of a later version', ledger(f'last colour {ID} red {CLOCK}\nset hue {ID} red\n')),
    ('ledger', 'o', 'older ledger with a line of another form', ledger('colour red\n')),
    ('object', 'no', 'ledger missing', lambda d: own(d, d.gone.add, 'ledger')),
    ('ledger', 'n', 'ledger without an end of line', ledger(FACT[:-1])),
    ('ledger', 'n', 'ledger in another order', ledger(FACT.replace('-x-', '-y-') + FACT)),
    ('ledger', 'n', 'ledger with a line twice', ledger(FACT * 2)),
    ('ledger', 'n', 'ledger with a key twice', ledger(f'last pin {ID} 0 {CLOCK}\nlast pin {ID} 1 {CLOCK}\n')),
    ('ledger', 'no', 'empty ledger', ledger('')),
    ('ledger', 'n', 'ledger with an escape of a letter', ledger(f'set purged {ID} %41\n')),
    ('ledger', 'n', 'ledger with two spaces', ledger(FACT.replace(' ', '  ', 1))),
    ('ledger', 'n', 'ledger with a control character', ledger(FACT[:-1] + '\x1b\n')),
    ('ledger', 'n', 'ledger with a clock without meaning', ledger(f'last pin {ID} 1 soon\n')),
    ('ledger', 'n', 'ledger with a value that is no switch', ledger(f'last pin {ID} on {CLOCK}\n')),
    ('ledger', 'n', 'ledger in other bytes', ledger(f'set purged {ID} caf'.encode() + b'\xe9\n')),
    ('object', 'n', 'ledger is a folder', lambda d: d.file('ledger', d.empty, DIR)),
    ('tree', 'n', 'ledger is a symlink', ledger(FACT, LINK)),
    ('', 'n', 'ledger is not in the content', lambda d: d.file('ledger', FACT, content=False)),
    ('', 'nm', 'ledger with a live checkpoint', names('set deleted {c.id} * none\n')),
    ('', 'm', 'ledger with a content', names('set deleted {c.id} {content} none\n')),
    ('', 'm', 'ledger with an archived checkpoint', names('last archived {c.id} 1 1\n')),
    ('', 'n', 'ledger commit', above(LEDGER, ('ledger', FACT))),
    ('', 'n', 'empty ledger commit', above(LEDGER)),
    ('commit', 'n', 'ledger commit with files', above(LEDGER, ('ledger', FACT), ('x', 'x\n'))),
    ('commit', 'n', 'ledger commit with another subject', above(LEDGER.replace('ledger of issue 42', 'ledger'), ('ledger', FACT))),
    ('commit', 'n', 'ledger commit of another issue', above(LEDGER.replace('42', '43'), ('ledger', FACT))),
    ('ledger', 'n', 'ledger commit with a line of another form', above(LEDGER, ('ledger', 'colour red\n'))),
    ('commit', 'n', 'ledger commit with two parents', above(LEDGER, ('ledger', FACT), parents=lambda d: [d.branch])),
]
# Generated changes: each place of a checkpoint with each of its values. The name of a change is the id of its checkpoint.
TEXTS = ['', ' ', 'x', ' x', 'x ', 'a b', 'a  b', '-a', '01', '-1', '+1', '0', '1', '1.0', '1.00', '01.0', '1e2', '\u0663', '\uff11', 'true', 'TRUE', 'none', 'a\tb', 'a\x1bb', 'a\x7fb',
    'a\x85b', 'a\u2028b', 'a\u200bb', 'a\xa0', '\u00e9', '\U0001f600', '"a"', '"a', '"a\\x1b"', '"a\\u001b"', '"\\101"', '"a\\/"', '"a\\x00"', '"a\\ud83d\\ude00"', '"a\\x1B"', '"\u00e9"', 'a: b',
    str((1 << 63) - 1), str(1 << 63), 'x' * 201, '\u00e9' * 101, 'a' * 64, 'a' * 65, 'ab' * 32, ' '.join([ID] * 8), ' '.join([ID] * 9), '#a', "it's"]
SCALARS = ['', 'null', 'Null', '~', 'true', 'True', 'yes', 'No', 'y', '0', '1', '-1', '01', '-0', '1.0', '1e2', '1E+2', '1e999', '.5', '1.', '+1', '0x10', '0o7', '1_000', '9' * 5000, str((1 << 63) - 1),
    str(1 << 63), '\u0663', '"1"', '"\u0663"', '"+1"', '" 1"', '"01"', '""', "'a'", '{}', '[]', '{ }', '[a]', '{a: 1}', '"a', '"a" b', '"\\0"', '"\\u0000"', '"\\ud83d\\ude00"', '"\\ud800"', '"\\/"', '"\\e"',
    '"\\x41"', '"\\a"', '"\\U0001F600"', '"\\U00110000"', '"a\tb"', 'a\tb', 'a # b', 'a #b', 'a#b', 'a: b', 'a:', 'a:b', '- a', '-', '-a', '!!str a', '!a', '&x a', '*x', '@a', '`a', '%a', '? a', 'a\x85b', 'a\u2028b',
    'a\ufeffb', 'a\x7fb', 'a\x01b', 'a\u200bb', '\u00e9', '\U0001f600', 'a ', ' a', '.inf', '.a', '..a', '.', '/a', '_a', '(a)', '2026-01-01', '<<', '=', 'a,b', 'a]', '---', '...', 'NULL', 'on', '>\n    a',
    '|\n    a', '|\n    a\n', '|-\n    a\n    b', '|+\n    a\n', '|+\n    a', '|2\n    a', '|2\n     a', '|\n     a', '|\n\n    a', '|\n    a\n  \n    b', '|\n    a\n    \n    b', '|\n    a\n     b', '|-', '|3\n     a', '|2-\n     a', '|-2\n     a',
    '|\n    \ta', '|\n    a\tb', '|\n    a\x1bb', '|\n    a\n   b', '\n    a: 1', '\n     a: 1', '\n    - a', '\n  - a', '\n    - a: 1\n      b: 2', '\n    -  a', '\n    - - a', '\n    "a": 1', '\n    "a:": 1', '\n    1: 1', '\n    -a: 1', '\n    ? a\n    : 1',
    '\n    a: 1\n    a: 2', '\n    <<: 1', '\n    a : 1', '\n    true: 1', '\n    a:  1', '\n    ? ' + 'k' * 1100 + '\n    : 1', '\n    ' + 'k' * 1100 + ': 1', '\n    "a\\u0000": 1', '\n    "": 1']
TYPED = {'workflow_state.phase_attempt': 26, 'created_at': 26, 'recovery_info.can_resume': 12, 'issue_snapshot.labels': 40, 'snapshot.head': 12, 'snapshot.scope': 12, 'snapshot.deleted': 12, 'clock': 26, 'agent_turn.number': 28}
TIMES = ['2026-02-14T08:01:00Z', '2026-02-14T08:01:60Z', '2026-02-14T24:00:00Z', '2026-02-30T08:01:00Z', '2026-02-14T08:01:00+99:99', '2026-02-14T08:01:00+14:00', '2026-02-14T08:01:00+24:00', '2026-02-14T08:01:00', '2026-02-14 08:01',
    '2026-02-14', '20260214T080100Z', '2026-02-14T08:01:00.123456789Z', '2026-02-14T08:01:00,5Z', '2026-02-14t08:01:00z', '\u0662026-02-14T08:01:00Z', '0000-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '1771056060', '1771056060.5', '99999999',
    '2026-02-14T08:01:00 UTC', '2026-02-14T08:01:00-0000', '2026-02-14T08Z', '2026-2-14', '2026-02-14T08:01:00Z | x', '1969-12-31T23:59:59Z', '2026-02-14_08:01', '2026-02-14T08:01:00+0100', '2026-02-14T08:01:00+01', '12345678901234567890']
PATHS = ['a', '../x', '/etc/passwd', '.git/config', 'a//b', '"\\"a"', '"\\""', '"a\\"', '"\\303\\251"', '"\\400"', '"\\8"', '"a"b"', '""', 'a\\b', '"\\n"', '"\\e"', '"a', '.']
LINES = ['set deleted {0} * none', 'set deleted {0} *', 'set deleted {0}', 'set deleted {0} {1} {0}', 'set deleted {0} {1}', 'set deleted {0} ABCD none', 'set deleted -a * none', 'set deleted {2} * none', 'set deleted \u00e9 * none', 'set deleted a%20b * none',
    'set deleted a%41b * none', 'set deleted a%25b * none', 'set deleted a\u200bb * none', 'set deleted {0} * {0} {0} {0} {0} {0} {0} {0} {0}', 'set deleted {0} * {0} {0} {0} {0} {0} {0} {0} {0} {0}', 'set deleted {0} * -x', 'set pruned {0} 1', 'set pruned {0} 01',
    'set pruned {0} -1', 'set pruned {0} \u0663', 'set pruned {0} {3} none', 'set pruned {0} {4} none', 'set pruned {0}', 'set pruned {0} x none', 'set purged {0} a', 'set purged {0}', 'set purged {0} a b', 'set purged {0} a%20b', 'set purged {0} a%2Fb',
    'set purged {0} a%0ab', 'set purged {0} a%0Ab', 'set purged {0} a%zz', 'set purged {0} %', 'set purged {0} a=b', 'set purged {0} a%3Db', 'set purged {0} \u00e9', 'set purged {0} a\x7f', 'set purged {0} a%7F', 'set purged {0} a\x85b', 'set purged {0} a\u2028b',
    'set purged-field {0} note', 'set purged-field {0}', 'set other', 'set other x', 'set other x y z', 'set other x%41', 'set {0}', 'set', '', 'last archived {0} 1 1', 'last archived {0} 2 1', 'last archived {0} 1', 'last archived {0} 1 1 1', 'last archived {0} 1 01',
    'last archived {0} a=1 1', 'last archived -a 1 1', 'last archived {0} 1 {3}', 'last archived {0} 1 {4}', 'last archived {0} 1 \u0661', 'last archived {0} \u0661 1', 'last pin {0} 0 1', 'last pin {0} on 1', 'last pin {0} =1 1', 'last reason {0} done 1', 'last reason {0} a=b 1',
    'last reason {0} a%3Db 1', 'last reason {0} a%1Bb 1', 'last reason {0} \u00e9 1', 'last reason -a done 1', 'last ended {0} 1 1', 'last ended {0} 2 1', 'last ended {0} x=1 1', 'last ended -a 1 1', 'last reviewed {0} ann=1 1', 'last reviewed {0} 1 1', 'last reviewed {0} =1 1',
    'last reviewed {0} a=b=1 1', 'last reviewed {0} a%3Db=1 1', 'last reviewed {0} ann=2 1', 'last reviewed -a ann=1 1', 'last reviewed {0} ann=1 0', 'last position {0} - 1', 'last position {0} ann 1', 'last position {0} a=b 1', 'last position {0} ann x', 'last other x y 1',
    'last other x y=z 1', 'last other x =z 1', 'last other x y= 1', 'last other x = 1', 'last other x a=b=c 1', 'last other x y', 'last other x y z 1', 'last other -x y 1', 'last oth=er x y 1', 'Set deleted {0} * none', 'set deleted  {0} *', 'set deleted {0} * ', ' set deleted {0} *', '# x',
    'set Deleted {0} * none', 'set deleted {0} * none\r', 'set pur%41ged {0} a', 'set deleted {0} *\nset deleted {0} * none', 'last other x y 1\nlast other x z 2', 'last other x a=y 1\nlast other x b=z 2', 'last other x a=y 1\nlast other x a=z 1', 'set b x\nset a x', 'set a x\nset a x']
HEADERS = [(0, old, new) for old, new in ((' +0000', ''), (' +0000', ' 0000'), (' +0000', ' +9999'), (' +0000', ' +0000 '), (' +0000', ' UTC'), ('author Ann', 'author  Ann'), ('author Ann', 'author '), ('<', ''), ('>', ''), ('author', 'Author'), ('author', 'author\tx'),
    (' 17', ' -17'), (' 17', ' 99999999999999999999917'), (' 17', ' +17'), (' 17', ' 017'), ('Ann', 'A\x1bn'), ('Ann', '\u00e9'), ('Ann', 'A<n'))] + [(1, old, new) for old, new in ((' +0000', ''), (' 17', ' -17'), (' 17', ' 9999999999999917'), (' 17', ' x17'), ('<', ''), ('committer', 'committer\tx'))] + [
    (1, '', new) for new in ('encoding latin1\n', 'mergetag object x\n y\n', 'parent ' + '12' * 20 + '\n', 'x\n', ' author x\n', 'author x\n', 'tree ' + '12' * 20 + '\n', '\n', 'gpgsig\n')]
TOPS = [(name, mode) for name in ('checkpoint.yaml', 'state', 'staged', 'conflicts', 'ledger', 'signature', 'submodules', 'raw', 'x-a', 'x-', 'X-a', 'x', 'State', 'ledger.txt', '.git', '.gitmodules', 'x-.git', 'x-a/b', '')
    for mode in (0o100644, 0o100755, 0o100664, 0o100600, 0o120777, 0o120000, 0o40000, 0o40755, 0o160000, 0, 0o60000)]

class Generated(Damaged):  # the chain of one checkpoint for an issue of its own, in a repository of many
    def __init__(self, store, name, place):
        super().__init__(store, place)
        self.ref, self.key = reader.LIVE + name, name
        self.refs = {self.ref: self.c.oid}
        self.c.parents[0] = self.put('commit', b'tree %s\nauthor %s\ncommitter %s\n\ncheckpoints of issue %s\n' % (self.empty.encode(), reader.WHO, reader.WHO, name.encode()))
        self.c.text = self.c.text.replace(self.c.id.encode(), name.encode()).replace(b'Checkpoint-Issue: 42', b'Checkpoint-Issue: ' + name.encode())
        self.commits(lambda s, i: [at(c, text=c.text.replace(self.c.id.encode(), name.encode())) for c in (s, i)])
        data = self.data().replace(self.c.id.encode(), name.encode()).replace(b'issue_number: 42', b'issue_number: ' + name.encode())
        self.file('checkpoint.yaml', data)
    def put_commit(self, c):
        return self.put('commit', '\n'.join([f'tree {c.tree}'] + [f'parent {p}' for p in c.parents] + c.lines).encode('utf-8', 'surrogateescape') + b'\n\n' + c.text)
    def field(self, path, text):  # gives a field of the record a text of YAML
        lines, at = self.data().decode().split('\n')[:-1], 0
        for depth, name in enumerate(path.split('.')):
            key = '  ' * depth + name + ':'
            found = next((n for n in range(at, len(lines)) if lines[n] == key or lines[n].startswith(key + ' ')), None)
            if found is None:
                found, below = at, path.count('.') > depth
                lines.insert(found, key if below else key + ' x')
            at = found + 1
        while at < len(lines) and lines[at].startswith('  ' * (depth + 1)):
            del lines[at]
        lines[found] = key + (' ' if text[:1] != '\n' else '') + text
        self.file('checkpoint.yaml', '\n'.join(lines) + '\n')
    def both(self, name, text):  # gives a trailer and the field that it repeats a text
        path = reader.TRAILERS[name][1]
        if path and name not in ('Resumable', 'Scope'):
            texts, plain = text.split(' '), unquoted(text) if reader.TRAILERS[name][0] == reader.TEXT else text
            self.field(path, '\n  - ' + '\n  - '.join(map(yaml_text, texts)) if name == 'Restored-From' else yaml_text(plain))
        self.trailer(name, text.replace('\n', ''))
    def header(self, n, old, new):
        self.c.lines[n] = self.c.lines[n].replace(old, new, 1) if old else new + self.c.lines[n]
        self.state(lambda s, i: [c.lines.__setitem__(slice(None), [self.c.lines[0], self.c.lines[0].replace('author', 'committer', 1)]) for c in (s, i)] if n == 0 else None)
    def top(self, name, mode):
        entries = [e for e in self.tree(self.c.tree) if e[1] != name]
        oid = {0o40000: self.find(name) if name in ('state', 'staged') else self.empty, 0o160000: self.branch}.get(stat_of(mode)) or self.blob(self.data() if name == 'checkpoint.yaml' else FACT)
        self.c.tree = self.put_tree(sorted(entries + [(mode, name, oid)], key=lambda e: os.fsencode(e[1]) + b'/' * (stat_of(e[0]) == DIR)))
        self.save()
def yaml_text(text):  # returns a text in double quotes, in the form of a record
    return '"' + ''.join(c if c == ' ' or c.isalnum() and c.isascii() else '\\U%08X' % ord(c) for c in text) + '"'
def unquoted(text):  # returns the value of a trailer, in quotes or not, as lax readers take it
    try:
        return ast.literal_eval(text) if text[:1] == '"' else text
    except (ValueError, SyntaxError):
        return text
def stat_of(mode):
    return mode & 0o170000
def generated():  # returns the changes of each kind as (name, place, change)
    every = lambda values, change: [lambda d, v=v: change(d, v) for v in values]
    kinds = {f'trailer-{name}': every(TEXTS, lambda d, v, name=name: d.both(name, v)) for name in reader.TRAILERS if name != 'Content'}
    kinds.update({f'only-{name}': every(['', 'x', *TEXTS[9:12], TEXTS[17]], lambda d, v, name=name: d.trailer(name, v)) for name in reader.TRAILERS if name != 'Content'})
    kinds.update({f'yaml-{key}': every(SCALARS, lambda d, v, key=key: d.field(key, v)) for key in ('workflow_state.note', 'issue_snapshot.title')})
    kinds.update({f'field-{key}': every(SCALARS[:n], lambda d, v, key=key: d.field(key, v)) for key, n in TYPED.items()})
    kinds['time'] = every(TIMES, lambda d, v: d.field('created_at', json.dumps(v)))
    kinds['path'] = every(PATHS, lambda d, v: d.field('snapshot.deleted', '\n    - ' + json.dumps(v)))
    kinds['ledger'] = every(LINES, lambda d, v: d.file('ledger', v.format(ID, 'ab' * 32, 'x' * 201, (1 << 63) - 1, 1 << 63) + '\n'))
    kinds['header'] = every(HEADERS, lambda d, v: d.header(*v))
    kinds['top'] = every(TOPS, lambda d, v: d.top(*v))
    return [(f'{kind}-{n}', 'm' if kind.endswith(('Turn', 'Agent')) else 'n', change) for kind, changes in kinds.items() for n, change in enumerate(changes)]
def generate(store, out, step):  # makes one repository with an issue for each generated change
    objects, refs = {}, {}
    for name, place, change in generated()[::step]:
        d = Generated(store, name, place)
        change(d)
        objects.update(d.new)
        refs.update(d.refs)
    d.new, d.refs = objects, refs
    d.write(out)
    for ref in refs:
        print(json.dumps({'dir': ref}))

def main(path, out, step=1, kind=''):
    sys.setrecursionlimit(10000)
    store = Store(path)
    if kind:
        return generate(store, out, int(step))
    for rule, places, name, change in DAMAGES[::int(step)]:
        for place in places:
            d, where = Damaged(store, place), re.sub(r'[/\\]', '-', f'{name} at {place}')
            change(d)
            d.write(os.path.join(out, where))
            print(json.dumps({'dir': where, 'rule': rule}))
if __name__ == '__main__': main(*sys.argv[1:])
