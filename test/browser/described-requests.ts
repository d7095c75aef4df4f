import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Request } from 'playwright-core';
import { OPENAPI_DOCUMENT } from '../../src/openapi/openapi-document.ts';

interface DescribedOperation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> };
}

/** What the program serves as `/openapi.json`. */
const PATHS: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>> = JSON.parse(JSON.stringify(OPENAPI_DOCUMENT.paths));

const DOCUMENT = 'https://shieldlog.test/openapi.json';
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: DOCUMENT, ...OPENAPI_DOCUMENT });
const checks = new Map<object, ValidateFunction>();

/** Whether a path is that of a template such as `/shield/event-logs/{shieldZoneId}/search`. */
function isPathOf(template: string, path: string): boolean {
  const [parts, wanted] = [path.split('/'), template.split('/')];
  return parts.length === wanted.length && wanted.every((part, at) => part === parts[at] || /^\{\w+\}$/.test(part));
}

/**
 * What `/openapi.json` does not say of these requests, a line for each; empty where it describes all of them. The description is below
 * `pathBefore`.
 */
export function undescribedRequests(requests: readonly Request[], pathBefore: string): readonly string[] {
  return requests.flatMap((request) => {
    const { pathname: whole, searchParams } = new URL(request.url());
    const pathname = whole.startsWith(pathBefore) ? whole.slice(pathBefore.length) : whole;
    const method = request.method().toLowerCase();
    const call = `${request.method()} ${pathname}`;
    // A fixed path comes before a template, as the program has it.
    const template =
      pathname in PATHS ? pathname : Object.keys(PATHS).find((one) => isPathOf(one, pathname) && method in (PATHS[one] ?? {}));
    const operation = PATHS[template ?? '']?.[method];
    if (operation === undefined) return [`${call} is not in /openapi.json`];
    const named = new Set(operation.parameters?.filter((one) => one.in === 'query').map(({ name }) => name));
    const unknown = [...searchParams.keys()].filter((name) => !named.has(name)).map((name) => `${call} has no parameter ${name}`);
    const fault = bodyFault(operation, request);
    return fault === null ? unknown : [...unknown, `${call} ${fault}`];
  });
}

function bodyFault({ requestBody }: DescribedOperation, request: Request): string | null {
  const body = requestBody?.content['application/json'];
  if (body === undefined) return request.postData() === null ? null : 'takes no JSON';
  const check = checks.get(body.schema) ?? ajv.compile(inDocument(body.schema));
  checks.set(body.schema, check);
  return check(request.postDataJSON()) ? null : `takes no ${request.postData()}: ${ajv.errorsText(check.errors)}`;
}

/** A schema of the document that can be compiled by itself. */
function inDocument(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${DOCUMENT}#/`));
}
