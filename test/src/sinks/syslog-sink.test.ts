import { describe, expect, onTestFinished, test } from 'vitest';
import { trustIn } from '../../../src/sinks/connections.ts';
import { syslogSink } from '../../../src/sinks/syslog-sink.ts';
import { sampleBatch } from './sample-events.ts';
import { type SyslogListener, type SyslogManner, syslogListener } from './syslog-listener.ts';
import { testCertificate } from './test-certificate.ts';

const FOREVER = new AbortController().signal;

async function listen(...manners: SyslogManner[]): Promise<SyslogListener> {
  const listener = await syslogListener((connection) => manners[connection - 1] ?? 'read');
  onTestFinished(() => listener.stop());
  return listener;
}

function sinkTo(port: number, options: Partial<Parameters<typeof syslogSink>[0]> = {}) {
  const header = { facility: 'local4', severity: 'notice', hostname: 'here', appName: 'app', processId: '42', messageId: 'mid' } as const;
  return syslogSink({ host: '127.0.0.1', port, tls: false, trust: null, header, format: 'native', silenceMs: 30_000, ...options });
}

/** Returns the content of a receiver after a batch of so many events. */
const messagesOf = (count: number): string[] =>
  sampleBatch(count)
    .bytes.toString()
    .trimEnd()
    .split('\n')
    .map((line) => `<165>1 ${new Date(JSON.parse(line).timestamp).toISOString()} here app 42 mid - ${line}`);

describe('a syslog receiver', () => {
  test('gets a message of RFC 5424 for every event, in order, framed by octet counting', async () => {
    const listener = await listen();
    const sink = sinkTo(listener.port);
    await sink.deliver(sampleBatch(3), FOREVER);
    expect(listener.messages).toEqual(messagesOf(3));
    await sink.deliver(sampleBatch(3), FOREVER);
    expect([listener.messages.length, listener.connections()]).toEqual([6, 2]);
  });

  test('gets more than the buffers in between can hold', async () => {
    const listener = await listen();
    await sinkTo(listener.port).deliver(sampleBatch(30_000), FOREVER);
    expect(listener.messages).toEqual(messagesOf(30_000));
  });

  test.each([
    ['resets the connection', 'reset'],
    ['closes it before the end', 'close'],
  ] as const)('that %s has not accepted the batch, and gets it again', async (_what, manner) => {
    const listener = await listen(manner);
    const sink = sinkTo(listener.port);
    await expect(sink.deliver(sampleBatch(20_000), FOREVER)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(`:${listener.port}`),
    });
    await sink.deliver(sampleBatch(3), FOREVER);
    expect(listener.messages).toEqual(messagesOf(3));
  });

  test('that never closes the connection has not accepted the batch', async () => {
    const listener = await listen('hold', 'talk');
    for (const _manner of ['hold', 'talk']) {
      await expect(sinkTo(listener.port, { silenceMs: 500 }).deliver(sampleBatch(3), FOREVER)).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('never closed the connection'),
      });
    }
    expect(listener.connections()).toBe(2);
  });

  test('that is not there is unavailable, and has the batch when it is back', async () => {
    const first = await listen();
    await first.stop();
    const sink = sinkTo(first.port);
    await expect(sink.deliver(sampleBatch(1), FOREVER)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('nothing is listening'),
    });
    const second = await syslogListener(() => 'read', { port: first.port });
    onTestFinished(() => second.stop());
    await sink.deliver(sampleBatch(1), FOREVER);
    expect(second.messages).toEqual(messagesOf(1));
  });

  test('that is given up ends the delivery with the signal', async () => {
    const given = new AbortController();
    const listener = await syslogListener(() => {
      given.abort(new Error('given up'));
      return 'hold';
    });
    onTestFinished(() => listener.stop());
    await expect(sinkTo(listener.port).deliver(sampleBatch(1), given.signal)).rejects.toThrow('given up');
  });
});

describe('a syslog receiver behind TLS', () => {
  async function listenTls(...manners: SyslogManner[]) {
    const certificate = await testCertificate();
    const listener = await syslogListener((connection) => manners[connection - 1] ?? 'read', { certificate });
    onTestFinished(() => listener.stop());
    return { listener, trust: trustIn(certificate.cert) };
  }

  test('gets the same messages, more than the buffers in between can hold', async () => {
    const { listener, trust } = await listenTls();
    await sinkTo(listener.port, { tls: true, trust }).deliver(sampleBatch(30_000), FOREVER);
    expect(listener.messages).toEqual(messagesOf(30_000));
  });

  test('is found by its name too', async () => {
    const { listener, trust } = await listenTls();
    await sinkTo(listener.port, { tls: true, trust, host: 'localhost' }).deliver(sampleBatch(1), FOREVER);
    expect(listener.messages).toEqual(messagesOf(1));
  });

  test('whose authority is not trusted gets nothing', async () => {
    const { listener } = await listenTls();
    await expect(sinkTo(listener.port, { tls: true }).deliver(sampleBatch(1), FOREVER)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('--ca'),
    });
    expect(listener.messages).toEqual([]);
  });

  test.each([['reset'], ['close']] as const)('whose connection ends early (%s) has not accepted the batch', async (manner) => {
    const { listener, trust } = await listenTls(manner);
    const sink = sinkTo(listener.port, { tls: true, trust });
    await expect(sink.deliver(sampleBatch(20_000), FOREVER)).rejects.toMatchObject({ code: 'unavailable' });
    await sink.deliver(sampleBatch(2), FOREVER);
    expect(listener.messages).toEqual(messagesOf(2));
  });

  test('that speaks no TLS has accepted nothing', async () => {
    const listener = await listen();
    await expect(sinkTo(listener.port, { tls: true, silenceMs: 50 }).deliver(sampleBatch(1), FOREVER)).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});
