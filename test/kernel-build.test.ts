import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** What is used of it here: Node's types leave it to those of the browser. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: { readonly memory: { readonly buffer: ArrayBuffer } } };
};

const root = join(import.meta.dirname, '..');

test.each([
  ['ingest/event/kernel', 'event-kernel.wasm'],
  ['store/embedded/parquet/kernel', 'segment-kernel.wasm'],
])('the kernel in %s is what its source compiles to', (name, file) => {
  const folder = join(root, name);
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { scripts: { build: string } };
  const [, ...args] = scripts.build.split(' && ').at(-1)?.split(' ') ?? [];
  const made = mkdtempSync(join(tmpdir(), 'shieldlog-kernel-'));
  try {
    const compiler = join(folder, 'node_modules/assemblyscript/bin/asc.js');
    const elsewhere = args.map((arg) => (arg === file ? join(made, arg) : arg));
    execFileSync(process.execPath, [compiler, ...elsewhere], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    const [compiled, committed] = [made, folder].map((from) => readFileSync(join(from, file)));
    expect(committed?.equals(compiled ?? new Uint8Array(0))).toBe(true);
  } finally {
    rmSync(made, { recursive: true });
  }
});

test("the event kernel's table of fields is what `query/event-fields.ts` makes it", () => {
  const folder = join(root, 'ingest/event/kernel');
  const made = mkdtempSync(join(tmpdir(), 'shieldlog-kernel-'));
  try {
    execFileSync(process.execPath, [join(folder, 'generate-field-table.ts'), join(made, 'field-table.ts')]);
    const [generated, committed] = [made, join(folder, 'assembly')].map((from) => readFileSync(join(from, 'field-table.ts'), 'utf8'));
    expect(committed).toBe(generated);
  } finally {
    rmSync(made, { recursive: true });
  }
});

test('an event kernel has the memory that it begins with, and no more: what is seen of it from outside stays good', () => {
  const folder = join(root, 'ingest/event/kernel');
  const { targets } = JSON.parse(readFileSync(join(folder, 'asconfig.json'), 'utf8'));
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(join(folder, 'event-kernel.wasm'))));
  expect(exports.memory.buffer.byteLength).toBe(targets.release.initialMemory * 64 * 1024);
});
