import type { DatabaseSync } from 'node:sqlite';
import { MainThreadTurns } from '../../../work/main-thread-turns.ts';
import { bodyAs } from '../../body-thread.ts';
import { EdgeError } from '../../edge-error.ts';
import { inPlaneTransaction } from '../control-plane-state.ts';
import type { LocalResource } from '../local-resource.ts';
import { readWrittenZone, type WrittenZone } from './zone-request.ts';

const MIGRATION = `
  CREATE TABLE dns_zone (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    domain TEXT NOT NULL UNIQUE,
    created_ms INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE dns_record (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    zone_id INTEGER NOT NULL REFERENCES dns_zone (id) ON DELETE CASCADE,
    -- What the interface shows of it beside its Id, as JSON.
    fields TEXT NOT NULL
  ) STRICT;
  CREATE INDEX dns_record_by_zone ON dns_record (zone_id);
`;

/** Names that never resolve (RFC 6761), because nobody delegates to the local control plane. */
const NAMESERVERS = ['ns1.shieldlog.invalid', 'ns2.shieldlog.invalid'] as const;
const NAMESERVER_CHECK_MS = 3_600_000;

interface StoredZone {
  readonly id: number;
  readonly createdMs: number;
  /** JSON texts, each with its `Id`. */
  readonly records: readonly string[];
}

function insertZone(db: DatabaseSync, zone: WrittenZone, nowMs: number): StoredZone {
  const taken = db.prepare('SELECT id FROM dns_zone WHERE domain = ?').get(zone.domain);
  if (taken !== undefined) {
    throw new EdgeError(400, 'dnszone.name_taken', `Domain: there is a zone of ${zone.domain} already`, { field: 'Domain' });
  }
  const id = Number(db.prepare('INSERT INTO dns_zone (domain, created_ms) VALUES (?, ?)').run(zone.domain, nowMs).lastInsertRowid);
  const insert = db.prepare('INSERT INTO dns_record (zone_id, fields) VALUES (?, ?)');
  const records = zone.records.map((record) => `{"Id":${insert.run(id, record).lastInsertRowid},${record.slice(1)}`);
  return { id, createdMs: nowMs, records };
}

/** JSON text. */
function zoneAnswer({ domain }: WrittenZone, { id, createdMs, records }: StoredZone): string {
  const created = new Date(createdMs).toISOString();
  const fields = {
    Id: id,
    Domain: domain,
    DateModified: created,
    DateCreated: created,
    NameserversDetected: false,
    CustomNameserversEnabled: false,
    Nameserver1: NAMESERVERS[0],
    Nameserver2: NAMESERVERS[1],
    SoaEmail: `hostmaster@${domain}`,
    NameserversNextCheck: new Date(createdMs + NAMESERVER_CHECK_MS).toISOString(),
    LoggingEnabled: false,
    LoggingIPAnonymizationEnabled: true,
    LogAnonymizationType: 0,
    DnsSecEnabled: false,
    CertificateKeyType: 0,
  };
  return `{"Records":[${records.join(',')}],${JSON.stringify(fields).slice(1)}`;
}

/** Answers operation 4: DNS zones and their records. A zone is made with all of its records or not at all. */
export const dnsZones: LocalResource = {
  name: 'dns-zones',
  migrations: [MIGRATION],
  routes(app, { db, now }) {
    const turns = new MainThreadTurns();
    app.post('/dnszone', async (request, reply) => {
      const zone = bodyAs(request.body, readWrittenZone);
      // A zone of 5,000 records fills a turn of the event loop.
      const stored = await turns.runInAnother(() => inPlaneTransaction(db, () => insertZone(db, zone, now())));
      const answer = await turns.runInAnother(() => zoneAnswer(zone, stored));
      return reply.code(201).header('content-type', 'application/json; charset=utf-8').send(answer);
    });
  },
};
