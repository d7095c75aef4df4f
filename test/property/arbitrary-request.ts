import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { DIMENSIONS, FREE_TEXT_FIELDS } from '../../query/event-fields.ts';
import { toAddress } from '../oracle/match-address.ts';
import { ORACLE_OPS, type OracleFilter } from '../oracle/match-event.ts';
import type { OracleEvent } from '../oracle/raw-event.ts';
import { searchedBytes } from '../oracle/request-check.ts';
import type { OracleMatch, OracleRequest } from '../oracle/search-oracle.ts';
import { ZONES } from './arbitrary-event.ts';
import { anyText, hostileText } from './value-pools.ts';

const HOUR_MS = 3_600_000;

/** Bytes of a text that is searched for within others. */
const MAX_SEARCHED_BYTES = 1_024;
/** Half of what all of them may have, because some tests make one request of two. */
const MAX_ALL_SEARCHED_BYTES = 8 * 1_024;

const isBounded = (match: OracleMatch): boolean => searchedBytes(match).reduce((a, b) => a + b, 0) <= MAX_ALL_SEARCHED_BYTES;

type Window = readonly [from: number, to: number];

export interface ZoneRequest {
  readonly zoneId: number;
  readonly body: OracleRequest;
}

/**
 * Valid requests that mostly hit: their values come from the events, whole or as pieces, in another case, or off by a little; more often
 * than not all of them from one event, so that several conditions together still find something. Most are for the first of the zones.
 */
export function arbitraryRequest(
  events: readonly OracleEvent[],
  nowMs: number,
  zones: readonly number[] = ZONES,
): fc.Arbitrary<ZoneRequest> {
  const window = windows(events, nowMs);
  const ofOneEvent = fc.constantFrom(...events).chain((event) => bodies([event], window));
  const body = fc.oneof({ arbitrary: ofOneEvent, weight: 3 }, { arbitrary: bodies(events, window), weight: 2 });
  const [first = 1] = zones;
  const zoneId = fc.oneof({ arbitrary: fc.constant(first), weight: 12 }, { arbitrary: fc.constantFrom(...zones, 99), weight: 1 });
  return fc.record({ zoneId, body });
}

/** Conditions of which most leave a part of the events: what is excluded is drawn from another event than what is found. */
export function arbitraryMatch(events: readonly OracleEvent[]): fc.Arbitrary<OracleMatch> {
  const ofOne = <T>(drawn: (events: readonly OracleEvent[]) => fc.Arbitrary<T>) =>
    fc.constantFrom(...events).chain((event) => drawn([event]));
  const match = fc.record({
    query: fc.oneof({ arbitrary: fc.constantFrom(null, ''), weight: 3 }, { arbitrary: ofOne(queries), weight: 1 }),
    filters: fc.oneof({ arbitrary: fc.constantFrom(null, []), weight: 2 }, { arbitrary: ofOne(clauseLists), weight: 1 }),
    exclude: fc.oneof(
      { arbitrary: fc.constantFrom(null, []), weight: 1 },
      { arbitrary: ofOne((event) => fc.array(filters(event), { minLength: 1, maxLength: 3 })), weight: 6 },
    ),
  });
  return match.filter(isBounded);
}

function clauseLists(events: readonly OracleEvent[]): fc.Arbitrary<OracleFilter[]> {
  return fc.oneof(
    { arbitrary: fc.array(filters(events), { maxLength: 1 }), weight: 3 },
    { arbitrary: fc.array(filters(events), { maxLength: 3 }), weight: 1 },
  );
}

function bodies(events: readonly OracleEvent[], window: fc.Arbitrary<Window>): fc.Arbitrary<OracleRequest> {
  return fc
    .record(
      {
        window,
        query: fc.oneof({ arbitrary: fc.constantFrom(null, '', ' \t'), weight: 1 }, { arbitrary: queries(events), weight: 1 }),
        filters: fc.option(clauseLists(events), { freq: 8 }),
        groupBy: fc.option(fc.shuffledSubarray([...DIMENSIONS], { maxLength: 3 }), { freq: 3 }),
        buckets: fc.option(fc.constantFrom(-3, 0, 1, 7, 60, 499, 500, 501, 10_000), { freq: 4 }),
        page: fc.oneof({ arbitrary: fc.constant(0), weight: 5 }, { arbitrary: fc.constantFrom(1, 2, 3, 40, 2_147_483_647), weight: 1 }),
        pageSize: fc.option(fc.constantFrom(-1, 0, 1, 2, 3, 10, 50, 499, 500, 501, 2_147_483_647), { freq: 4 }),
      },
      { requiredKeys: ['window'] },
    )
    .map(({ window: [from, to], ...rest }): OracleRequest => ({ from, to, ...rest }))
    .filter(isBounded);
}

/** The whole retention, a whole number of hours, or bounds that lie exactly on events, where being included or not shows. */
function windows(events: readonly OracleEvent[], nowMs: number): fc.Arbitrary<Window> {
  const [oldest, newest] = [nowMs - 72 * HOUR_MS - 60_000, nowMs + 60_000];
  const bound = fc
    .tuple(fc.constantFrom(...events.map(({ timestamp }) => timestamp)), fc.constantFrom(0, 0, 1, -1, 1_000, HOUR_MS))
    .map(([time, shift]) => Math.min(newest, Math.max(oldest, time + shift)));
  const between = fc
    .tuple(bound, bound)
    .map(([a, b]): readonly [number, number] =>
      a === b ? [Math.max(oldest, a - 1), a + (a === oldest ? 1 : 0)] : [Math.min(a, b), Math.max(a, b)],
    );
  return fc.oneof({ arbitrary: fc.constant([oldest, newest] as const), weight: 3 }, { arbitrary: between, weight: 2 });
}

function queries(events: readonly OracleEvent[]): fc.Arbitrary<string> {
  const searched = FREE_TEXT_FIELDS.filter((name) => events.some(({ fields }) => fields[name] !== undefined));
  const pieces = fc.oneof(hostileText, ...searched.map((name) => piecesOf(events, name)));
  const piece = fc
    .oneof({ arbitrary: pieces, weight: 5 }, { arbitrary: hostileText, weight: 1 }, { arbitrary: anyText, weight: 1 })
    .map((text) => cutNeedle(text.replaceAll('"', '')));
  const word = piece.map((text) => text.replaceAll(/\s/g, ''));
  const phrase = piece.filter((text) => text.trim() !== '').map((text) => `"${text}"`);
  return fc
    .tuple(
      fc.array(fc.oneof({ arbitrary: word, weight: 3 }, { arbitrary: phrase, weight: 1 }), { maxLength: 3 }),
      fc.constantFrom(' ', '  ', '\t'),
    )
    .map(([words, blank]) => words.join(blank));
}

function filters(events: readonly OracleEvent[]): fc.Arbitrary<OracleFilter> {
  return fc.constantFrom(...DIMENSIONS, 'ip', 'ip').chain((field) => {
    const anywhere = ORACLE_OPS.filter((op) => op !== 'cidr');
    const ops = fc.constantFrom(...anywhere, ...(field === 'ip' ? ['cidr', 'cidr', 'cidr'] : []));
    return ops.chain((op) => fc.record({ field: fc.constant(field), op: fc.constant(op), value: alternatives(events, field, op) }));
  });
}

function alternatives(events: readonly OracleEvent[], field: string, op: string): fc.Arbitrary<string[]> {
  return fc.array(alternative(events, field, op), { minLength: 1, maxLength: 3 });
}

function alternative(events: readonly OracleEvent[], field: string, op: string): fc.Arbitrary<string> {
  const whole = valuesOf(events, field);
  const piece = piecesOf(events, field);
  switch (op) {
    case 'cidr':
      return ranges(events);
    case 'contains':
      return perhapsWithAs(fc.oneof(piece, piece, piece, whole, hostileText, anyText), field)
        .map(cutNeedle)
        .filter((text) => text !== '');
    case 'wildcard':
      return perhapsWithAs(fc.oneof({ arbitrary: patterns(whole), weight: 4 }, { arbitrary: patterns(hostileText), weight: 1 }), field).map(
        cutNeedle,
      );
    default:
      return fc.oneof(
        { arbitrary: respelled(whole, field), weight: 4 },
        { arbitrary: piece, weight: 1 },
        { arbitrary: hostileText, weight: 1 },
      );
  }
}

/** The text, or of one that is too long to be searched for its last letters, as many as may be. */
function cutNeedle(text: string): string {
  const letters = Array.from(text);
  let length = Buffer.byteLength(text);
  let cut = 0;
  while (length > MAX_SEARCHED_BYTES) {
    length -= Buffer.byteLength(letters[cut] ?? '');
    cut += 1;
  }
  return cut === 0 ? text : letters.slice(cut).join('');
}

/** Numbers of autonomous systems are written with and without `AS`. */
function perhapsWithAs(texts: fc.Arbitrary<string>, field: string): fc.Arbitrary<string> {
  return field === 'asn' ? fc.tuple(fc.constantFrom('', 'AS', 'as'), texts).map((parts) => parts.join('')) : texts;
}

function valuesOf(events: readonly OracleEvent[], field: string): fc.Arbitrary<string> {
  const values = events.map(({ fields }) => fields[field]).filter((value) => value !== undefined);
  return values.length === 0 ? hostileText : fc.constantFrom(...new Set(values));
}

/** Mostly a few letters, at times all that there are. */
const lengths = fc.oneof(
  { arbitrary: fc.integer({ min: 1, max: 12 }), weight: 15 },
  { arbitrary: fc.constant(Number.POSITIVE_INFINITY), weight: 1 },
);

/** A run of whole characters of a value, in its own or another case. */
function piecesOf(events: readonly OracleEvent[], field: string): fc.Arbitrary<string> {
  return fc.tuple(valuesOf(events, field), fc.nat({ max: 30 }), lengths, otherCase).map(([value, start, length, change]) => {
    const letters = Array.from(value);
    const first = letters.length === 0 ? 0 : start % letters.length;
    return change(letters.slice(first, first + length).join(''));
  });
}

const otherCase = fc.constantFrom<(text: string) => string>(
  (text) => text,
  (text) => text,
  (text) => text.toUpperCase(),
  (text) => text.toLowerCase(),
);

/** The value in another spelling that may mean the same. */
function respelled(whole: fc.Arbitrary<string>, field: string): fc.Arbitrary<string> {
  const spellings = fc.constantFrom<(text: string) => string>(
    (text) => text,
    (text) => (field === 'asn' ? `AS${text}` : text.toUpperCase()),
    (text) => (field === 'ip' ? asIpv6(text).toUpperCase() : text.toLowerCase()),
    (text) => (field === 'ip' && toAddress(text) instanceof ipaddr.IPv4 ? `::ffff:${toAddress(text)}` : text),
    (text) => `${text} `,
  );
  return fc.tuple(whole, spellings).map(([text, spell]) => spell(text));
}

/** An address as eight groups; the text itself where it is none. */
function asIpv6(text: string): string {
  const address = toAddress(text);
  return (address instanceof ipaddr.IPv4 ? address.toIPv4MappedAddress() : address)?.toNormalizedString() ?? text;
}

/** A value some runs of which are starred out, so that it matches, unless one of the literals was also changed. */
function patterns(whole: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const cut = fc.tuple(fc.nat({ max: 40 }), fc.nat({ max: 8 }));
  return fc.tuple(whole, fc.array(cut, { maxLength: 3 }), otherCase, fc.boolean()).map(([text, cuts, change, spoilt]) => {
    const letters = Array.from(text);
    for (const [start, length] of cuts) {
      letters.splice(start % (letters.length + 1), length, '*');
    }
    return change(letters.join('')) + (spoilt && cuts.length > 1 ? '?' : '');
  });
}

function ranges(events: readonly OracleEvent[]): fc.Arbitrary<string> {
  const known = valuesOf(events, 'ip').map((text) => (toAddress(text) === null ? '10.0.0.1' : text));
  const address = fc.oneof({ arbitrary: known, weight: 3 }, { arbitrary: fc.ipV4(), weight: 1 }, { arbitrary: fc.ipV6(), weight: 1 });
  return fc.tuple(address, fc.option(fc.nat({ max: 128 }), { freq: 5 })).map(([text, bits]) => {
    const width = text.includes(':') ? 128 : 32;
    return bits === null ? text : `${text}/${bits % (width + 1)}`;
  });
}
