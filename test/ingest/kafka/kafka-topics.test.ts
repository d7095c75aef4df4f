import kafkajs from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { deniedAmong, matchTopics, type TopicEntry } from '../../../ingest/kafka/kafka-topics.ts';

function entryOf(text: string): TopicEntry {
  const [pattern = '', mapping = null] = text.split('=');
  return { pattern, mapping };
}

const AVAILABLE = ['eu.events', 'us.events', 'us.audit', 'shield-events', '__consumer_offsets', '.hidden'];

describe('the topics to read', () => {
  const cases: readonly (readonly [name: string, entries: string[], topics: string[], missing: string[]])[] = [
    ['a name is that topic', ['us.audit'], ['us.audit'], []],
    ['a glob is every topic that it matches', ['*.events'], ['eu.events', 'us.events'], []],
    ['braces are alternatives', ['{eu,us}.events'], ['eu.events', 'us.events'], []],
    ['a topic that two patterns match is read once', ['us.*', 'us.events'], ['us.audit', 'us.events'], []],
    ['a star leaves the brokers own topics alone', ['*'], ['.hidden', 'eu.events', 'shield-events', 'us.audit', 'us.events'], []],
    ['a topic of the brokers own is read when it is named', ['__consumer_offsets'], ['__consumer_offsets'], []],
    ['a name that no topic has is missing', ['shield-events', 'tomorrow'], ['shield-events'], ['tomorrow']],
    ['a glob that matches nothing is missing', ['asia.*'], [], ['asia.*']],
    ['topics have the mapping of their entry', ['us.*=waf', 'eu.events'], ['eu.events', 'us.audit=waf', 'us.events=waf'], []],
    ['the first entry that matches a topic counts', ['us.audit', 'us.*=a', '*.events=b'], ['eu.events=b', 'us.audit', 'us.events=a'], []],
    ['a glob behind a name takes the others', ['us.*=waf', 'us.audit'], ['us.audit=waf', 'us.events=waf'], []],
    ['what is missing is named without its mapping', ['asia.*=waf'], [], ['asia.*']],
  ];
  it.each(cases)('%s', (_name, entries, expected, missing) => {
    const found = matchTopics(entries.map(entryOf), AVAILABLE);
    const topics = [...found.topics].map(([topic, mapping]) => (mapping === null ? topic : `${topic}=${mapping}`));
    expect([topics, found.missing]).toEqual([expected, missing]);
  });
});

describe('the missing topics that this client has no right on', () => {
  // Port 1 of the loopback address: nobody listens there.
  const unreachable = new kafkajs.Kafka({ brokers: ['127.0.0.1:1'], logLevel: kafkajs.logLevel.NOTHING, retry: { retries: 1 } });

  it('are unknown where the brokers cannot be asked', async () => {
    await expect(deniedAmong(['tomorrow'], unreachable)).rejects.toThrow('ECONNREFUSED');
  });

  it('hold no glob, which no topic can be named: the brokers are not asked', async () => {
    expect(await deniedAmong(['asia.*', '{eu,us}.audit', 'a/b'], unreachable)).toEqual([]);
  });
});
