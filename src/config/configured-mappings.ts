import type { Mapping } from '../../ingest/mapping/mapping.ts';
import { loadMappings, type NamedMappings } from '../../ingest/mapping/named-mappings.ts';
import { WrongMapping } from '../../ingest/mapping/yaml-tree.ts';
import type { AccessKey } from './access-key.ts';
import { ConfigError } from './config.ts';

/** The mappings of the program: its presets, and those of the folder of MAPPINGS. Throws ConfigError with a line for each fault. */
export function configuredMappings(folder: string | null): NamedMappings {
  try {
    return loadMappings(folder);
  } catch (error) {
    if (error instanceof WrongMapping) throw new ConfigError(error.faults.map((fault) => `MAPPINGS: ${fault}`));
    throw error;
  }
}

/** The mapping that the text of a setting names. Throws ConfigError where there is none of this name. */
export function mappingNamed(name: string, mappings: NamedMappings, setting: string): Mapping {
  const found = mappings.get(name);
  if (found !== undefined) return found.mapping;
  throw new ConfigError([`${setting}=${JSON.stringify(name)} is no mapping; allowed: ${[...mappings.keys()].join(', ')}`]);
}

/** Throws ConfigError where an access key names no mapping. Its entry is told by its number: what it names may be part of a key. */
export function requireKeyMappings(keys: readonly AccessKey[], mappings: NamedMappings): void {
  const unknown = keys.findIndex(({ mapping }) => mapping !== null && !mappings.has(mapping));
  if (unknown === -1) return;
  const what = `ACCESS_KEYS: the fifth part of entry ${unknown + 1} of ${keys.length} is no mapping`;
  throw new ConfigError([`${what}; allowed: ${[...mappings.keys()].join(', ')}`]);
}
