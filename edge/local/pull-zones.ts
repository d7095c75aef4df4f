import type { DatabaseSync } from 'node:sqlite';
import { EdgeError } from '../edge-error.ts';
import { shown } from '../shown-value.ts';
import { asciiName } from './ascii-name.ts';
import { inPlaneTransaction } from './control-plane-state.ts';
import type { LocalResource } from './local-resource.ts';

const MIGRATION = `
  CREATE TABLE pull_zone (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE hostname (
    name TEXT PRIMARY KEY,
    pull_zone_id INTEGER NOT NULL REFERENCES pull_zone (id) ON DELETE CASCADE,
    -- The zone's own name on the platform, which every zone keeps.
    is_system INTEGER NOT NULL,
    certificate_not_after_ms INTEGER
  ) STRICT;
`;

const SEEDED: readonly (readonly [zone: string, hostnames: readonly string[]])[] = [
  ['shop', ['shop.example.com', 'www.example.com', 'cdn.example.com']],
  ['blog', ['blog.example.org', '*.blog.example.org']],
];

/** A hostname of a pull zone; its name in lower case and ASCII. */
export interface Hostname {
  readonly pullZoneId: number;
  readonly name: string;
}

/** A hostname in the form that is kept (see `asciiName`), perhaps with a star for all names below it; empty where it is no name. */
function canonicalHostname(name: string): string {
  const star = name.startsWith('*.') ? '*.' : '';
  const ascii = asciiName(name.slice(star.length));
  return ascii === '' ? '' : `${star}${ascii}`;
}

/** The hostname of a pull zone as it is kept; null where no pull zone has it. */
export function findHostname(db: DatabaseSync, name: string): Hostname | null {
  const canonical = canonicalHostname(name);
  const row = db.prepare('SELECT pull_zone_id FROM hostname WHERE name = ?').get(canonical);
  return row === undefined ? null : { pullZoneId: Number(row['pull_zone_id']), name: canonical };
}

/** Records until when (Unix ms) the hostname has a certificate. Call it inside a transaction. */
export function setCertificate(db: DatabaseSync, { pullZoneId, name }: Hostname, notAfterMs: number): void {
  const sql = 'UPDATE hostname SET certificate_not_after_ms = ? WHERE name = ? AND pull_zone_id = ?';
  db.prepare(sql).run(notAfterMs, name, pullZoneId);
}

function removeHostname(db: DatabaseSync, zoneId: number, given: string): void {
  if (db.prepare('SELECT id FROM pull_zone WHERE id = ?').get(zoneId) === undefined) {
    throw new EdgeError(404, 'pullZone.not_found', `There is no pull zone ${zoneId}`, { field: 'id' });
  }
  const name = canonicalHostname(given);
  const row = db.prepare('SELECT is_system FROM hostname WHERE name = ? AND pull_zone_id = ?').get(name, zoneId);
  const refuse = (key: string, why: string): EdgeError => new EdgeError(400, key, `Hostname: ${why}`, { field: 'Hostname' });
  const what = shown(given, 255);
  if (row === undefined) throw refuse('pullZone.hostname_not_found', `pull zone ${zoneId} has no hostname ${what}`);
  if (row['is_system'] === 1) throw refuse('pullZone.hostname_not_custom', `${what} is the zone's own name; allowed: its custom hostnames`);
  db.prepare('DELETE FROM hostname WHERE name = ?').run(name);
}

/** Answers operation 8: pull zones and their hostnames. */
export const pullZones: LocalResource = {
  name: 'pull-zones',
  migrations: [MIGRATION],
  seed({ db }) {
    const insertZone = db.prepare('INSERT INTO pull_zone (name) VALUES (?)');
    const insertHostname = db.prepare('INSERT INTO hostname (name, pull_zone_id, is_system) VALUES (?, ?, ?)');
    for (const [zone, hostnames] of SEEDED) {
      const id = insertZone.run(zone).lastInsertRowid;
      insertHostname.run(`${zone}.cdn.example.net`, id, 1);
      for (const hostname of hostnames) insertHostname.run(hostname, id, 0);
    }
  },
  routes(app, { db }) {
    app.delete<{ Params: { id: number }; Body: { Hostname: string } }>('/pullzone/:id/removeHostname', ({ params, body }, reply) => {
      inPlaneTransaction(db, () => removeHostname(db, params.id, body.Hostname));
      return reply.code(204).send();
    });
  },
};
