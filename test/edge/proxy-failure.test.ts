import { describe, expect, test } from 'vitest';
import { isBrokenConnection, UpstreamTooSlow, UpstreamUnusable, upstreamFailure } from '../../edge/proxy-failure.ts';

function coded(code: string): Error {
  return Object.assign(new Error('connect to 10.1.2.3 failed'), { code });
}

describe('a failure of an upstream', () => {
  test.each([
    ['a connection that is not made in time', coded('UND_ERR_CONNECT_TIMEOUT'), 504],
    ['a connection that the kernel gives up', coded('ETIMEDOUT'), 504],
    ['headers that do not come', new Error('wrapped', { cause: coded('UND_ERR_HEADERS_TIMEOUT') }), 504],
    ['a body that pauses', coded('UND_ERR_BODY_TIMEOUT'), 504],
    ['a body that takes too long', new UpstreamTooSlow('too long'), 504],
    ['a refused connection', coded('ECONNREFUSED'), 502],
    ['an unknown name', coded('ENOTFOUND'), 502],
    ['something without a code', new Error('what'), 502],
    ['something that is no error', 'what', 502],
    ['an answer that is not handed on', new UpstreamUnusable('The upstream answered with a redirect'), 502],
  ])('%s is told without saying who it is', (_what, error, status) => {
    const failure = upstreamFailure(error);
    expect(failure.status).toBe(status);
    expect(failure.message).not.toContain('10.1.2.3');
    expect(failure.cause).toBe(error);
  });

  test('is a broken connection only where one had been made', () => {
    const broken = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ECONNREFUSED', 'UND_ERR_HEADERS_TIMEOUT'].map((code) =>
      isBrokenConnection(coded(code)),
    );
    expect(broken).toEqual([true, true, true, false, false]);
  });

  test('whose causes go in a circle is told all the same', () => {
    const error = coded('ELOOPED');
    error.cause = error;
    expect(upstreamFailure(error).status).toBe(502);
  });
});
