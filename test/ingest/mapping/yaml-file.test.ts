import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRuleFolder } from '../../../alerts/evaluation/rule-folder.ts';
import { loadMappings } from '../../../ingest/mapping/named-mappings.ts';
import type { WrongYaml } from '../../../ingest/mapping/yaml-tree.ts';
import { ruleText } from '../../alerts/evaluation/evaluated-feed.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';

const NO_FILE = 'cannot be read: it is a folder, a pipe or a device; allowed: a file';
const GIB = 1024 ** 3;

/** A folder with a file `broken.yaml` that `make` makes. */
function folderWith(make: (path: string) => void): string {
  const folder = temporaryFolder();
  make(join(folder, 'broken.yaml'));
  return folder;
}

function makeSized(path: string, bytes: number): void {
  writeFileSync(path, '');
  truncateSync(path, bytes);
}

const BROKEN: readonly (readonly [what: string, make: (path: string) => void, fault: string])[] = [
  ['a pipe that nobody writes to', (path) => execFileSync('mkfifo', [path]), NO_FILE],
  ['a device that never ends', (path) => symlinkSync('/dev/zero', path), NO_FILE],
  ['a folder', (path) => mkdirSync(path), NO_FILE],
  ['3 GiB', (path) => makeSized(path, 3 * GIB), `line 1: the file has ${3 * GIB} bytes: at most 1048576 are allowed`],
  ['a link to nothing', (path) => symlinkSync('nothing', path), 'cannot be read: no such file or directory'],
];

test.each(BROKEN)('%s in the folder of rules is told, and the other rules are read', (_what, make, fault) => {
  const folder = folderWith(make);
  writeFileSync(join(folder, 'right.yaml'), ruleText());
  const { rules, wrongFiles, faults } = readRuleFolder(folder, { mayLack: false });
  expect(faults).toEqual([`${folder}/broken.yaml, ${fault}`]);
  expect([rules.map(({ file }) => file), wrongFiles]).toEqual([['right.yaml'], ['broken.yaml']]);
});

test.each(BROKEN)('%s in the folder of mappings is told', (_what, make, fault) => {
  const folder = folderWith(make);
  expect(() => loadMappings(folder)).toThrow(fault);
  expect(() => loadMappings(folder)).toThrow(`${folder}/broken.yaml`);
});

test.each([
  ['rules', (folder: string) => readRuleFolder(folder, { mayLack: false }).faults],
  ['mappings', (folder: string) => (rejected(() => loadMappings(folder)) as WrongYaml).faults],
])('of a file about something else in the folder of %s the first faults are told, and the others counted', (_what, faultsIn) => {
  const folder = folderWith((path) => writeFileSync(path, Array.from({ length: 5_000 }, (_, nth) => `key${nth}: 1\n`).join('')));
  const faults = faultsIn(folder);
  expect(faults).toHaveLength(21);
  expect(faults.at(-1)).toMatch(/broken\.yaml: \d{4} more$/);
});

function rejected(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
