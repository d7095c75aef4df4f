import { newlinesIn } from '../../query/json-bytes.ts';
import { type HttpAnswer, isRetriable, jsonIn, MAX_REASON_LENGTH, reasonIn, retryAfterMs } from './http-exchange.ts';
import { type Delivery, DeliveryError, linesOf } from './sink.ts';

type Members = Readonly<Record<string, unknown>>;

export interface AnsweredRequest {
  /** How messages name the request, such as `POST https://host/path`. */
  readonly request: string;
  readonly answer: HttpAnswer;
  /** The events of the request, as newline-terminated lines. */
  readonly lines: Buffer;
  /** Whether refused events are set aside, where each of them is named. */
  readonly setsAside: boolean;
  /** Unix ms UTC. */
  readonly nowMs: number;
}

/** Some events of a request were not taken. */
interface Refusal {
  /** The reason of each event that the answer names, by its index in the request. */
  readonly named: ReadonlyMap<number, string>;
  /** How many were not taken; null: the answer does not say. */
  readonly count: number | null;
  /** The first reason. */
  readonly reason: string;
  /** Whether another attempt may succeed. */
  readonly passes: boolean;
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {};
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** The first of some values that is a text. */
function textAmong(...values: readonly unknown[]): string {
  const text = values.find((value) => typeof value === 'string') ?? 'it gives no reason';
  return String(text).slice(0, MAX_REASON_LENGTH);
}

/** Of the answer of another shieldlog: `rejected` lists some of the rejected events, `rejectedCount` counts them all. */
function intakeRefusal({ rejected, rejectedCount }: Members, events: number): Refusal | null {
  const listed = Array.isArray(rejected) ? rejected.map(membersOf) : [];
  const count = Math.max(isCount(rejectedCount) ? rejectedCount : 0, listed.length);
  if (count === 0) return null;
  const named = new Map<number, string>();
  for (const { index, reason } of listed) {
    if (isCount(index) && index < events) named.set(index, textAmong(reason));
  }
  return { named, count, reason: textAmong(listed[0]?.['reason']), passes: false };
}

/**
 * Of a bulk answer: an item for each event, with a status of its own. An event that is to be created and is there already (409) was
 * delivered before.
 */
function bulkRefusal(items: readonly unknown[], events: number): Refusal | null {
  const named = new Map<number, string>();
  let [areThere, passes] = [0, false];
  for (const [index, item] of items.entries()) {
    const [action, result] = Object.entries(membersOf(item))[0] ?? [];
    const { status, error } = membersOf(result);
    const code = isCount(status) ? status : 0;
    if (action === 'create' && code === 409) areThere += 1;
    else if (code >= 300 || !isEmpty(error)) {
      passes ||= isRetriable(code);
      named.set(index, textAmong(membersOf(error)['reason'], membersOf(error)['type'], error, `status ${code}`));
    }
  }
  const [reason = '"errors":true, but no item has one'] = named.values();
  if (named.size === 0) return areThere > 0 ? null : { named, count: null, reason, passes };
  return { named: items.length === events ? named : new Map(), count: named.size, reason, passes };
}

/** Whether a member that tells of errors tells of none. */
function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return typeof value === 'string' ? Number(value) === 0 : value === undefined || value === null || value === false || value === 0;
}

/** How many a member counts or lists; 0 where it does neither. */
function amountOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return typeof value === 'string' || typeof value === 'number' ? Number(value) : 0;
}

/** Members that count or list what was not taken; the last is that of Quickwit. */
const REFUSED = ['failed', 'rejected', 'dropped', 'num_rejected_docs'];

/** The member by which an answer, or a part of it, says that something failed. */
function failedMember(members: Members): string | undefined {
  if (members['success'] === false) return '"success":false';
  const told = ['error', 'errors'].find((name) => !isEmpty(members[name]));
  const member = told ?? REFUSED.find((name) => amountOf(members[name]) > 0);
  return member === undefined ? undefined : `"${member}"`;
}

/** The beginning of an answer in which the tags of a page are looked for. */
const LOOKED_AT_BYTES = 64 * 1024;

/** Whether the answer is HTML. Its type alone does not tell, because some frameworks give it to every text. */
function isPage({ headers, body }: HttpAnswer): boolean {
  const text = body.toString('utf8', 0, LOOKED_AT_BYTES);
  const isCalledSo = headers['content-type']?.toLowerCase().includes('html') === true;
  return /^[\s\ufeff]*<(?:!doctype\s+html|html|head|body)\b/i.test(text) || (isCalledSo && /<[a-z!]/i.test(text));
}

/** Of an answer that says that something failed, and not which events. */
function otherRefusal(answer: HttpAnswer, json: unknown): Refusal | null {
  const members = membersOf(json);
  // Some answer with a list that has a part for each event, and no object around it.
  const parts = [json, members['status']].find((list) => Array.isArray(list)) ?? [];
  const [failed] = [members, ...parts.map(membersOf)].map(failedMember).filter((member) => member !== undefined);
  const isCut = json === undefined && /^[\s\ufeff]*\{/.test(answer.body.toString('utf8', 0, LOOKED_AT_BYTES));
  const sign =
    failed ?? (answer.status === 207 ? 'Multi-Status' : isPage(answer) ? 'an HTML page' : isCut ? 'JSON that is cut or broken' : null);
  return sign === null ? null : { named: new Map(), count: null, reason: `${sign}, ${reasonIn(answer.body)}`, passes: false };
}

export const SET_ASIDE_ADVICE = 'correct what it refuses, or have such events set aside with --rejected FILE';

/** The error of a refusal that the feed does not go on behind. */
function refusalError({ request, answer, nowMs }: AnsweredRequest, events: number, refusal: Refusal): DeliveryError {
  const { named, count, reason, passes } = refusal;
  const outcome = `${request} answered ${answer.status} and ${passes ? 'did not take' : 'refused'} ${count ?? 'some'} of ${events} events`;
  if (passes) {
    const waitMs = retryAfterMs(answer.headers['retry-after'], nowMs);
    return new DeliveryError('unavailable', `${outcome}: ${reason}`, { retryAfterMs: waitMs });
  }
  const advice =
    named.size === count
      ? SET_ASIDE_ADVICE
      : named.size > 0
        ? `it names only ${named.size} of them, so that they cannot be set aside; a smaller --limit may help`
        : 'it does not say which, so that they cannot be set aside; --accept-any takes every 2xx for accepted';
  return new DeliveryError('refused', `${outcome}, first: ${reason}; ${advice}`);
}

/** What a 2xx says was not taken of a request with so many events; null where it says nothing. */
export function refusalIn(answer: HttpAnswer, events: number): Refusal | null {
  const json = jsonIn(answer.body);
  const members = membersOf(json);
  const { accepted, rejectedCount, errors, items } = members;
  if (isCount(accepted) && isCount(rejectedCount)) return intakeRefusal(members, events);
  return errors === true && Array.isArray(items) ? bulkRefusal(items, events) : otherRefusal(answer, json);
}

/**
 * Reads what a 2xx says about the events of its request, because many receivers tell of refused ones in its body alone. Throws
 * DeliveryError: `unavailable` where another attempt may succeed, `refused` where events are refused that are not set aside or not named.
 */
export function readAnswer(asked: AnsweredRequest): Pick<Delivery, 'refused' | 'expired'> {
  const { answer, lines, setsAside } = asked;
  const events = newlinesIn(lines);
  const { accepted, rejectedCount, expired } = membersOf(jsonIn(answer.body));
  const isIntake = isCount(accepted) && isCount(rejectedCount);
  const refusal = refusalIn(answer, events);
  if (refusal !== null && (refusal.passes || !setsAside || refusal.named.size !== refusal.count))
    throw refusalError(asked, events, refusal);
  const sent = refusal === null ? [] : [...linesOf(lines)];
  const refused = Array.from(refusal?.named ?? [], ([index, reason]) => ({ line: sent[index] as Buffer, reason }));
  return { refused, expired: isIntake && isCount(expired) ? expired : 0 };
}
