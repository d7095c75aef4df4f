import { Ajv2020 } from 'ajv/dist/2020.js';
import { OPENAPI_DOCUMENT } from '../../../src/openapi/openapi-document.ts';

const ID = 'https://shieldlog.test/openapi.json';

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: ID, ...OPENAPI_DOCUMENT });

/** Whether a value is as the document's schema of this name says. */
export function isDescribed(name: string, value: unknown): boolean {
  return ajv.compile({ $ref: `${ID}#/components/schemas/${name}` })(value);
}
