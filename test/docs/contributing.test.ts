import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MAY_IMPORT } from '../rooms/room-table.ts';
import { ROOT } from './markdown.ts';

const CONTRIBUTING = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
const CELLS = CONTRIBUTING.split('\n').map((row) => row.split('|').map((cell) => cell.trim()));

/** Returns what the table must say that a room may import. `scripts` is in no room. */
function mayImport(room: string): string {
  const allowed = MAY_IMPORT[room]?.filter((other) => other !== 'scripts') ?? [];
  if (allowed.length === 0) return 'no other room';
  if (allowed.length === Object.keys(MAY_IMPORT).length - 1) return 'every other room';
  return allowed.map((other) => `\`${other}/\``).join(', ');
}

describe('CONTRIBUTING.md', () => {
  test.each(Object.keys(MAY_IMPORT))('says what %s/ may import', (room) => {
    const row = CELLS.find(([, first]) => first === `\`${room}/\``);
    expect(row?.[3]).toBe(mayImport(room));
  });
});
