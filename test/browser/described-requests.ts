import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Request } from 'playwright-core';

interface DescribedOperation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> };
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
}

const DOCUMENT = 'https://shieldlog.test/openapi.json';

/** Whether a path is that of a template such as `/shield/event-logs/{shieldZoneId}/search`. */
function isPathOf(template: string, path: string): boolean {
  const [parts, wanted] = [path.split('/'), template.split('/')];
  return parts.length === wanted.length && wanted.every((part, at) => part === parts[at] || /^\{\w+\}$/.test(part));
}

/** What `/openapi.json` of the program does not say of these requests, a line for each; empty where it describes all of them. */
export async function undescribedRequests(origin: string, requests: readonly Request[]): Promise<readonly string[]> {
  if (requests.length === 0) return [];
  const description = (await (await fetch(`${origin}/openapi.json`)).json()) as Description;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: DOCUMENT, ...description });
  const checks = new Map<object, ReturnType<typeof ajv.compile>>();

  function bodyFault(template: string, request: Request): string | null {
    const body = description.paths[template]?.[request.method().toLowerCase()]?.requestBody?.content['application/json'];
    if (body === undefined) return request.postData() === null ? null : 'takes no body of JSON';
    const check = checks.get(body) ?? ajv.compile(inDocument(body.schema));
    checks.set(body, check);
    return check(request.postDataJSON()) ? null : `${request.postData()}: ${ajv.errorsText(check.errors)}`;
  }

  return requests.flatMap((request) => {
    const { pathname, searchParams } = new URL(request.url());
    const call = `${request.method()} ${pathname}`;
    // A fixed path comes before a template, as the program has it.
    const template = [pathname, ...Object.keys(description.paths)].find((one) => one in description.paths && isPathOf(one, pathname));
    const operation = description.paths[template ?? '']?.[request.method().toLowerCase()];
    if (template === undefined || operation === undefined) return [`${call} is not in /openapi.json`];
    const named = new Set(operation.parameters?.filter((one) => one.in === 'query').map(({ name }) => name));
    const unknown = [...searchParams.keys()].filter((name) => !named.has(name)).map((name) => `${call} has no parameter ${name}`);
    const fault = bodyFault(template, request);
    return fault === null ? unknown : [...unknown, `${call} ${fault}`];
  });
}

/** A schema of the document that can be compiled by itself. */
function inDocument(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${DOCUMENT}#/`));
}
