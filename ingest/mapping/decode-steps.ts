import { gunzipSync } from 'node:zlib';
import { JsonNumber } from '../../query/json-value.ts';
import { MappingFault, shownText } from './mapping-fault.ts';

/** One step of `decode`. `split` makes several texts of one; of these, the first that is not absent counts. */
export type DecodeStep = { readonly kind: 'url' | 'base64' | 'gzip' | 'json' } | { readonly kind: 'split'; readonly sign: string };

export const DECODE_WORDS = ['url', 'base64', 'gzip', 'json'] as const;

/** What `decode` may unpack of one record, in bytes. */
export const MOST_UNPACKED_BYTES = 1024 * 1024;

/** What is left of {@link MOST_UNPACKED_BYTES} for a record. */
export interface UnpackBudget {
  leftBytes: number;
}

/** A text, bytes, or what JSON says. */
type Decoded = unknown;

/**
 * Decodes a value that `where` names in messages. Returns one value, or several where a step splits. Throws MappingFault for a text that is
 * not what a step reads.
 */
export function decoded(value: string, steps: readonly DecodeStep[], where: string, budget: UnpackBudget): readonly Decoded[] {
  let values: readonly Decoded[] = [value];
  for (const step of steps) {
    values = values.flatMap((one) => (typeof one === 'string' || one instanceof Uint8Array ? afterStep(one, step, where, budget) : [one]));
  }
  return values.map((one) => (one instanceof Uint8Array ? Buffer.from(one).toString() : one));
}

function afterStep(value: string | Uint8Array, step: DecodeStep, where: string, budget: UnpackBudget): readonly Decoded[] {
  const text = (): string => (typeof value === 'string' ? value : Buffer.from(value).toString());
  switch (step.kind) {
    case 'url':
      return [withoutEscapes(text())];
    case 'base64':
      return [unpacked(bytesOfBase64(text(), where), where, budget)];
    case 'gzip':
      return [typeof value === 'string' || !beginsGzip(value) ? value : gunzip(value, where, budget)];
    case 'json':
      return [jsonOf(text(), where)];
    case 'split':
      return text().split(step.sign);
  }
}

/** Percent signs that no two hexadecimal digits follow stay: requests of attackers have them. Bytes that are no UTF-8 become U+FFFD. */
function withoutEscapes(text: string): string {
  return text.replaceAll(/(?:%[\da-f]{2})+/gi, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString());
}

/** A plus sign that went through a form is a blank. */
function bytesOfBase64(text: string, where: string): Uint8Array {
  const written = text.trim().replaceAll(' ', '+');
  if (!/^[\w+/-]*={0,2}$/.test(written)) {
    throw new MappingFault(`${where} is ${shownText(text)}: base64 is required`);
  }
  return Buffer.from(written, 'base64');
}

export function beginsGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function gunzip(bytes: Uint8Array, where: string, budget: UnpackBudget): Uint8Array {
  try {
    return unpacked(gunzipSync(bytes, { maxOutputLength: Math.max(1, budget.leftBytes) }), where, budget);
  } catch (error) {
    if (error instanceof MappingFault) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw code === 'ERR_BUFFER_TOO_LARGE'
      ? tooMuch(where, budget)
      : new MappingFault(`${where} is no gzip that can be unpacked (${code ?? 'damaged'})`);
  }
}

function unpacked(bytes: Uint8Array, where: string, budget: UnpackBudget): Uint8Array {
  budget.leftBytes -= bytes.length;
  if (budget.leftBytes < 0) throw tooMuch(where, budget);
  return bytes;
}

function tooMuch(where: string, budget: UnpackBudget): MappingFault {
  budget.leftBytes = 0;
  return new MappingFault(`${where} has more than ${MOST_UNPACKED_BYTES} bytes unpacked, which are allowed for one record`);
}

function jsonOf(text: string, where: string): Decoded {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'number' ? new JsonNumber(text.trim()) : value;
  } catch {
    throw new MappingFault(`${where} is ${shownText(text)}: JSON is required`);
  }
}
