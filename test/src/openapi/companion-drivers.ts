import { operation } from '../../../edge/operations/operations.ts';
import { type Call, send } from './driven-answer.ts';
import { answered, type Driver, type Drivers, fromForeignPage, whileBroken, whileDeaf, whileStopping, whileUnreachable } from './driver.ts';
import { exampleCall } from './operation-drivers.ts';

const UNKNOWN_FILE: Call = { method: 'GET', path: '/.well-known/acme-challenge/unknown' };
const PROTOCOL: Call = { method: 'GET', path: '/v2' };

/** The file that operation 6 has just told of. */
const pendingFile: Driver = async ({ open }) => {
  const { text } = await send(open, { ...exampleCall(operation(6)), body: '{"Hostname":"blog.example.org"}' });
  const { FilePath } = JSON.parse(text) as { readonly FilePath: string };
  return send(open, { method: 'GET', path: FilePath });
};

/** Calls of clients beside the operations. */
export const COMPANION_DRIVERS: Drivers = {
  getHttpChallenge: {
    200: pendingFile,
    400: answered({ ...UNKNOWN_FILE, path: '/.well-known/acme-challenge/%ff' }),
    404: answered(UNKNOWN_FILE),
    500: whileBroken(UNKNOWN_FILE),
    503: whileStopping(UNKNOWN_FILE),
  },
  getDatabaseProtocol: {
    200: answered(PROTOCOL),
    403: fromForeignPage(PROTOCOL),
    502: whileUnreachable(PROTOCOL),
    503: whileStopping(PROTOCOL),
    504: whileDeaf(PROTOCOL),
  },
};
