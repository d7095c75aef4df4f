import { describe, expect, test } from 'vitest';
import { isBrokenConnection, UpstreamCallFailed, UpstreamFault, upstreamFailure } from '../../../edge/proxy/upstream-failure.ts';

function coded(code: string): Error {
  return Object.assign(new Error('connect to 10.1.2.3 failed'), { code });
}

describe('a failure of an upstream', () => {
  test.each([
    ['a connection that is not made in time', coded('UND_ERR_CONNECT_TIMEOUT'), 504],
    ['a connection that the kernel gives up', coded('ETIMEDOUT'), 504],
    ['headers that do not come', new Error('wrapped', { cause: coded('UND_ERR_HEADERS_TIMEOUT') }), 504],
    ['a body that pauses', coded('UND_ERR_BODY_TIMEOUT'), 504],
    ['a body that takes too long', new UpstreamFault('UPSTREAM_TOO_SLOW', 'too long'), 504],
    ['a refused connection', coded('ECONNREFUSED'), 502],
    ['an unknown name', coded('ENOTFOUND'), 502],
    ['something without a code', new Error('what'), 502],
    ['something that is no error', 'what', 502],
    ['headers that came too late', new UpstreamCallFailed('listNodes', new UpstreamFault('UPSTREAM_TOO_SLOW', 'too long'), true), 504],
    [
      'a connection that was refused',
      new Error('wrapped', { cause: new UpstreamCallFailed('listNodes', coded('ECONNREFUSED'), false) }),
      502,
    ],
    ['a caller that has gone', new UpstreamCallFailed('listNodes', new UpstreamFault('CALLER_GONE', 'gone'), true), 499],
    ['no room for its answer', new UpstreamFault('NO_ROOM_FOR_ANSWER', 'later'), 503],
    ['an answer that is not handed on', new UpstreamFault('UPSTREAM_UNUSABLE', 'The upstream answered with a redirect'), 502],
  ])('%s is told without saying who it is', (_what, error, status) => {
    const failure = upstreamFailure(error);
    expect(failure.status).toBe(status);
    expect(failure.message).not.toContain('10.1.2.3');
  });

  test('is a broken connection only where one had been made', () => {
    const broken = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ECONNREFUSED', 'UND_ERR_HEADERS_TIMEOUT'].map((code) =>
      isBrokenConnection(coded(code)),
    );
    expect(broken).toEqual([true, true, true, false, false]);
  });

  test('is kept without what tells who it was', () => {
    const kept = new UpstreamCallFailed('listNodes', Object.assign(coded('ENOTFOUND'), { hostname: 'secret.example' }), false);
    expect([kept.message, kept.codes, kept.cause]).toEqual(['listNodes: ENOTFOUND', ['ENOTFOUND'], undefined]);
    expect(JSON.stringify(kept)).not.toMatch(/secret|10\.1\.2\.3/);
  });

  test('whose causes go in a circle is told all the same', () => {
    const error = coded('ELOOPED');
    error.cause = error;
    expect(upstreamFailure(error).status).toBe(502);
  });
});
