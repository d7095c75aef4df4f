import { createHash } from 'node:crypto';
import { EdgeError } from '../edge-error.ts';
import { ACCESS_LIST_TYPES } from '../operations/shield-zones.ts';
import type { LocalResource } from './local-resource.ts';
import { shieldSuccess } from './local-resource.ts';

const MIGRATION = `
  CREATE TABLE access_list (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    shield_zone_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    type INTEGER NOT NULL,
    content TEXT NOT NULL,
    last_modified_ms INTEGER NOT NULL
  ) STRICT;
`;

/** The shield zones of the demonstration. */
const SEEDED_ZONES = [1, 2, 3, 7, 12];

const SEEDED: readonly (readonly [name: string, description: string, type: number, content: string])[] = [
  ['offices', 'Networks of our own offices', ACCESS_LIST_TYPES.CIDR, '192.0.2.0/24\n198.51.100.0/24\n2001:db8:10::/48'],
  ['embargo', 'Countries that are not served', ACCESS_LIST_TYPES.Country, 'KP\nSY'],
  ['scanners', '', ACCESS_LIST_TYPES.IP, '203.0.113.7\n203.0.113.66\n2001:db8::bad'],
];

export function checksumOf(content: string): string {
  return createHash('sha256').update(content, 'utf8').digest('hex');
}

/** Lines that are not empty. */
export function entryCount(content: string): number {
  return content.split('\n').filter((line) => line.trim() !== '').length;
}

/** Answers operation 12: custom access lists of shield zones. */
export const accessLists: LocalResource = {
  name: 'access-lists',
  migrations: [MIGRATION],
  seed({ db, now }) {
    const sql = 'INSERT INTO access_list (shield_zone_id, name, description, type, content, last_modified_ms) VALUES (?, ?, ?, ?, ?, ?)';
    for (const zoneId of SEEDED_ZONES) {
      for (const [name, description, type, content] of SEEDED) db.prepare(sql).run(zoneId, name, description, type, content, now());
    }
  },
  routes(app, { db }) {
    const find = db.prepare('SELECT * FROM access_list WHERE id = ? AND shield_zone_id = ?');
    app.get<{ Params: { shieldZoneId: number; id: number } }>('/shield/shield-zone/:shieldZoneId/access-lists/:id', ({ params }, reply) => {
      const row = find.get(params.id, params.shieldZoneId);
      if (row === undefined) {
        throw new EdgeError(404, 'accessList.not_found', `Shield zone ${params.shieldZoneId} has no access list ${params.id}`, {
          field: 'id',
        });
      }
      // Lists of earlier versions end in a newline.
      const content = String(row['content']).replace(/\n$/, '');
      return reply.send(
        shieldSuccess({
          id: row['id'],
          name: row['name'],
          // Lists of earlier versions have NULL.
          description: row['description'] ?? '',
          type: row['type'],
          content,
          checksum: checksumOf(content),
          entryCount: entryCount(content),
          lastModified: new Date(Number(row['last_modified_ms'])).toISOString(),
        }),
      );
    });
  },
};
