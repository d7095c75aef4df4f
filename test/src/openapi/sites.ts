import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { LIGHT_SEATS, MAX_WAITING_READS, SEATS } from '../../../src/scheduling/fair-queue.ts';
import { CLOSED_PORT_URL } from '../../edge/upstreams.ts';
import { startDeafListener } from './deaf-listener.ts';
import { type ForgetfulSite, startForgetfulSite } from './forgetful-site.ts';
import { type Site, startSite } from './site.ts';

/** The program in every condition that its answers tell apart. */
export interface Sites {
  /** Without keys, all of it local and well. */
  readonly open: Site;
  /** With keys, and reachable from elsewhere for all it knows. */
  readonly keyed: Site;
  /** Its store and its control plane's state are broken. */
  readonly broken: Site;
  /** As many requests of this machine wait as may. */
  readonly crowded: Site;
  /** Its upstreams refuse connections. */
  readonly unreachable: Site;
  /** Its upstreams let nobody in, and do not say so. */
  readonly deaf: Site;
  /** Its retention has dropped events. */
  readonly forgetful: ForgetfulSite;
  stop(): Promise<void>;
}

/** A key of the keyed site that opens zone 8 only. */
export const KEY_OF_ZONE_8 = 'key-of-zone-8-alone';
/** A key of the keyed site that may neither read nor send events. */
export const KEY_WITHOUT_SCOPE = 'key-without-a-scope';

/** A key of the keyed site that may change nothing. */
export const KEY_OF_READERS = 'key-of-those-who-read';

function upstreamsAt(url: string): Readonly<Record<string, string>> {
  return { UPSTREAM_URL: url, SERVICE_DATABASE_URL: url };
}

/** Simulates a disk that lost its files: every table is gone, and every call of the store fails. */
function breakDown({ store, edge, alerts, kafka, dataDir }: Site): void {
  const fail = (): never => {
    throw new Error(`ENOENT: no such file or directory, open '${dataDir}/segments'`);
  };
  store.search = async () => fail();
  store.explore = async () => fail();
  store.activeZones = async () => fail();
  store.activeRules = async () => fail();
  store.append = async () => fail();
  store.readFeed = async () => fail();
  Object.assign(store, { readAll: fail, listDeadLetters: fail, removeDeadLetters: fail, check: fail, stats: fail, beginBackup: fail });
  Object.assign(kafka, { skip: fail, rewind: fail });
  Object.assign(alerts.keeper ?? {}, { overview: fail, addSilence: fail });
  Object.assign(store.positions, { afterExpiry: fail });
  Object.assign(edge.history.view, { minutes: fail });
  const db = new DatabaseSync(join(dataDir, 'control-plane.sqlite'), { enableForeignKeyConstraints: false });
  for (const { name } of db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").all())
    db.exec(`DROP TABLE "${String(name)}"`);
  db.close();
}

/** Fills the queue of the callers on 127.0.0.1 with reads that never end. */
function crowd({ queue }: Site): void {
  const read = { flow: '127.0.0.1', isLight: true, bytes: 0, isRefusable: true, signal: new AbortController().signal };
  for (let count = 0; count < SEATS + LIGHT_SEATS + MAX_WAITING_READS; count += 1) void queue.run(read, () => new Promise<never>(() => {}));
}

export async function startSites(): Promise<Sites> {
  const deafUpstream = await startDeafListener();
  const open = await startSite();
  const keyed = await startSite({
    HOST: '0.0.0.0',
    ACCESS_KEYS: `eight:${KEY_OF_ZONE_8}:8,manager:${KEY_WITHOUT_SCOPE}:*:manage,reader:${KEY_OF_READERS}:*:read`,
  });
  const broken = await startSite();
  // A folder without rules, whose reads would have a seat now and then.
  const crowded = await startSite({ ALERTS: import.meta.dirname });
  const unreachable = await startSite(upstreamsAt(CLOSED_PORT_URL));
  const deaf = await startSite(upstreamsAt(deafUpstream.url));
  const forgetful = await startForgetfulSite();
  breakDown(broken);
  crowd(crowded);
  const stop = async (): Promise<void> => {
    for (const site of [open, keyed, broken, crowded, unreachable, deaf, forgetful]) await site.stop();
    await deafUpstream.stop();
  };
  return { open, keyed, broken, crowded, unreachable, deaf, forgetful, stop };
}
