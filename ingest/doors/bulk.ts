import { isBlank, NEWLINE } from '../../query/json-bytes.ts';
import { type EnvelopeFault, RecordPlaces, type TakenApart } from './envelope.ts';

/** What an item of a bulk request does, by its number in `BulkItems`. */
export const BULK_ACTIONS = ['index', 'create', 'update', 'delete'] as const;
/** Those that come with a document, which is a record, and those that store one. */
const WITH_DOCUMENT = 3;
export const STORING = 2;

/** So many items a request may have: each has a line in the answer. */
export const MOST_BULK_ITEMS = 50_000;
/** The longest name of an index, as Elasticsearch has it, in bytes. */
export const LONGEST_INDEX_BYTES = 255;
/** A longer line is no action: what may be in one, such as an `_id` of 512 bytes, is far shorter. Parsed, it could fill a thread's heap. */
export const LONGEST_ACTION_BYTES = 16 * 1024;

/**
 * Takes a bulk request of Elasticsearch apart: a line with an action and, but for `delete`, a line with a document. The documents of
 * `index` and `create` are the records; an `_id` is passed over. As there, a newline ends the last line, so that a request that is cut is
 * told.
 */
export function takeBulk(body: Buffer): TakenApart | EnvelopeFault {
  const length = body.length - 1;
  const places = new RecordPlaces(body);
  const [actions, indices]: [number[], number[]] = [[], []];
  const names = new Map<string, number>();
  for (let at = behindBlanks(body, 0); at < length; at = behindBlanks(body, at)) {
    const item = actions.length;
    const end = body.indexOf(NEWLINE, at);
    if (end < 0) return fault(item, 'the body ends in the middle of it: a newline is required behind the last line');
    if (item === MOST_BULK_ITEMS)
      return { ...fault(item, `at most ${MOST_BULK_ITEMS} items are allowed in one request`), isTooLarge: true };
    const action = end - at > LONGEST_ACTION_BYTES ? null : actionIn(body.toString('utf8', at, end));
    if (action === null) return fault(item, `its action is not {"index":{…}}; allowed: ${BULK_ACTIONS.join(', ')}`);
    at = end + 1;
    if (action.number < WITH_DOCUMENT) {
      const documentEnd = body.indexOf(NEWLINE, at);
      if (documentEnd < 0) return fault(item, 'the body ends before its document: a newline is required behind the last line');
      if (action.number < STORING && !places.add(at, documentEnd)) return fault(item, 'its document is a blank line');
      at = documentEnd + 1;
    }
    actions.push(action.number);
    if (!names.has(action.index)) names.set(action.index, names.size);
    indices.push(names.get(action.index)!);
  }
  const items = { actions: Uint8Array.from(actions), indices: Uint16Array.from(indices), names: [...names.keys()] };
  return { ...places.taken(), items };
}

/** The action of a line; null where it is none. */
function actionIn(line: string): { readonly number: number; readonly index: string } | null {
  try {
    const [[name, target] = [], another] = Object.entries(JSON.parse(line) as Readonly<Record<string, unknown>>);
    const number = BULK_ACTIONS.indexOf(name as (typeof BULK_ACTIONS)[number]);
    if (number < 0 || another !== undefined || typeof target !== 'object' || target === null) return null;
    const { _index: index = '' } = target as { readonly _index?: unknown };
    return typeof index === 'string' && Buffer.byteLength(index) <= LONGEST_INDEX_BYTES ? { number, index } : null;
  } catch {
    return null;
  }
}

function behindBlanks(body: Buffer, from: number): number {
  let at = from;
  while (isBlank(body[at])) at++;
  return at;
}

function fault(index: number, reason: string): EnvelopeFault {
  return { kind: 'fault', index, reason: `item ${index}: ${reason}` };
}
