import { STATUS_CODES } from 'node:http';
import { describe, expect, test } from 'vitest';
import { type ErrorKey, PROBLEMS, problemBody, RequestProblem } from '../../../src/http/problem.ts';
import { parseZoneId } from '../../../src/http/request-parameters.ts';

describe('problems', () => {
  test.each(Object.keys(PROBLEMS) as ErrorKey[])('%s has a status that HTTP knows, a title, and a type that explains it', (key) => {
    const body = JSON.parse(problemBody(new RequestProblem(key, 'because'), '/here'));
    expect(STATUS_CODES[body.status]).toBeDefined();
    expect(body.status).toBeGreaterThanOrEqual(400);
    expect(body).toMatchObject({ title: PROBLEMS[key].title, detail: 'because', instance: '/here', errorKey: key });
    expect(body.type).toMatch(/^https:\/\/www\.rfc-editor\.org\/rfc\//);
    expect(body).not.toHaveProperty('errors');
  });
});

describe('a zone in a path', () => {
  test.each([
    ['0', 0],
    ['7', 7],
    ['007', 7],
    ['-5', -5],
    ['-0', 0],
    ['2147483647', 2_147_483_647],
    ['-2147483648', -2_147_483_648],
  ])('may be %s', (text, zone) => {
    expect(parseZoneId(text)).toBe(zone);
  });

  test.each(['', '-', '--1', '+1', '- 1', '1.0', '1e3', '0x10', ' 7', '2147483648', '-2147483649', '99999999999', '٧'])(
    'may not be %j',
    (text) => {
      expect(() => parseZoneId(text)).toThrow(`shieldZoneId: "${text}" is not a whole number -2147483648..2147483647`);
    },
  );
});
