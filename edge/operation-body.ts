import * as contentType from 'content-type';
import { EdgeError } from './edge-error.ts';
import { JSON_COST, scanJson } from './json-scan.ts';
import { cut, shown } from './shown-value.ts';

function takes(bodyTypes: readonly string[], type: string): boolean {
  return bodyTypes.some((taken) => (taken === 'application/*+json' ? /^application\/[^/]+\+json$/.test(type) : taken === type));
}

/**
 * The media type of a body, in lower case and without parameters. Throws EdgeError 415 unless it is one of `bodyTypes`, its charset, if
 * named, is UTF-8, and it is not compressed.
 */
export function requireBodyType(headers: Readonly<Record<string, unknown>>, bodyTypes: readonly string[]): string {
  const given = headers['content-type'];
  const header = typeof given === 'string' ? given : '';
  const { type, parameters } = contentType.parse(header);
  const refuse = (message: string): EdgeError => new EdgeError(415, 'body.unsupported_type', message, { field: 'Content-Type' });
  if (!contentType.isTypeValid(type) || !takes(bodyTypes, type)) {
    throw refuse(`Content-Type: ${header === '' ? '(none)' : header} is not supported; allowed: ${bodyTypes.join(', ')}`);
  }
  const charset = parameters['charset']?.toLowerCase() ?? 'utf-8';
  if (charset !== 'utf-8' && charset !== 'utf8') throw refuse(`The charset "${charset}" is not supported; allowed: utf-8`);
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw refuse(`Content-Encoding: ${String(encoding)} is not supported here; allowed: identity`);
  return type;
}

function parsed(text: string, refuse: (message: string, cause: unknown) => EdgeError): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refuse(`The body is not JSON: ${cut((error as Error).message)}`, error);
  }
}

/**
 * A JSON body. Throws EdgeError 400 where there are no bytes, too many values, they are not UTF-8 or not JSON, or an object has a key
 * twice.
 */
export function parseJsonBody(bytes: Uint8Array): unknown {
  const refuse = (message: string, cause?: unknown): EdgeError =>
    new EdgeError(400, 'request.malformed', message, { field: 'body', cause });
  if (bytes.length === 0) throw refuse('The body is missing');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw refuse('The body is not UTF-8', error);
  }
  const { tooCostly, repeatedKey } = scanJson(text, JSON_COST);
  if (tooCostly !== null) throw refuse(`The body has ${tooCostly}`);
  const value = parsed(text, refuse);
  if (repeatedKey !== null) throw refuse(`The body has the key ${shown(repeatedKey)} twice in one object; allowed: once`);
  return value;
}
