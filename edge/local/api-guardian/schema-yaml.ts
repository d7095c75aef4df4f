import { type ScalarTag, stringify, type Tags } from 'yaml';
import { SpecNumber } from './spec-number.ts';
import type { JsonTree } from './spec-tree.ts';

const NUMBER: ScalarTag = {
  identify: (value) => value instanceof SpecNumber,
  default: true,
  tag: 'tag:yaml.org,2002:float',
  resolve: (text) => text,
  stringify: ({ value }) => (value as SpecNumber).decimal,
};

const withOwnTags = (tags: Tags): Tags => [NUMBER, ...tags];

/** A schema as YAML. */
export function schemaYaml(schema: JsonTree): string {
  return stringify(schema, { lineWidth: 0, aliasDuplicateObjects: false, customTags: withOwnTags });
}
