import { type ScalarTag, stringify, type Tags } from 'yaml';
import { SpecNumber } from './spec-number.ts';
import type { JsonTree } from './spec-tree.ts';

/** Words between blanks that begin with a letter. Anything with another sign is quoted. */
const WORDS = /^[\p{L}_$](?:[\p{L}\p{M}\p{N}_$./+ -]*[\p{L}\p{M}\p{N}_$./+-])?$/u;

/** Words that YAML 1.1 or 1.2 takes for something else than a text. */
const OTHER_WORDS = /^(?:y|n|yes|no|on|off|true|false|null|e[-+]?[\d_]+)$/i;

/** Signs that JSON writes as they are, and that YAML 1.1 takes for ends of lines, or does not take at all. */
const UNREADABLE = /[\u007F-\u009F\u2028\u2029\uFEFF\uFFFE\uFFFF]/g;

const escaped = (sign: string): string => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A text, quoted as in JSON unless every reader takes it for one as it is. */
function writtenText(text: string): string {
  return WORDS.test(text) && !OTHER_WORDS.test(text) ? text : JSON.stringify(text).replace(UNREADABLE, escaped);
}

const NUMBER: ScalarTag = {
  identify: (value) => value instanceof SpecNumber,
  default: true,
  tag: 'tag:yaml.org,2002:float',
  resolve: (text) => text,
  stringify: ({ value }) => (value as SpecNumber).decimal,
};

const TEXT: ScalarTag = {
  identify: (value) => typeof value === 'string',
  default: true,
  tag: 'tag:yaml.org,2002:str',
  resolve: (text) => text,
  stringify: ({ value }) => writtenText(String(value)),
};

const withOwnTags = (tags: Tags): Tags => [NUMBER, TEXT, ...tags];

/** A schema as YAML that readers of versions 1.1 and 1.2 take for the same. */
export function schemaYaml(schema: JsonTree): string {
  return stringify(schema, { lineWidth: 0, aliasDuplicateObjects: false, customTags: withOwnTags });
}
