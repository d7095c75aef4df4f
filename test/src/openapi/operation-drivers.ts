import type { Operation } from '../../../edge/operations/operation.ts';
import { OPERATIONS } from '../../../edge/operations/operations.ts';
import { requestOf } from '../../edge/example-requests.ts';
import { type Call, send } from './driven-answer.ts';
import {
  answered,
  bodyTooLarge,
  bodyTooLate,
  type Driver,
  type Drivers,
  FULL_TOKEN,
  fromForeignPage,
  JSON_TYPE,
  ofWrongType,
  whileBroken,
  whileDeaf,
  whileStopping,
  whileUnreachable,
  withoutKey,
} from './driver.ts';

/** The call that the operation's description shows. */
export function exampleCall(row: Operation): Call {
  const { method, path, body } = requestOf(row);
  return {
    method,
    path,
    headers: { ...(body === undefined ? {} : JSON_TYPE), ...(row.key === 'bearer' ? { authorization: `Bearer ${FULL_TOKEN}` } : {}) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
}

/** The call of the example, after the one that it needs. */
function succeed(row: Operation): Driver {
  const before = OPERATIONS.find(({ name }) => name === row.example.after);
  if (before === undefined) return answered(exampleCall(row));
  return async ({ open }) => {
    await send(open, exampleCall(before));
    return send(open, exampleCall(row));
  };
}

/** The calls that end in the errors of the row that say how. */
function ownErrors(row: Operation): Readonly<Record<number, Driver>> {
  const asked = Object.entries(row.errors).flatMap(([status, { request }]) => (request === undefined ? [] : [[status, request] as const]));
  return Object.fromEntries(
    asked.map(([status, request]) => [status, answered(exampleCall({ ...row, example: { ...row.example, ...request } }))]),
  );
}

function defect(row: Operation): Driver {
  // The made-up application needs nothing that could break.
  const ofProgram = Object.hasOwn(row.example.params, 'appId') ? { ...row.example, params: { appId: 'shieldlog' } } : row.example;
  return whileBroken(exampleCall({ ...row, example: ofProgram }));
}

/** The calls that end in each status of a row. */
export function driversOf(row: Operation): Readonly<Record<number, Driver>> {
  const call = exampleCall(row);
  const ofBody = { 400: answered({ ...call, body: '' }), 408: bodyTooLate(call), 413: bodyTooLarge(call), 415: ofWrongType(call) };
  return {
    [row.status]: succeed(row),
    401: withoutKey({ ...call, headers: JSON_TYPE }),
    403: fromForeignPage(call),
    ...(row.body === null ? {} : ofBody),
    ...ownErrors(row),
    500: defect(row),
    502: whileUnreachable(call),
    503: whileStopping(call),
    504: whileDeaf(call),
  };
}

/** The operations of the table. */
export const OPERATION_DRIVERS: Drivers = Object.fromEntries(OPERATIONS.map((row) => [row.name, driversOf(row)]));
