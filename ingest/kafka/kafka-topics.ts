import type { Kafka } from 'kafkajs';
import micromatch from 'micromatch';
import { innermost } from './kafka-fault.ts';

export interface TopicMatch {
  /** The topics to read, sorted. */
  readonly topics: readonly string[];
  /** Names that no topic has, and globs that match none: they are looked for again and again. */
  readonly missing: readonly string[];
}

/** Kafka's own topics, which a glob such as `*` does not mean. */
const INTERNAL_TOPIC = /^__/;

/** What Kafka allows as the name of a topic; a glob with a star or a brace is none. */
const TOPIC_NAME = /^[\w.-]{1,249}$/;

/**
 * Picks from the topics that the brokers have those that the names and globs (micromatch's, such as `shield-*` or `{eu,us}.events`) ask
 * for. A glob never picks a topic that begins with two underscores; its plain name does.
 */
export function matchTopics(patterns: readonly string[], available: readonly string[]): TopicMatch {
  const topics = new Set<string>();
  const missing: string[] = [];
  for (const pattern of patterns) {
    const matches = available.includes(pattern) ? [pattern] : globMatches(pattern, available);
    for (const topic of matches) {
      topics.add(topic);
    }
    if (matches.length === 0) {
      missing.push(pattern);
    }
  }
  return { topics: [...topics].sort(), missing };
}

function globMatches(pattern: string, available: readonly string[]): readonly string[] {
  const names = available.filter((topic) => !INTERNAL_TOPIC.test(topic));
  return micromatch(names, pattern, { dot: true });
}

/** Brokers give one of these answers about a topic that is not there, or is only being made. */
const ABSENT = ['UNKNOWN_TOPIC_OR_PARTITION', 'INVALID_TOPIC_EXCEPTION', 'LEADER_NOT_AVAILABLE'];

/**
 * The names among the missing ones that this client has no right on: brokers do not list such topics, but asked for one by name they say
 * so, whether or not it exists. Rejects where the brokers cannot be asked.
 */
export async function deniedAmong(missing: readonly string[], kafka: Kafka): Promise<readonly string[]> {
  const names = missing.filter((pattern) => TOPIC_NAME.test(pattern));
  if (names.length === 0) return [];
  const denied: string[] = [];
  // kafkajs drops the answer about a topic that an admin has seen before, so this one is new.
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
