import type { Operation } from '../../../edge/operation.ts';
import { OPERATIONS, operation } from '../../../edge/operations.ts';
import { fillPath, queryText } from '../../../edge/proxy-upstream.ts';
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
export function exampleCall({ method, path, key, example }: Operation): Call {
  const query = queryText(example.query);
  return {
    method,
    path: `${fillPath(path, example.params)}${query === '' ? '' : `?${query}`}`,
    headers: { ...(example.body === null ? {} : JSON_TYPE), ...(key === 'bearer' ? { authorization: `Bearer ${FULL_TOKEN}` } : {}) },
    ...(example.body === null ? {} : { body: JSON.stringify(example.body) }),
  };
}

function succeed(row: Operation): Driver {
  const call = exampleCall(row);
  switch (row.name) {
    case 'completeExternalHttpCertificate':
      return async ({ open }) => {
        await send(open, exampleCall(operation(6)));
        return send(open, call);
      };
    default:
      return answered(call);
  }
}

/** What asks for something that there is not, by operation. */
const NOWHERE: Readonly<Record<string, Pick<Operation['example'], 'params'> & { readonly body?: unknown }>> = {
  upsertScriptVariable: { params: { id: 9999 } },
  requestExternalHttpCertificate: { params: {}, body: { Hostname: 'nobody.example.com' } },
  completeExternalHttpCertificate: { params: {}, body: { Hostname: 'nobody.example.com' } },
  removeHostname: { params: { id: 9999 } },
  setBotAction: { params: { shieldZoneId: 7, botId: 9999 } },
  getAccessList: { params: { shieldZoneId: 7, id: 9999 } },
  getApplicationStatistics: { params: { appId: 'nobody' } },
  getApplicationOverview: { params: { appId: 'nobody' } },
};

function notFound(row: Operation): Readonly<Record<number, Driver>> {
  const nowhere = NOWHERE[row.name];
  return nowhere === undefined ? {} : { 404: answered(exampleCall({ ...row, example: { ...row.example, ...nowhere } })) };
}

function defect(row: Operation): Driver {
  // The made-up application needs nothing that could break.
  const ofProgram = Object.hasOwn(row.example.params, 'appId') ? { ...row.example, params: { appId: 'shieldlog' } } : row.example;
  return whileBroken(exampleCall({ ...row, example: ofProgram }));
}

function driversOf(row: Operation): Readonly<Record<number, Driver>> {
  const call = exampleCall(row);
  const withNonsense = { ...call, path: `${call.path}${call.path.includes('?') ? '&' : '?'}nonsense=1` };
  const ofBody = { 408: bodyTooLate(call), 413: bodyTooLarge(call), 415: ofWrongType(call) };
  return {
    [row.example.status]: succeed(row),
    400: answered(withNonsense),
    401: withoutKey({ ...call, headers: JSON_TYPE }),
    403: fromForeignPage(call),
    ...notFound(row),
    ...(row.body === null ? {} : ofBody),
    500: defect(row),
    502: whileUnreachable(call),
    503: whileStopping(call),
    504: whileDeaf(call),
  };
}

/** Operations 2 to 14. */
export const OPERATION_DRIVERS: Drivers = Object.fromEntries(OPERATIONS.map((row) => [row.name, driversOf(row)]));
