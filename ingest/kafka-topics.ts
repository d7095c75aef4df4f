import type { Kafka } from 'kafkajs';
import micromatch from 'micromatch';
import type { KafkaLogger } from './kafka-log.ts';

export interface TopicMatch {
  /** The topics to read, sorted. */
  readonly topics: readonly string[];
  /** Names that no topic has, and globs that match none: they are looked for again and again. */
  readonly missing: readonly string[];
}

/** Kafka's own topics, which a glob such as `*` does not mean. */
const INTERNAL_TOPIC = /^__/;

/**
 * Picks from the topics that the brokers have those that the names and globs (micromatch's, such as `shield-*` or `{eu,us}.events`) ask for.
 * A glob never picks a topic that begins with two underscores; its plain name does.
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

/**
 * The names among the missing ones that this client has no right on: brokers do not list such topics, but asked for one by name they say so,
 * whether or not it exists.
 */
export async function deniedAmong(missing: readonly string[], kafka: Kafka, logger: KafkaLogger): Promise<readonly string[]> {
  const denied: string[] = [];
  const admin = kafka.admin({ retry: { retries: 0 } });
  try {
    for (const topic of missing) {
      await admin.fetchTopicMetadata({ topics: [topic] }).catch((error: Error & { readonly type?: string }) => {
        if (error.type === 'TOPIC_AUTHORIZATION_FAILED') denied.push(topic);
        // Any other answer is that for a name or a glob that no topic has.
        else logger.debug({ err: error, topic }, 'a topic that is missing was asked for by name');
      });
    }
  } finally {
    await admin.disconnect();
  }
  return denied;
}
