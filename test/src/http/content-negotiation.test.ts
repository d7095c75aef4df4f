import { describe, expect, test } from 'vitest';
import {
  isJsonType,
  negotiateAnswer,
  requireContentType,
  requirePlainBody,
  SEARCH_ANSWER_TYPES,
} from '../../../src/http/content-negotiation.ts';
import { RequestProblem } from '../../../src/http/problem.ts';

function problemOf(act: () => unknown): RequestProblem {
  try {
    act();
  } catch (error) {
    if (error instanceof RequestProblem) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('the type of an answer', () => {
  test.each([
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['application/json', 'application/json'],
    ['APPLICATION/JSON', 'application/json'],
    ['application/*', 'application/json'],
    ['text/json', 'text/json'],
    ['text/plain', 'text/plain'],
    ['text/*', 'text/json'],
    ['text/html, */*;q=0.1', 'application/json'],
    ['text/plain;q=0.5, text/json;q=0.9', 'text/json'],
    ['application/json;q=0, */*', 'text/json'],
    ['application/json; charset=utf-8', 'application/json'],
    ['text/plain;charset="UTF-8";q=0.9, application/json;q=0.1', 'text/plain'],
    ['application/problem+json, text/plain', 'text/plain'],
  ])('for Accept: %s is %s', (accept, type) => {
    expect(negotiateAnswer(accept, SEARCH_ANSWER_TYPES)).toBe(type);
  });

  test.each(['text/html', 'application/xml', 'image/*', 'application/json;q=0', 'application/json;charset=utf-16', 'nonsense'])(
    'for Accept: %s is none',
    (accept) => {
      const problem = problemOf(() => negotiateAnswer(accept, SEARCH_ANSWER_TYPES));
      expect([problem.errorKey, problem.status]).toEqual(['accept.none', 406]);
      expect(problem.message).toBe(`Accept: ${accept} takes none of application/json, text/json, text/plain`);
    },
  );
});

describe('the type of a request body', () => {
  test.each([
    'application/json',
    'application/json;',
    'APPLICATION/JSON; Charset="UTF-8"',
    'text/json;charset=utf8',
    'application/vnd.example.search+json',
    'application/a+b+json; charset=utf-8',
  ])('may be %s', (header) => {
    expect(isJsonType(requireContentType(header, isJsonType, 'JSON'))).toBe(true);
  });

  test.each([
    undefined,
    '',
    'json',
    'application',
    'application/xml',
    'text/plain',
    'text/x+json',
    'application/json+xml',
    'application/+json',
    'application/json, text/json',
    'application/json;charset=utf-16',
    'application/json;charset=latin1',
  ])('may not be %s', (header) => {
    const problem = problemOf(() => requireContentType(header, isJsonType, 'JSON'));
    expect([problem.errorKey, problem.status]).toEqual(['body.unsupported_type', 415]);
    expect(problem.message).toContain('; allowed: ');
  });

  test('may not be encoded where that is not supported', () => {
    expect(requirePlainBody(undefined)).toBeUndefined();
    expect(requirePlainBody('Identity')).toBeUndefined();
    const problem = problemOf(() => requirePlainBody('gzip'));
    expect([problem.status, problem.headers]).toEqual([415, { 'accept-encoding': 'identity' }]);
  });
});
