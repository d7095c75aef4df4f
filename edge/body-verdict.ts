import { move, transferableSymbol, valueSymbol } from 'piscina';
import { EdgeError, type EdgeErrorOptions } from './edge-error.ts';
import type { JsonSchema } from './operation.ts';
import { parseJsonBody } from './operation-body.ts';
import { invalidInput, validatorOf } from './operation-validation.ts';

/** A body that a thread is to validate. The bytes are moved there and come back with the verdict. */
export interface BodyOrder {
  /** The number of its operation. */
  readonly operation: number;
  readonly schema: JsonSchema;
  readonly bytes: Uint8Array;
}

/** Of a refusal, what an EdgeError is made of. */
export interface BodyRefusal {
  readonly status: number;
  readonly key: string;
  readonly message: string;
  readonly options: Pick<EdgeErrorOptions, 'field' | 'errors'>;
}

export interface BodyVerdict {
  readonly bytes: Uint8Array;
  readonly refusal: BodyRefusal | null;
  /** What was asked for of a body that is taken. */
  readonly value: unknown;
}

/** What the main thread needs of a body, small enough to be handed over. Throws EdgeError. */
export type BodyRead = (operation: number, body: unknown) => unknown;

function refusalOf({ status, key, message, field, errors }: EdgeError): BodyRefusal {
  return { status, key, message, options: { ...(field === undefined ? {} : { field }), ...(errors === undefined ? {} : { errors }) } };
}

function verdictOn({ operation, schema, bytes }: BodyOrder, read: BodyRead): BodyVerdict {
  try {
    const body = parseJsonBody(bytes);
    const failures = validatorOf(schema)(body);
    if (failures !== null) throw invalidInput(failures, 'body');
    return { bytes, refusal: null, value: read(operation, body) };
  } catch (error) {
    if (error instanceof EdgeError) return { bytes, refusal: refusalOf(error), value: null };
    throw error;
  }
}

/** What a thread for bodies does: the answer to an order, whose bytes go back without being copied. */
export function validateBody(order: BodyOrder, read: BodyRead): unknown {
  const verdict = verdictOn(order, read);
  return move({ [transferableSymbol]: [order.bytes.buffer], [valueSymbol]: verdict } as never);
}
