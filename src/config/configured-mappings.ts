import type { TopicEntry } from '../../ingest/kafka/kafka-topics.ts';
import type { Mapping } from '../../ingest/mapping/mapping.ts';
import { loadMappings, type NamedMappings } from '../../ingest/mapping/named-mappings.ts';
import { WrongYaml } from '../../ingest/mapping/yaml-tree.ts';
import type { AccessKey } from './access-key.ts';
import { ConfigError } from './config.ts';

/** The mappings of the program: its presets, and those of the folder of MAPPINGS. Throws ConfigError with a line for each fault. */
export function configuredMappings(folder: string | null): NamedMappings {
  try {
    return loadMappings(folder);
  } catch (error) {
    if (error instanceof WrongYaml) throw new ConfigError(error.faults.map((fault) => `MAPPINGS: ${fault}`));
    throw error;
  }
}

/** The mapping of a name, which stands in a setting. Throws ConfigError where there is none of this name. */
export function mappingNamed(name: string, mappings: NamedMappings, setting: string): Mapping {
  const found = mappings.get(name);
  if (found !== undefined) return found.mapping;
  throw new ConfigError([`${setting} is not allowed: ${JSON.stringify(name)} is no mapping; allowed: ${[...mappings.keys()].join(', ')}`]);
}

/** Throws ConfigError where an entry of KAFKA_TOPICS names a mapping that there is not, or one that gives its records no zone. */
export function requireTopicMappings(entries: readonly TopicEntry[], mappings: NamedMappings): void {
  for (const { pattern, mapping: name } of entries) {
    if (name === null) continue;
    const setting = `KAFKA_TOPICS=${JSON.stringify(`${pattern}=${name}`)}`;
    if (mappingNamed(name, mappings, setting).zone !== null) continue;
    const allowed = `a mapping with a zone, such as a file in MAPPINGS with preset: ${name} and a zone`;
    throw new ConfigError([`${setting} is not allowed: the mapping has no zone, and a topic gives none; allowed: ${allowed}`]);
  }
}

/** Throws ConfigError where an access key names no mapping. Its entry is told by its number: what it names may be part of a key. */
export function requireKeyMappings(keys: readonly AccessKey[], mappings: NamedMappings): void {
  const unknown = keys.findIndex(({ mapping }) => mapping !== null && !mappings.has(mapping));
  if (unknown === -1) return;
  const what = `ACCESS_KEYS: the fifth part of entry ${unknown + 1} of ${keys.length} is no mapping`;
  throw new ConfigError([`${what}; allowed: ${[...mappings.keys()].join(', ')}`]);
}
