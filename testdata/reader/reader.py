#!/usr/bin/env python3
"""A second reader of the stored form of git-checkpoint: it lists, shows, restores and verifies. It was written from the texts
of `git checkpoint help format` and `help record`, and needs Python 3.9 and git. It trusts nothing that it reads: it runs only
plumbing of git that runs no other program, and writes only new files with valid names into an empty folder, symlinks last. A
finding of verify has the rule in the text, the checkpoint, commit or ref, the damaged object and the reason."""
import argparse, datetime, graphlib, hashlib, json, os, re, stat, subprocess, sys
LIVE, ARCHIVE, WHO = 'refs/checkpoints/', 'refs/checkpoints-archive/', b'git-checkpoint <git-checkpoint@localhost> 1767225600 +0000'
ONE, CLOCK, TEXT, TREE, FILE, EXE = '([1-9][0-9]{0,18})?', '(?:0|[1-9][0-9]{0,18})', '(?:.*)', 0o40000, 0o100644, 0o100755
TRAILERS = {  # the form, the field of the record that they repeat, and its default
    'Id': ('.+', 'checkpoint_id', ''), 'Issue': ('.+', 'issue_number', ''), 'Trigger': ('[a-z0-9_]{1,64}', 'trigger', ''), 'Phase': (TEXT, 'workflow_state.current_phase', ''),
    'Branch': (TEXT, 'issue_snapshot.branch', ''), 'Resumable': ('true|false', 'recovery_info.can_resume', True), 'Clock': (CLOCK, 'clock', 0), 'After': ('.+', '', ''),
    'Scope': ('whole|staged|cut', 'snapshot.scope', 'whole'), 'Left-Out': (ONE, '', ''), 'Turn': (ONE, 'agent_turn.number', ''), 'Agent': (TEXT, 'agent_turn.agent', ''),
    'Restored-From': ('.*', 'restored_from', ''), 'Content': ('[0-9a-f]{64}', '', ''), 'Version': (r'(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)', 'version', '')}
I, V = '(?!-)(?:[^\0- %\x7f]|%25)+', '(?:[^\0- %=\x7f]|%(?:[01][0-9A-F]|20|25|3D|7F))'  # an id in a fact, and a character of a value
F, V = f'(?:{V}|=)+', f'{V}+'
FACT = re.compile(rf"""set deleted {I} (?:[0-9a-f]{{64}}|\*)( {I}){{0,8}}|set pruned {I} {CLOCK}( {I}){{0,8}}|set purged(-field)? {I} {F}
|set (?!(deleted|pruned|purged|purged-field) ){F} {F}( {F})*|last (archived|pin) {I} [01] {CLOCK}|last reviewed {I} {F}=[01] {CLOCK}
|last (reason|position) {I} {V} {CLOCK}|last (?!(archived|pin|reviewed|reason|position) ){F} {F} {F} {CLOCK}""".replace('\n', ''))
TOP = {'checkpoint.yaml': [FILE], 'state': [TREE], 'staged': [TREE], 'conflicts': [TREE], 'ledger': [FILE], 'signature': [TREE], 'submodules': [TREE], 'raw': [TREE]}
DAY, LARGE, MAX_LEDGER, MAX_RECORD, MAX_NODES, MAX_KEY, MAX_DEPTH, MAX_PATH, MAX_FOREIGN = 86400 * 10**9, 1 << 28, 64 << 20, 32 << 20, 2_000_000, 1000, 64, 4096, 64

class Damage(Exception): pass  # a broken rule of the format: the rule, the object and the reason
def need(ok, rule, obj, reason):
    if not ok:
        raise Damage(rule, obj, reason)

class Repo:
    def __init__(self, path):
        self.env = {**{k: v for k, v in os.environ.items() if not k.startswith('GIT_')}, 'LC_ALL': 'C', 'GIT_NO_REPLACE_OBJECTS': '1',
                    'GIT_NO_LAZY_FETCH': '1', 'GIT_OPTIONAL_LOCKS': '0', 'GIT_TERMINAL_PROMPT': '0'}
        self.path, self.batch, self.sound = path, None, set()
        self.hash = {'sha1': hashlib.sha1, 'sha256': hashlib.sha256}[self.git('rev-parse', '--show-object-format').strip()]
        self.empty = self.hash(b'tree 0\0').hexdigest()
        shallow = os.path.join(path, self.git('rev-parse', '--git-path', 'shallow').strip())
        self.shallow = set(open(shallow).read().split()) if os.path.exists(shallow) else set()
        self.partial = re.search(r'^remote\..*\.promisor=true$', self.git('config', '--list'), re.M)
        refs = dict(line.rsplit(' ', 1) for line in self.git('for-each-ref', '--format=%(refname) %(objectname)', LIVE, ARCHIVE).splitlines())
        keys = {ref: ref.split('/', 2)[2] for ref in refs}
        self.refs = {ref: oid for ref, oid in refs.items() if encode(decode(keys[ref])) == keys[ref]}  # others are no chains
        self.keys = sorted({keys[ref] for ref in self.refs})
    def git(self, *args):
        return os.fsdecode(subprocess.run(['git', '-C', self.path, *args], env=self.env, check=True, stdout=subprocess.PIPE).stdout)
    def get(self, oid, kind, rule='object', intact=True, keep=True):  # returns the content of an object, or without keep a part of it
        self.batch = self.batch or subprocess.Popen(['git', '-C', self.path, 'cat-file', '--batch'], env=self.env, stdin=-1, stdout=-1, stderr=-3)
        self.batch.stdin.write(oid.encode() + b'\n')
        self.batch.stdin.flush()
        head, data = self.batch.stdout.readline().decode().split(), []
        need(head[1:] != ['missing'], rule, oid, 'missing')
        found, size = (head[1], int(head[2])) if len(head) == 3 else ('', -1)
        digest = self.hash(b'%s %d\0' % (found.encode(), size))
        for left in range(size, 0, -LARGE):
            data = data[:keep] + [self.batch.stdout.read(min(left, LARGE))]
            digest.update(data[-1])
        if size < 0 or self.batch.stdout.read(1) != b'\n':
            self.batch = self.batch.communicate() and None  # git ends at a damaged object
            raise Damage(rule, oid, 'cannot be read')
        need(found == kind, rule, oid, f'a {found}, want a {kind}')
        need(not intact or digest.hexdigest() == oid, rule, oid, 'its content has another id')
        return b''.join(data)
    def tree(self, oid, strict=True):  # returns the entries of a tree: (mode, name, id)
        data, entries, size = self.get(oid, 'tree') if oid != self.empty else b'', [], len(self.empty) // 2
        while data:
            head, _, rest = data.partition(b'\0')
            entry = re.fullmatch(b'([0-7]{1,7}) (.*)', head, re.S)
            need(entry and len(rest) >= size, 'object', oid, 'not a tree')
            entries.append((int(entry[1], 8), os.fsdecode(entry[2]), rest[:size].hex()))
            data = rest[size:]
        order = [os.fsencode(name) + b'/' * stat.S_ISDIR(mode) for mode, name, _ in entries]
        need(not strict or order == sorted(order) and len({name for _, name, _ in entries}) == len(entries), 'path', oid, 'not sorted, or a name twice')
        return entries
    def below(self, oid, path):
        for name in path.split('/'):
            oid = next((e for _, n, e in self.tree(oid, strict=False) if n == name), None) if oid else None
        return oid
def decode(text):
    return re.sub('%([0-9A-F]{2})', lambda m: chr(int(m[1], 16)), text)
def encode(issue):  # returns the encoded key of an issue, None if it is not a key
    key = re.sub(r'[ %/~^:?*\[\\]|^\.|\.$|(?<=\.)\.|(?<=@)\{|\.(?=lock$)', lambda m: '%%%02X' % ord(m[0]), issue)
    return key if key and not re.search('[\0-\x1f\x7f-\x9f\ud800-\udfff]', key) and len(key.encode()) <= 200 else None
def is_text(text):
    return not re.search('[\ud800-\udfff]', text)
def is_id(text):
    return 0 < len(os.fsencode(text)) <= 200 and text[0] != '-' and text.isprintable() and ' ' not in text

class Commit:
    def __init__(self, oid, data):
        head, _, self.text = data.partition(b'\n\n')
        self.author = (re.findall(rb'(?m)^author (.*)$', head) + [b''])[0]
        tree = re.match(b'tree ([0-9a-f]+)\n', head) or need(False, 'chain', oid, 'not a commit')
        self.oid, self.tree = oid, tree[1].decode()
        self.parents = re.findall('parent ([0-9a-f]+)\n', re.match(rb'(?:parent [0-9a-f]+\n)*', head[tree.end():] + b'\n')[0].decode())
        self.message, at = os.fsdecode(self.text), self.text.rstrip(b'\n').rfind(b'\n\n') + 2
        self.at = at if at > 1 else len(self.text)  # of the trailers
        lines = [line.partition(': ') for line in os.fsdecode(self.text[self.at:]).rstrip('\n').split('\n')]
        known, heads = [name for name, _, _ in lines if name[:11] == 'Checkpoint-' and name[11:] in TRAILERS], re.findall(b'(?m)^(?:author|committer) ', head)
        self.trailers, self.odd = {name: value for name, _, value in lines}, len(known) > len(set(known)) or not all(sep for _, sep, _ in lines)
        self.strange, time = sorted(heads) != [b'author ', b'committer '] or b'\0' in self.text, re.search(rb'(?m)^committer .* (\d+) \S+$', head)
        stated, time = self.number('Clock'), int(time[1]) * 10**9 if time else 0
        self.stated, self.clock = stated, time if stated > time + DAY else stated
        self.id = self.trailer('Id') if is_id(self.trailer('Id')) else ''
        self.name, self.ledger = self.id or oid, len(self.parents) == 1 and self.message.startswith('ledger of issue ')
    def trailer(self, name):  # returns the value of a trailer
        return self.trailers.get('Checkpoint-' + name, '')
    def number(self, name):
        return int(self.trailer(name)) if re.fullmatch(CLOCK, self.trailer(name)) else 0
def quote(text):  # returns a text in the form of a trailer
    if text.strip() == text and not re.search('[\0-\x1f\x7f]', text) and text[:1] != '"':
        return text
    named = dict(zip('\a\b\f\n\r\t\v"\\', 'abfnrtv"\\'))
    return '"' + ''.join('\\' + named[c] if c in named else c if ' ' <= c <= '~' else '\\x%02x' % ord(c) if c < '\x80' else '\\u%04x' % ord(c) if c <= '\uffff' else '\\U%08x' % ord(c) for c in text) + '"'
def commit_id(repo, tree, parents, who, message):  # returns the id of a commit with one author and committer
    data = b''.join([f'tree {tree}\n'.encode(), *(f'parent {p}\n'.encode() for p in parents), b'author %s\ncommitter %s\n\n' % (who, who), os.fsencode(message)])
    return repo.hash(b'commit %d\0' % len(data) + data).hexdigest()
def genesis(repo, key):
    return commit_id(repo, repo.empty, [], WHO, f'checkpoints of issue {key}\n')
def content(c, entries):  # returns the content of a checkpoint
    fields = [field for mode, name, oid in entries if name not in ('ledger', 'signature') for field in (b'%o' % mode, os.fsencode(name), oid.encode())]
    fields += [''.join(c.parents[1:2]).encode(), c.author, c.text[:c.at] + re.sub(rb'(?m)^Checkpoint-Content: .*\n?', b'', c.text[c.at:])]
    return hashlib.sha256(b''.join(len(field).to_bytes(8, 'big') + field for field in fields)).hexdigest()

class Chain:  # the commits of a ref, newest first, without the genesis commit, and the facts of its ledger
    def __init__(self, repo, key, ref):
        self.repo, self.key, self.commits, self.cut, oid, foreign, end = repo, key, [], False, repo.refs[ref], 0, genesis(repo, key)
        while oid and oid != end and not self.cut and foreign <= MAX_FOREIGN:
            c = Commit(oid, repo.get(oid, 'commit', 'chain', intact=False))
            self.commits.append(c)
            self.cut, oid, foreign = oid in repo.shallow, (c.parents or [None])[0], foreign + (not c.ledger and not c.id)
        self.rooted, ledger = oid == end, repo.below(next((c.tree for c in self.commits if c.ledger or c.id), repo.empty), 'ledger')  # of the newest
        self.facts, self.live = facts(repo, ledger) if ledger else [], ref.startswith(LIVE)
    def values(self, c, *kind):  # returns the values of facts about a checkpoint
        return [f[3] for f in self.facts if f[:2] == list(kind) and decode(f[2]) == c.id]
    def hides(self, c):  # reports whether a checkpoint of the live chain is deleted or archived
        gone = self.values(c, 'set', 'deleted') + self.values(c, 'last', 'archived')
        return self.live and ('*' in gone or '1' in gone or len(gone) > 0 and content(c, self.repo.tree(c.tree, strict=False)) in gone)
    def is_double(self, c):  # reports whether the chain has another content under the id of a checkpoint
        found = {content(o, self.repo.tree(o.tree, strict=False)) for o in self.commits if o.id and o.id == c.id and not o.ledger and not self.hides(o)}
        return len(found) > 1
    def unordered(self):  # returns each checkpoint with one above it that it came after
        saves = [c for c in self.commits if c.id and not c.ledger]
        before = {c: [a for a in saves if a.id in c.trailer('After').split(' ') and a.id != c.id] for c in saves}
        def ancestors(c):
            found = list(before[c])
            for a in found:
                found += [b for b in before[a] if b not in found]
            return found
        return [(c, a) for n, c in enumerate(saves) for a in saves[:n] if a in before[c] and c not in ancestors(a)]
def facts(repo, oid):  # returns the facts of a ledger
    data = repo.get(oid, 'blob')
    lines = os.fsdecode(data).split('\n')
    need(all(map(FACT.fullmatch, lines[:-1])) and lines[-1] == '' and len(data) <= MAX_LEDGER, 'ledger', oid, 'too large, cut short, or with a line that is no fact')
    found = [line.split(' ') for line in lines[:-1]]
    for f in found:
        numbers, known = f[4:] if f[0] == 'last' else f[3:4] if f[1] == 'pruned' else [], f[1] in ('deleted', 'pruned', 'purged', 'purged-field', 'archived', 'pin', 'reviewed', 'reason', 'position')
        ids = f[2:3] * known + f[4:] * (f[1] in ('deleted', 'pruned') and f[0] == 'set')
        need(all(int(n) < 1 << 63 for n in numbers) and all(is_id(decode(i)) for i in ids), 'ledger', oid, 'a number or an id that is not valid')
        need(all(map(is_text, f)), 'ledger', oid, 'not UTF-8')
    keys = {(*f[:3], f[3].rpartition('=')[0]) if f[0] == 'last' else tuple(f) for f in found}
    need(lines[:-1] == sorted(lines[:-1], key=os.fsencode) and len(keys) == len(found), 'ledger', oid, 'not in order, or a fact twice')
    return found

WORDS = {'null', 'true', 'false', 'yes', 'no', 'on', 'off', 'y', 'n', '.inf', '.nan'}
def is_plain(text):
    return re.fullmatch(r'(?:[A-Za-z_/]|\.[A-Za-z]|[^\0-\x7f])[^\0-\x1f\x7f]*', text) and not re.search(': | #|[ :]$', text) and text.lower() not in WORDS
class Number(float):  # a number that is no integer, with its text
    def __new__(cls, text):
        found = super().__new__(cls, text)
        found.text = text
        return found
class Text:  # a parser of the form of a record. It fails with ValueError
    def __init__(self, data):
        self.at, self.nodes, text = 0, 0, data.decode() if len(data) <= MAX_RECORD else ''
        self.need(re.fullmatch('[\t\n -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]+\n', text), 'too large, cut short, or not text')
        self.lines = text.split('\n')[:-1] if text != '{}\n' else []
        self.value = self.block(0) if self.lines else {}
        self.need(self.at == len(self.lines) and isinstance(self.value, dict), 'not a mapping')
    def pair(self, rest):  # returns the key of a line, in its form, and the value, or None
        m = re.match(r'("(?:[^"\\]|\\.)*"):(?: |$)' if rest[:1] == '"' else r'([^|].*?):(?: |$)', rest)
        return m and (m[1], rest[m.end():], rest[m.end() - 1] == ' ')
    def need(self, ok, reason):
        if not ok:
            raise ValueError(f'line {self.at + 1}: {reason}')
    def line(self, indent):
        line = self.lines[self.at] if self.at < len(self.lines) else ''
        return line[indent:] if len(line) - len(line.lstrip(' ')) == indent else ''
    def block(self, indent):
        rest = self.line(indent)
        self.need(rest and indent < 2 * MAX_DEPTH, 'no value, or too deep')
        found = [] if rest.startswith('- ') else {}
        while (rest := self.line(indent)) and rest.startswith('- ') == isinstance(found, list):
            self.nodes += 2 - isinstance(found, list)
            self.need(self.nodes <= MAX_NODES, 'too many values')
            if isinstance(found, dict):
                if is_long := rest.startswith('? '):  # the value follows on its own line
                    self.at += 1
                    below = self.line(indent)
                    self.need(re.match(':(?: |$)', below), 'want a colon')
                    pair = rest[2:], below[2:], below[1:2] == ' '
                else:
                    pair = self.pair(rest)
                self.need(pair and (is_long or len(pair[0].encode()) <= MAX_KEY), 'want a key')
                key = unquote(pair[0]) if pair[0][:1] == '"' else pair[0] if is_plain(pair[0]) else None
                self.need(key is not None and key not in found, 'want a new key')
                found[key] = self.scalar(pair[1], indent, pair[2])
            elif re.match('[-?] ', rest[2:]) or self.pair(rest[2:]):
                self.lines[self.at] = ' ' * (indent + 2) + rest[2:]
                found.append(self.block(indent + 2))
            else:
                found.append(self.scalar(rest[2:], indent, True))
        return found
    def scalar(self, text, indent, inline):
        self.at += 1
        if not inline:
            return self.block(indent + 2)
        if text.startswith('|'):
            begin, space = self.at, ' ' * (indent + 2)
            while self.at < len(self.lines) and (self.lines[self.at] == '' or self.lines[self.at].startswith(space)):
                self.need(self.lines[self.at] == '' or self.lines[self.at].strip(' \t'), 'a line of spaces')
                self.at += 1
            block = ''.join(line[len(space):] + '\n' for line in self.lines[begin:self.at])
            end = '+' if block.endswith('\n\n') else '-' if text.endswith('-') else ''
            self.need(text == '|' + '2' * (block[:1] in (' ', '\t')) + end and block.strip('\n') and block[0] != '\n', 'not the header of this block')
            return block[:-1] if end == '-' else block
        if text in ('null', 'true', 'false', '{}', '[]'):
            return json.loads(text)
        if re.fullmatch(r'-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?', text):
            return int(text) if re.fullmatch('0|-?[1-9][0-9]{,4000}', text) else Number(text)
        value = unquote(text) if text[:1] == '"' else text if is_plain(text) else None
        self.need(value is not None, 'not in the form of a record')
        return value
def unquote(text):  # returns the value of a text in double quotes, or None
    if not re.fullmatch(r'"(?:[^"\\\t]|\\(?:["\\nrt]|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}))*"', text):
        return None
    try:
        value = re.sub(r'\\(?:U([0-9a-fA-F]{8})|u([0-9a-fA-F]{4})|(.))', lambda m: chr(int(m[1] or m[2], 16)) if m[1] or m[2] else {'n': '\n', 'r': '\r', 't': '\t'}.get(m[3], m[3]), text[1:-1])
    except (ValueError, OverflowError):
        return None
    return value if is_text(value) and '\0' not in value else None
SPENT = 'agent text, model text, phase text, input int, output int, cache_read int, cache_write int'
FIELDS = f"""checkpoint_id text, version text, created_at time, trigger text, issue_number text, session_id text, note text, clock int, workflow map, repository text, restored_from [text]
workflow_state: current_phase text, current_state_label text, phase_started_at time, phase_attempt int, phase_attempts.* int
issue_snapshot: title text, body text, body_digest text, labels [text], assignees [text], branch text, labels_order [text], state text, source text
team_state: team_id text; team_state.members[]: agent text, role text, status text, tasks_completed int, tasks_pending int
execution_graph: graph_id text, completed_batches [int], current_batch int; lineage.fork: issue text, checkpoint_id text, name text
execution_graph.node_states.*: status text, started_at time, completed_at time; files_modified[]: path text, status text, staged bool
agent_outputs.*.*: completed_at time, output_summary text, output_location text, output_digest text; agent_turn.usage[]: {SPENT}
knowledge_context: injected_entries [text], captured_entries [text], pending_captures [any]; agent_turn.spent[]: {SPENT}
recovery_info: can_resume bool, resume_from text, prerequisites_met bool, warnings [text]; acp_state: pending_messages [text]
acp_state: awaiting_response [text], conflicts_in_progress [text]; progress: current text, completed [text], total int
progress: names [text], remaining [text]; snapshot.skipped[]: path text, size int, reason text, carried_from text; snapshot.modes[]: path text, mode text; snapshot.flagged[]: path text, flag text
agent_turn: number int, agent text, request text, asked int, answer text, hand bool, usage_of text, commits [text], written.* int, started.* int
snapshot: scope text, head text, detached bool, merge_head [text], deleted [text], intent_to_add [text], kept [text], ignores text
submodules[]: path text, commit text, issue text, id text"""
KINDS = {}
for row in re.split('\n|; ', FIELDS):
    above, _, fields = row.rpartition(': ')
    for name, kind in (field.split(' ') for field in fields.split(', ')):
        steps = f'{above}.{name}'.lstrip('.').replace('[]', '.[]').split('.') + ['[]'] * (kind[0] == '[')
        KINDS.update({'.'.join(steps[:n]): 'list' if steps[n] == '[]' else 'map' for n in range(1, len(steps))})
        KINDS['.'.join(steps)] = kind.strip('[]')
def text_of(value):
    return value if isinstance(value, str) else '' if value is None else value.text if isinstance(value, Number) else json.dumps(value)
def get(record, path, default=None):
    for key in path.split('.'):
        record = record.get(key) if isinstance(record, dict) else None
    return default if record is None else record
def check_kinds(value, path):  # returns (rule, reason) for values of the wrong kind, and for those that are not valid
    kind, text = KINDS.get(path), text_of(value)
    if value is None and not path.endswith('.[]') or kind in (None, 'any'):
        return
    wanted = {'bool': bool, 'map': dict, 'list': list}.get(kind, (str, int, float))
    if not isinstance(value, wanted) or isinstance(value, bool) and kind != 'bool' or kind == 'int' and not re.fullmatch('[-+]?[0-9]{1,200}', text) or kind == 'int' and not -1 << 63 <= int(text) < 1 << 63:
        yield 'record', f'{path}: want {kind}'
    elif kind == 'int' and int(text) < 0 or kind == 'time' and not is_time(value):
        yield 'schema', f'{path}: not a valid {kind}'
    for key, v in value.items() if isinstance(value, dict) else [('[]', v) for v in value] if isinstance(value, list) else ():
        yield from check_kinds(v, f'{path}.{key}' if f'{path}.{key}' in KINDS and key != '*' else f'{path}.*')
def is_time(value):
    text, day = text_of(value).strip(), r'(\d{4})-(\d\d)-(\d\d)|(\d{4})(\d\d)(\d\d)|(\d\d)-(\d\d)-(\d{4})'
    if not isinstance(value, str) or re.fullmatch(r'(\d{9,13}|\d{15,})(\.\d*)?', text, re.A):  # since 1970
        whole = re.fullmatch(r'(-?\d{1,19})(?:\.\d*)?', text, re.A)
        return 1e8 <= (int(whole[1]) if whole else float(text)) < 1 << 63
    m = re.fullmatch(rf'(?:{day})(?:[Tt _]?(\d\d):?(\d\d)(?::?(\d\d)(?:[.,]\d+)?)? *(?:Z|z|UTC|GMT|([+-])([01]\d|2[0-3])(?::?([0-5]\d))?)?)? *(?:\|.*)?', text, re.A | re.S)
    try:
        date = [int(n) for n in (m.groups()[:3] if m[1] else m.groups()[3:6] if m[4] else m.groups()[8:5:-1])] if m else []
        hour, minute, second, ahead, behind = [int(m[n] or 0) for n in (10, 11, 12, 14, 15)] if m else [0] * 5
        at = datetime.datetime(*date, hour, minute, min(second, 59) if second <= 60 else second) + datetime.timedelta(seconds=second == 60)
        return bool(at - datetime.timedelta(hours=ahead, minutes=behind) * (-1 if m[13] == '-' else 1))
    except (ValueError, OverflowError, TypeError):
        return False
def is_path(path):  # reports whether a path is in git's quotes where it has to be, and only there
    if not path.startswith('"'):
        return '\0' not in path
    if not re.fullmatch(r'"(?:[ !#-\[\]-~]|\\(?:[abtnvfr"\\]|[0-3][0-7]{2}))*"', path):
        return False
    data = path[1:-1].encode().decode('unicode_escape').encode('latin-1')
    named = dict(zip(b'\a\b\t\n\v\f\r"\\', 'abtnvfr"\\'))
    again = '"' + ''.join('\\' + named[c] if c in named else chr(c) if 32 <= c < 127 else '\\%03o' % c for c in data) + '"'
    return again == path and b'\0' not in data and (data.startswith(b'"') or not is_text(os.fsdecode(data)))
def has_cycle(r):  # reports whether tasks of a record wait for each other
    of = lambda v: [(t.get('id'), t) for t in v if isinstance(t, dict)] if isinstance(v, list) else list(v.items()) if isinstance(v, dict) else []
    edges, waits = [(e.get('to'), [e.get('from')]) for _, e in of(get(r, 'execution_graph.edges'))], {}
    for task, others in edges + [(i, get(t, 'depends_on')) for i, t in of(r.get('tasks'))] + [(i, get(n, 'dependencies')) for i, n in of(get(r, 'execution_graph.nodes'))]:
        waits.setdefault(text_of(task), set()).update(map(text_of, others if isinstance(others, list) else ()))
    try:
        return graphlib.TopologicalSorter(waits).prepare()
    except graphlib.CycleError:
        return True
def problems(r):  # returns the broken rules of the values of a record
    named = [f.get('path') for key in ('files_modified', 'snapshot.skipped') for f in get(r, key, [])]
    paths = named + [f.get('path') for key in ('snapshot.modes', 'snapshot.flagged', 'submodules') for f in get(r, key, [])] + sum((get(r, 'snapshot.' + key, []) for key in ('deleted', 'intent_to_add', 'kept')), [])
    commits = [get(r, 'snapshot.head')] + get(r, 'snapshot.merge_head', []) + get(r, 'agent_turn.commits', []) + [s.get('commit') for s in get(r, 'submodules', [])]
    statuses = {get(n, 'status') for n in get(r, 'execution_graph.node_states', {}).values()}
    return [reason for reason, ok in {
        'checkpoint_id': is_id(text_of(r.get('checkpoint_id'))), 'created_at': r.get('created_at') is not None, 'issue_number': encode(text_of(r.get('issue_number'))),
        'trigger': re.fullmatch('[a-z0-9_]{0,64}', text_of(r.get('trigger'))), 'a path': all(map(text_of, named)) and all(is_path(text_of(p)) for p in paths), 'a turn': int(get(r, 'agent_turn.number', 0)) < 1 << 31, 'a scope': get(r, 'snapshot.scope', '') in ('', 'whole', 'staged', 'cut'),
        'restored_from': all(is_id(text_of(i)) for i in get(r, 'restored_from', []) if i != ''),
        'a commit': all(re.fullmatch('(sha1:[0-9a-f]{40}|sha256:[0-9a-f]{64})?', text_of(i)) for i in commits),
        'node_states': statuses <= {'pending', 'queued', 'running', 'complete', 'failed', 'skipped'}, 'a cycle of tasks': not has_cycle(r)}.items() if not ok]
def top(repo, c):  # returns the ids in the tree of a checkpoint by their names
    found = {name: (mode, oid) for mode, name, oid in repo.tree(c.tree)}
    odd = [name for name, (mode, _) in found.items() if mode not in TOP.get(name, [FILE, EXE, TREE] if name.startswith('x-') else [])]
    need(not odd and {'checkpoint.yaml', 'state', 'staged'} <= set(found), 'tree', c.tree, f'not the entries of a checkpoint: {odd!r:.200}')
    found = {name: oid for name, (_, oid) in found.items()}
    stages = {(name, mode) for mode, name, _ in repo.tree(found.get('conflicts', repo.empty))}
    need(stages <= {(n, TREE) for n in '123'}, 'tree', c.tree, 'conflicts that are not stages')
    return found
def record(repo, c, parts):  # returns the record of a checkpoint with these parts, and the broken rules of its values
    try:
        r, entry = Text(repo.get(parts['checkpoint.yaml'], 'blob')).value, parts['checkpoint.yaml']
    except (ValueError, RecursionError) as e:
        raise Damage('record', parts['checkpoint.yaml'], f'checkpoint.yaml: {e}')
    found = [f for key, value in r.items() for f in check_kinds(value, key)]
    wrong = [reason for rule, reason in found if rule == 'record'] + ['another major version']
    need(len(wrong) == 1 and text_of(r.get('version')).split('.')[0] in ('', '1'), 'record', entry, wrong[0])
    return r, [reason for _, reason in found] + problems(r)
def bad_entry(mode, name, path):  # returns why an entry of a tree is not valid, or None
    plain = re.sub('[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]', '', name).lower()
    same = lambda form: plain == form[0] or any(re.fullmatch(f'({"|".join(map(re.escape, form))})[ .]*(:.*)?', p) for p in name.lower().split('\\'))
    kind, folder = stat.S_IFMT(mode), stat.S_ISDIR(mode)
    if len(os.fsencode(path)) > MAX_PATH or name in ('', '.', '..') or '/' in name or same(['.git', 'git~1']):
        return 'not a name of a file, or too long'
    if folder and same(['.gitattributes', 'gitatt~1']) or (folder or stat.S_ISLNK(mode)) and same(['.gitmodules', 'gitmod~1']):
        return 'not a name of a symlink or folder'
    if kind not in (stat.S_IFREG, stat.S_IFLNK, stat.S_IFDIR) and mode != 0o160000:
        return f'mode {mode:o}'

class Verify:
    def __init__(self, repo, key):
        self.repo, self.key, self.findings, self.checked, self.seen, self.ledgers, self.members = repo, key, [], 0, set(), set(), {}
        for ref in (LIVE + key, ARCHIVE + key):
            if ref in repo.refs and (chain := self.run(ref, Chain, repo, key, ref)):
                self.chain(ref, chain)
    def need(self, ok, subject, rule, obj, reason):
        if not ok:
            self.findings.append({'rule': rule, 'issue': decode(self.key), 'subject': subject, 'object': obj, 'reason': reason})
        return ok
    def run(self, subject, check, *args):
        try:
            return check(*args)
        except Damage as d:
            self.need(False, subject, *d.args)
    def chain(self, ref, chain):
        self.need(chain.rooted or chain.cut, ref, 'genesis', chain.commits and chain.commits[-1].oid, 'the chain does not end in the genesis commit')
        above = None
        for c in chain.commits:
            self.run(c.name, self.repo.get, c.oid, 'commit')
            self.need(not c.strange, c.name, 'commit', c.oid, 'want one author and one committer, and no NUL')
            self.tree(c.name, c.tree, '')
            entries = self.run(c.name, self.repo.tree, c.tree) or ()
            for mode, oid in {(mode, oid) for mode, name, oid in entries if name == 'ledger' and oid not in self.ledgers}:
                self.ledgers.add(oid)
                self.need(mode != FILE or self.run(c.name, facts, self.repo, oid) != [], c.name, 'ledger', oid, 'empty')
            if c.ledger:
                own = {e[:2] for e in entries} <= {(FILE, 'ledger')} and c.message.split('\n')[0] == 'ledger of issue ' + self.key
                self.need(own, c.name, 'commit', c.oid, 'not a ledger commit of this issue')
                continue
            found = entries and content(c, entries)
            self.need(found in ((), c.trailer('Content')), c.name, 'content', c.oid, f'the content is {found}')
            if found and c.id and not chain.hides(c):
                self.need((c.id, found) not in self.members, c.name, 'twice', c.oid, f'also {self.members.get((c.id, found))}')
                self.members[c.id, found] = c.oid
            above and self.need(above.stated >= c.clock, above.name, 'clock', above.oid, f'before {c.name}')
            above, self.checked = c if self.checkpoint(c) else None, self.checked + 1
        for c, a in chain.unordered():
            self.need(False, c.name, 'order', c.oid, f'it came after {a.name}, above it')
    def checkpoint(self, c):  # checks a checkpoint, and reports whether its trailers are valid
        ids = [c.trailer('After').split(' '), c.trailer('Restored-From').split(' ') if c.trailer('Restored-From') else []]
        wrong = [name for name, (form, _, _) in TRAILERS.items() if not re.fullmatch(form, c.trailer(name), re.S)] + ['Issue'] * (c.trailer('Issue') != self.key)
        sound = c.id and not wrong and not c.odd and c.stated < 1 << 63 and max(c.number('Turn'), c.number('Left-Out')) < 1 << 31 and max(map(len, ids)) <= 8 and all(map(is_id, ids[0] + ids[1]))
        self.need(sound, c.name, 'commit', c.oid, f'the trailers are not those of a checkpoint: {wrong}')
        parts = self.run(c.name, top, self.repo, c)
        r, broken = parts and self.run(c.name, record, self.repo, c, parts) or ({}, ())
        self.need(not broken, c.name, 'schema', c.oid, ', '.join(broken))
        head = self.run(c.name, self.state, c, parts, r) if parts and c.oid not in self.repo.shallow else None
        parts and r and self.agree(c, r, head)
        return sound
    def state(self, c, parts, r):  # checks the state commit and the index commit, and returns HEAD for the record
        need(len(c.parents) == 2, 'state', c.oid, f'{len(c.parents)} parents, want 2')
        state = Commit(c.parents[1], self.repo.get(c.parents[1], 'commit'))
        need(len(state.parents) == 2, 'state', state.oid, 'not a state commit')
        head, index = state.parents
        forked = get(r, 'lineage.fork.name') and is_id(state.message[9:-1])
        name, who = (state.message[9:-1], state.author) if forked and state.message[9:-1] != c.id else (c.id, c.author)
        for oid, kind, part, parents in (index, 'index', 'staged', [head]), (state.oid, 'state', 'state', [head, index]):
            need(oid == commit_id(self.repo, parts[part], parents, who, f'{kind} of {name}\n'), 'state', oid, f'not the {kind} commit of {name}')
            self.repo.shallow or self.repo.get(oid, 'commit')
        if not self.repo.shallow:
            subject = Commit(head, self.repo.get(head, 'commit')).message.rstrip('\n')
            return '' if head == genesis(self.repo, subject[21:]) else f'sha{"1" if len(head) == 40 else "256"}:{head}'
    def agree(self, c, r, head):
        want = {name: get(r, path) for name, (_, path, _) in TRAILERS.items() if path}
        want = {name: TRAILERS[name][2] if value in (None, '') else value for name, value in want.items()}
        want = {name: ' '.join(map(text_of, value)) if isinstance(value, list) else text_of(value) for name, value in want.items()}
        want['Issue'], want['Turn'], want['Clock'] = encode(want['Issue']), str(int(want['Turn'] or 0)).strip('-0') and str(int(want['Turn'])), str(int(want['Clock']))
        wrong = [name for name, value in want.items() if c.trailer(name) != (quote(value) if TRAILERS[name][0] == TEXT else value)]
        wrong += ['Left-Out'] * (c.number('Left-Out') > len(get(r, 'snapshot.skipped', []))) + ['HEAD'] * (head not in (None, text_of(get(r, 'snapshot.head'))))
        self.need(not wrong, c.name, 'agree', c.oid, ', '.join(wrong) + ': not as in the record')
    def tree(self, subject, oid, at, mode=TREE):  # checks a tree or blob and all objects below it once, and reports whether they are sound
        if oid in self.repo.sound or oid == self.repo.empty or oid in self.seen:
            return oid in self.repo.sound or oid == self.repo.empty
        self.seen.add(oid)
        try:
            entries = self.repo.tree(oid) if mode == TREE else self.repo.get(oid, 'blob', keep=False)[:0]
        except Damage as d:
            return self.need(mode != TREE and self.repo.partial and d.args[2] == 'missing', subject, *d.args)
        sound = True
        for mode, name, entry in entries:
            if reason := bad_entry(mode, name, at + name):
                sound = self.need(False, subject, 'path', oid, f'{(at + name)[:200]!r}: {reason}')
            elif mode != 0o160000:
                sound = self.tree(subject, entry, at + name + '/', mode) and sound
        self.repo.sound.update([oid] if sound else [])
        return sound
def files(repo, c, part):  # returns the files of a part of a checkpoint by their paths, as (mode, id)
    name, _, stage = part.partition('/')
    oid, found = top(repo, c).get(name, repo.empty), {}
    todo = [(repo.below(oid, stage) or repo.empty if stage else oid, '')]
    while todo:
        oid, at = todo.pop()
        for mode, name, entry in repo.tree(oid):
            reason = bad_entry(mode, name, part + '/' + at + name)
            need(not reason, 'path', oid, f'{(at + name)[:200]!r}: {reason}')
            if stat.S_ISDIR(mode):
                todo.append((entry, at + name + '/'))
            else:
                found[at + name] = mode, entry
    return found
def restore(repo, r, found, folder):  # writes files into an empty folder, symlinks last
    os.makedirs(folder, exist_ok=True)
    need(not os.listdir(folder), 'restore', folder, 'the folder is not empty')
    for path, (mode, oid) in sorted(found.items(), key=lambda f: stat.S_ISLNK(f[1][0])):
        target = os.path.join(folder, path)
        os.makedirs(target if mode == 0o160000 else os.path.dirname(target), exist_ok=True)
        if stat.S_ISLNK(mode):
            os.symlink(repo.get(oid, 'blob'), os.fsencode(target))
        elif mode != 0o160000:
            with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o777 if mode & 0o111 else 0o666), 'wb') as f:
                f.write(repo.get(oid, 'blob'))
    return {'files': len(found), 'scope': get(r, 'snapshot.scope'), 'skipped': get(r, 'snapshot.skipped', [])}
def listed(repo, chain, c):
    try:
        r, broken = record(repo, c, top(repo, c))
    except Damage as d:
        r, broken = {}, [d]
    return {'checkpoint_id': c.id, 'issue': decode(chain.key), 'commit': c.oid, 'created_at': r.get('created_at'), 'trigger': c.trailer('Trigger'),
            'phase': text_of(get(r, 'workflow_state.current_phase')), 'branch': get(r, 'issue_snapshot.branch') or None, 'can_resume': c.trailer('Resumable') == 'true', 'pinned': '1' in chain.values(c, 'last', 'pin'),
            'valid': not broken, 'double': chain.is_double(c), 'left_out': bool(c.trailer('Left-Out')), 'note': text_of(r.get('note'))}
def run(repo, a):
    wanted, above = [encode(a.args[0])] if a.args else repo.keys, ARCHIVE if a.archived else LIVE
    need(set(wanted) <= set(repo.keys), 'issue', ' '.join(a.args[:1]), 'no chain')
    if a.command == 'verify':
        done = [Verify(repo, key) for key in wanted]
        found = sum((v.findings for v in done), [])
        return {'repository': repo.path, 'valid': not found, 'checked': sum(v.checked for v in done), 'findings': found}
    chains = [Chain(repo, key, above + key) for key in wanted if above + key in repo.refs]
    found = [(chain, c) for chain in chains for c in chain.commits if not c.ledger and not chain.hides(c) and a.args[1:2] in ([], [c.id], [c.oid])]
    if a.command in ('list', 'show'):
        return [listed(repo, chain, c) if a.command == 'list' else {'commit': c.oid, 'checkpoint': record(repo, c, top(repo, c))[0]} for chain, c in found]
    need(len(found) == 1 and len(a.args) == 3, a.command, ' '.join(a.args), 'want an issue, a checkpoint, and a path')
    c = found[0][1]
    stored = files(repo, c, a.part)
    if a.command == 'restore':
        return restore(repo, record(repo, c, top(repo, c))[0], stored, a.args[2])
    need(a.args[2] in stored, 'cat', a.args[2], 'no such file')
    return repo.get(stored[a.args[2]][1], 'blob')
def main():
    p, code = argparse.ArgumentParser(description='list, show, restore and verify the checkpoints of git-checkpoint; prints JSON'), 0
    p.add_argument('-C', dest='dirs', action='append', metavar='DIR', help='a repository, or several')
    p.add_argument('--archived', action='store_true', help='read the archive')
    p.add_argument('--part', default='state', help='staged, or conflicts/1 to 3, instead of the state of the worktree')
    p.add_argument('command', choices=('list', 'show', 'cat', 'restore', 'verify'))
    p.add_argument('args', nargs='*', metavar='ISSUE ID PATH')
    a = p.parse_args()
    sys.setrecursionlimit(10000)  # folders in a path of 4096 bytes
    for repo in map(Repo, a.dirs or ['.']):
        try:
            result = run(repo, a)
        except Damage as d:
            sys.exit('reader: ' + ': '.join(map(str, d.args)))
        repo.batch and repo.batch.communicate()
        code |= a.command == 'verify' and not result['valid']
        sys.stdout.buffer.write(result if a.command == 'cat' else json.dumps(result).encode() + b'\n')
    return code
if __name__ == '__main__': sys.exit(main())
