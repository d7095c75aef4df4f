import type { Kafka } from 'kafkajs';
import micromatch from 'micromatch';
import { innermost } from './kafka-fault.ts';

/** An entry of KAFKA_TOPICS. */
export interface TopicEntry {
  /** A name, or a glob of micromatch such as `shield-*` or `{eu,us}.events`. */
  readonly pattern: string;
  /** The name of the mapping by which records become events; null: the messages are events. */
  readonly mapping: string | null;
}

export interface TopicMatch {
  /** The topics to read, sorted, each with the name of its mapping. */
  readonly topics: ReadonlyMap<string, string | null>;
  /** Names and globs that match no topic yet. They are tried again later. */
  readonly missing: readonly string[];
}

/** Matches Kafka's own topics, which globs such as `*` leave out. */
const INTERNAL_TOPIC = /^__/;

/** Matches names that Kafka allows for a topic, but no globs with a star or a brace. */
const TOPIC_NAME = /^[\w.-]{1,249}$/;

/**
 * Picks the brokers' topics that match entries; the first entry that matches a topic says its mapping. Topics that begin with two
 * underscores are picked only by name.
 */
export function matchTopics(entries: readonly TopicEntry[], available: readonly string[]): TopicMatch {
  const topics = new Map<string, string | null>();
  const missing: string[] = [];
  for (const { pattern, mapping } of entries) {
    const matches = available.includes(pattern) ? [pattern] : globMatches(pattern, available);
    for (const topic of matches) {
      if (!topics.has(topic)) topics.set(topic, mapping);
    }
    if (matches.length === 0) {
      missing.push(pattern);
    }
  }
  return { topics: new Map([...topics].sort(([one], [other]) => (one < other ? -1 : 1))), missing };
}

function globMatches(pattern: string, available: readonly string[]): readonly string[] {
  const names = available.filter((topic) => !INTERNAL_TOPIC.test(topic));
  return micromatch(names, pattern, { dot: true });
}

/** The brokers' answers about a topic that does not exist or is being created. */
const ABSENT = ['UNKNOWN_TOPIC_OR_PARTITION', 'INVALID_TOPIC_EXCEPTION', 'LEADER_NOT_AVAILABLE'];

/**
 * Finds the missing topics on which this client has no rights. Brokers do not list such topics, but refuse requests for them by name,
 * whether or not they exist. Rejects where the brokers do not answer.
 */
export async function deniedAmong(missing: readonly string[], kafka: Kafka): Promise<readonly string[]> {
  const names = missing.filter((pattern) => TOPIC_NAME.test(pattern));
  if (names.length === 0) return [];
  const denied: string[] = [];
  // A new admin client, because kafkajs swallows this answer about a topic that the client has seen before.
  const admin = kafka.admin();
  try {
    for (const topic of names) {
      await admin.fetchTopicMetadata({ topics: [topic] }).catch((error: Error) => {
        const { type } = innermost(error);
        if (type === 'TOPIC_AUTHORIZATION_FAILED') denied.push(topic);
        else if (typeof type !== 'string' || !ABSENT.includes(type)) throw error;
      });
    }
  } finally {
    await admin.disconnect();
  }
  return denied;
}
