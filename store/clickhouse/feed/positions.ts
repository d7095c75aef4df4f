import { crc32 } from 'node:zlib';
import type { FeedZones } from '../../../query/plan/feed-zones.ts';
import { WRITERS } from '../../../sql/clickhouse/insert-statement.ts';
import { clickhouseDialect, clickhouseStatement } from '../../../sql/dialect.ts';
import { inZones } from '../../../sql/predicate-sql.ts';
import { int64, sql } from '../../../sql/statement.ts';
import { CursorAhead, type FeedPoint, type FeedPosition, type FeedPositions } from '../../event-store.ts';
import type { ClickhouseClient } from '../server/client.ts';
import type { Visibility } from '../server/visibility.ts';

/** A cursor that is ahead of the store by no more than this, fifteen seconds, is at the end of the feed until the store is there. */
const AWAITED = 15_000_000n * BigInt(WRITERS);

/** The content of a position of this store. */
interface Reached {
  /** The reader has all events up to this one. */
  readonly sequence: bigint;
  /** The reader misses nothing that sweeps of the retention up to this one removed. */
  readonly afterSweep: number;
}

/**
 * A cursor in base64url, 28 characters: version (1 byte), store (4), sequence (8), sweep (4), and the CRC-32 of these (4). Those of
 * embedded stores have version 1.
 */
const VERSION = 2;
const STORE_AT = 1;
const SEQUENCE_AT = 5;
const SWEEP_AT = 13;
const CHECKED_BYTES = 17;
const FORM = /^[A-Za-z0-9_-]{28}$/;

function positionAt(sequence: bigint, afterSweep: number): FeedPosition {
  return { sequence, afterSweep } satisfies Reached as unknown as FeedPosition;
}

function reachedBy(position: FeedPosition): Reached {
  return position as unknown as Reached;
}

/** The first sequence of a time, Unix ms UTC. */
function firstSequenceAt(timeMs: number): bigint {
  return BigInt(Math.ceil(timeMs)) * 1_000n * BigInt(WRITERS);
}

/** When an event with this sequence was taken in, Unix ms UTC. */
export function ingestTimeOf(sequence: bigint): number {
  return Number(sequence / BigInt(WRITERS) / 1_000n);
}

/** The sequence of an event, or of the last one that a reader at a position has. */
export function sequenceAt(point: FeedPoint): bigint {
  return (point as { readonly sequence: bigint }).sequence;
}

export interface PositionsOptions {
  readonly client: ClickhouseClient;
  readonly visibility: Pick<Visibility, 'horizon'>;
  /** 32 bits that tell this store from others. */
  readonly storeId: () => Promise<number>;
}

/** The positions of a store on ClickHouse: a sequence, and the last sweep of the retention that the reader knows of. */
export class ClickhousePositions implements FeedPositions {
  readonly #options: PositionsOptions;
  /** The number of the store, once it is known: whoever has a position to encode has asked for it. */
  #storeId = 0;

  constructor(options: PositionsOptions) {
    this.#options = options;
  }

  compare(one: FeedPoint, other: FeedPoint): number {
    const [left, right] = [sequenceAt(one), sequenceAt(other)];
    return left < right ? -1 : Number(left > right);
  }

  advance(position: FeedPosition, to: FeedPoint): FeedPosition {
    return this.compare(position, to) < 0 ? positionAt(sequenceAt(to), reachedBy(position).afterSweep) : position;
  }

  encode(position: FeedPosition): string {
    const { sequence, afterSweep } = reachedBy(position);
    const bytes = Buffer.alloc(CHECKED_BYTES + 4);
    bytes.writeUInt8(VERSION, 0);
    bytes.writeUInt32BE(this.#storeId, STORE_AT);
    bytes.writeBigUInt64BE(sequence, SEQUENCE_AT);
    bytes.writeUInt32BE(afterSweep, SWEEP_AT);
    bytes.writeUInt32BE(crc32(bytes.subarray(0, CHECKED_BYTES)), CHECKED_BYTES);
    return bytes.toString('base64url');
  }

  async decode(text: string): Promise<FeedPosition | CursorAhead | string> {
    const bytes = Buffer.from(FORM.test(text) ? text : '', 'base64url');
    if (bytes.length !== CHECKED_BYTES + 4 || crc32(bytes.subarray(0, CHECKED_BYTES)) !== bytes.readUInt32BE(CHECKED_BYTES)) {
      return 'is not a cursor as the feed gives them: it was cut or changed';
    }
    this.#storeId = await this.#options.storeId();
    if (bytes.readUInt8(0) !== VERSION || bytes.readUInt32BE(STORE_AT) !== this.#storeId) {
      return 'is a cursor of another store: it means nothing here';
    }
    const position = positionAt(bytes.readBigUInt64BE(SEQUENCE_AT), bytes.readUInt32BE(SWEEP_AT));
    const newest = await this.newest();
    const isAhead = sequenceAt(position) > sequenceAt(newest) + AWAITED;
    return isAhead ? new CursorAhead(newest, { isEndKnown: true }) : position;
  }

  async oldest(): Promise<FeedPosition> {
    return positionAt(0n, await this.#lastSweep());
  }

  async newest(): Promise<FeedPosition> {
    const afterSweep = await this.#lastSweep();
    return positionAt((await this.#options.visibility.horizon()) - 1n, afterSweep);
  }

  async at(timeMs: number): Promise<FeedPosition> {
    const newest = await this.newest();
    const position = positionAt(firstSequenceAt(Math.max(0, timeMs)) - 1n, reachedBy(newest).afterSweep);
    return this.compare(position, newest) < 0 ? position : newest;
  }

  async afterExpiry(zones: FeedZones, position: FeedPosition): Promise<FeedPosition | undefined> {
    const { sequence, afterSweep } = reachedBy(position);
    const ofZones = zones === 'all' ? sql`true` : inZones(zones, clickhouseDialect);
    const { rows } = await this.#options.client.read(
      clickhouseStatement(
        sql`SELECT max(seq) FROM expired_watermarks WHERE sweep > ${int64(afterSweep)} AND ${ofZones} HAVING count() > 0`,
      ),
    );
    const [row] = rows as readonly (readonly [sequence: string])[];
    return row !== undefined && BigInt(row[0]) > sequence ? positionAt(sequence, await this.#lastSweep()) : undefined;
  }

  async #lastSweep(): Promise<number> {
    this.#storeId = await this.#options.storeId();
    const [sweep] = await this.#options.client.readRow(clickhouseStatement(sql`SELECT max(sweep) FROM expired_watermarks`));
    return Number(sweep);
  }
}
