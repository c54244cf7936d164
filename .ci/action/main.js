// The main step of action.yml: installs git-checkpoint, and resumes the work of the job.
'use strict'

const { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const { createHash } = require('node:crypto')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { fileURLToPath } = require('node:url')
const { failed, input, print, run, summary, variable } = require('./runner.js')

// download returns the bytes of an archive from an http, https or file URL.
async function download(url) {
  if (url.startsWith('file:')) return readFileSync(fileURLToPath(url))
  const answer = await fetch(url)
  if (!answer.ok) throw new Error(`download ${url}: ${answer.status} ${answer.statusText}`)
  return Buffer.from(await answer.arrayBuffer())
}

// install checks and unpacks the archive, and puts its programs on PATH.
async function install(url, want) {
  if (!/^[0-9a-f]{64}$/i.test(want)) throw new Error('input sha256: want the 64 hexadecimal digits of checksums.txt')
  const archive = await download(url)
  const have = createHash('sha256').update(archive).digest('hex')
  if (have !== want.toLowerCase()) throw new Error(`${url}: its checksum is ${have}, and not ${want}`)
  const dir = mkdtempSync(join(process.env.RUNNER_TEMP || tmpdir(), 'git-checkpoint-'))
  const file = join(dir, 'archive')
  writeFileSync(file, archive)
  run('tar', ['-xf', file, '--strip-components=1', '-C', dir])
  rmSync(file)
  const bin = join(dir, 'bin')
  appendFileSync(process.env.GITHUB_PATH, bin + '\n')
  process.env.PATH = bin + (process.platform === 'win32' ? ';' : ':') + process.env.PATH
}

async function main() {
  if (input('release')) await install(input('release'), input('sha256'))
  process.env.GIT_CHECKPOINT_ISSUE = input('issue')
  appendFileSync(process.env.GITHUB_ENV, `GIT_CHECKPOINT_ISSUE=${input('issue')}\n`)
  const resume = ['checkpoint', 'resume', '--ci', '--print', 'env']
  if (input('files') === 'true') resume.push('--files')
  const vars = run('git', resume) // also writes the outputs of the step
  print(vars)
  summary()
  if (variable(vars, 'CHECKPOINT_ACTION') === 'prompt_user') {
    throw new Error(`the checkpoint is stale: git checkpoint status ${input('issue')}`)
  }
  appendFileSync(process.env.GITHUB_STATE, 'resumed=true\n')
}

main().catch(failed)
