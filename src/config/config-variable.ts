import type { ParsedValue } from './config-value.ts';

/** One environment variable; its flag is `flagOf(name)`. */
export interface ConfigVariable<Key extends string = string, Value = unknown> {
  readonly key: Key;
  readonly name: string;
  /** What stands for an unset variable: parsed like any other text. Null: the value is null. */
  readonly default: string | null;
  /** An environment variable that is set but empty counts as unset, unless this says that its parser is to judge it. */
  readonly judgesEmpty?: true;
  /** Completes the sentence "allowed: …". */
  readonly allowed: string;
  readonly about: string;
  /** A secret's value is never shown, and may stand in a file. */
  readonly secret?: true;
  readonly parse: (text: string) => ParsedValue<Value>;
}
