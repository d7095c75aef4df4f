import micromatch from 'micromatch';

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
