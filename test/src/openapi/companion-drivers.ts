import { COMPANIONS, operation } from '../../../edge/operations/operations.ts';
import { type Call, send } from './driven-answer.ts';
import { answered, type Driver, type Drivers, fromForeignPage, whileBroken, whileDeaf, whileStopping, whileUnreachable } from './driver.ts';
import { driversOf, exampleCall } from './operation-drivers.ts';

const UNKNOWN_FILE: Call = { method: 'GET', path: '/.well-known/acme-challenge/unknown' };

/** The file that operation 6 has just told of. */
const pendingFile: Driver = async ({ open }) => {
  const { text } = await send(open, { ...exampleCall(operation(6)), body: '{"Hostname":"blog.example.org"}' });
  const { FilePath } = JSON.parse(text) as { readonly FilePath: string };
  return send(open, { method: 'GET', path: FilePath });
};

function versionDrivers(path: string): Readonly<Record<number, Driver>> {
  const call: Call = { method: 'GET', path };
  return {
    200: answered(call),
    403: fromForeignPage(call),
    502: whileUnreachable(call),
    503: whileStopping(call),
    504: whileDeaf(call),
  };
}

/** Calls of clients beside the operations. */
export const COMPANION_DRIVERS: Drivers = {
  getHttpChallenge: {
    200: pendingFile,
    400: answered({ ...UNKNOWN_FILE, path: '/.well-known/acme-challenge/%ff' }),
    404: answered(UNKNOWN_FILE),
    500: whileBroken(UNKNOWN_FILE),
    503: whileStopping(UNKNOWN_FILE),
  },
  getDatabaseProtocol: versionDrivers('/v2'),
  getDatabaseProtocol3: versionDrivers('/v3'),
  ...Object.fromEntries(COMPANIONS.filter(({ key }) => key === 'bearer').map((row) => [row.name, driversOf(row)])),
};
