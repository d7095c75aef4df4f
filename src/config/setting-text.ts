import { readFileSync } from 'node:fs';
import { getSystemErrorMessage } from 'node:util';

export type Texts = Readonly<Record<string, string | undefined>>;

/** Where the text of a setting may stand. */
export interface SettingSource {
  /** The environment variable. */
  readonly name: string;
  /** The flag without `--`; null where the command line has none. */
  readonly flag: string | null;
  /** A secret may also stand in a file, named by NAME_FILE or `--name-file`. Its text is never shown. */
  readonly secret: boolean;
  /** An environment variable that is set but empty counts as unset, unless this is true. */
  readonly judgesEmpty: boolean;
}

export type SettingText =
  | { readonly kind: 'unset' }
  /** `shownAs` names it in messages, with its value or with its file, but never with a secret. */
  | { readonly kind: 'text'; readonly shownAs: string; readonly text: string }
  /** `line` says what is wrong and what is allowed. */
  | { readonly kind: 'refused'; readonly line: string };

export const fileVariableOf = (name: string): string => `${name}_FILE`;
export const fileFlagOf = (flag: string): string => `${flag}-file`;

/** The file's text without its last newline, or the reason why there is none. */
export function readTextFile(path: string): { readonly text: string } | { readonly why: string } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)).replace(/\r?\n$/, '');
    return text === '' ? { why: 'the file is empty' } : { text };
  } catch (error) {
    const { code, errno } = error as NodeJS.ErrnoException;
    if (errno !== undefined) return { why: getSystemErrorMessage(errno) };
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return { why: 'the file is not UTF-8 text' };
    throw error;
  }
}

interface Given {
  readonly name: string;
  readonly text: string | undefined;
}

function textOf(value: Given, file: Given, secret: boolean): SettingText | null {
  if (value.text !== undefined && file.text !== undefined) {
    return { kind: 'refused', line: `${value.name} and ${file.name} are both set; allowed: one of them` };
  }
  if (value.text !== undefined) {
    return { kind: 'text', shownAs: secret ? value.name : `${value.name}=${JSON.stringify(value.text)}`, text: value.text };
  }
  if (file.text === undefined) return null;
  const shownAs = `${file.name}=${JSON.stringify(file.text)}`;
  const read = readTextFile(file.text);
  if ('text' in read) return { kind: 'text', shownAs, text: read.text };
  return {
    kind: 'refused',
    line: `${shownAs} cannot be taken: ${read.why}; allowed: the path of a file that holds the value of ${value.name}`,
  };
}

/** Finds a setting's text. Flags win over the environment, and a secret may stand in a file in either. */
export function findSettingText({ name, flag, secret, judgesEmpty }: SettingSource, env: Texts, flags: Texts): SettingText {
  const ofFlag = (found: string): Given => ({ name: `--${found}`, text: flags[found] });
  // Compose files pass unset variables on as empty ones.
  const ofVariable = (found: string): Given => ({ name: found, text: env[found] || undefined });
  const ofEmpty = (found: string): Given => ({ name: found, text: judgesEmpty ? env[found] : undefined });
  const none: Given = { name: '', text: undefined };
  return (
    (flag === null ? null : textOf(ofFlag(flag), secret ? ofFlag(fileFlagOf(flag)) : none, secret)) ??
    textOf(ofVariable(name), secret ? ofVariable(fileVariableOf(name)) : none, secret) ??
    textOf(ofEmpty(name), none, secret) ??
    textOf(none, secret ? ofEmpty(fileVariableOf(name)) : none, secret) ?? { kind: 'unset' }
  );
}
