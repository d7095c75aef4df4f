import { readFileSync } from 'node:fs';
import { getSystemErrorMessage } from 'node:util';
import { readYaml, WrongMapping, type YamlMember, type YamlTree } from '../../ingest/mapping/yaml-tree.ts';
import { parseUrlSetting } from '../config/address-setting.ts';
import { ConfigError } from '../config/config.ts';
import { isLoopbackHost } from '../config/loopback.ts';
import { readSecret, type Texts } from '../config/setting-text.ts';
import { trustIn } from '../sinks/connections.ts';

interface Endpoint {
  readonly name: string;
  readonly url: URL;
  /** The authorities of its certificate, as PEM; null: those that Node trusts. */
  readonly ca: string | null;
  /** Texts that no log, error or answer may have. */
  readonly secrets: readonly string[];
}

/** Who is told of alerts. */
export type Receiver =
  | (Endpoint & { readonly kind: 'webhook'; readonly signingSecret: string | null; readonly token: string | null })
  | (Endpoint & { readonly kind: 'slack' })
  | (Endpoint & { readonly kind: 'alertmanager'; readonly token: string | null })
  | (Endpoint & { readonly kind: 'pagerduty'; readonly routingKey: string });

const RECEIVER_KINDS = ['webhook', 'slack', 'alertmanager', 'pagerduty'] as const satisfies readonly Receiver['kind'][];

/** The members of a receiver beside its kind. A secret one is never written out. */
const MEMBERS = {
  webhook: ['url', 'url_file', 'secret', 'secret_file', 'token', 'token_file', 'ca_file'],
  slack: ['url', 'url_file', 'ca_file'],
  alertmanager: ['url', 'url_file', 'token', 'token_file', 'ca_file'],
  pagerduty: ['url', 'routing_key', 'routing_key_file', 'ca_file'],
} as const satisfies Readonly<Record<Receiver['kind'], readonly string[]>>;

const PAGERDUTY_URL = 'https://events.pagerduty.com/v2/enqueue';

export const MOST_RECEIVERS = 100;

/** The names that rules know receivers by. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const NAME_FORM = '1 to 64 letters, digits, dots, dashes and underscores, a letter or digit first';

const VARIABLE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;
const SECRET = /^[\x21-\x7e]{1,4096}$/;
const SECRET_FORM = '1 to 4096 printable ASCII characters without blank';

/**
 * Reads who is told of alerts from the operator's YAML file. `env` has the secrets that it names. Throws ConfigError, with a line for each
 * fault, which names the file and the line in it and holds no secret.
 */
export function readReceivers(file: string, env: Texts): readonly Receiver[] {
  const reader = new ReceiversReader(env);
  const shown = `ALERT_RECEIVERS=${JSON.stringify(file)}`;
  try {
    const receivers = reader.receivers(readYaml(readFileSync(file, 'utf8')));
    if (reader.faults.length === 0) return receivers;
  } catch (error) {
    if (error instanceof WrongMapping) throw new ConfigError(error.faults.map((fault) => `${shown}: ${fault}`));
    const { errno } = error as NodeJS.ErrnoException;
    if (errno === undefined) throw error;
    throw new ConfigError([`${shown} cannot be read: ${getSystemErrorMessage(errno)}; allowed: the path of a YAML file`]);
  }
  throw new ConfigError(reader.faults.map((fault) => `${shown}: ${fault}`));
}

/** A receiver is wrong; the message has no secret. */
class Fault extends Error {}

/** Reads receivers, and gathers what is wrong with them. */
class ReceiversReader {
  readonly faults: string[] = [];
  readonly #env: Texts;

  constructor(env: Texts) {
    this.#env = env;
  }

  receivers(tree: YamlTree): readonly Receiver[] {
    if (tree.kind !== 'map' || tree.members.length > MOST_RECEIVERS) {
      const what = tree.kind === 'map' ? `${tree.members.length} receivers` : `a ${tree.kind}`;
      this.faults.push(`line ${tree.line}: the file has ${what}; allowed: at most ${MOST_RECEIVERS} receivers, each under its name`);
      return [];
    }
    return tree.members.flatMap((member) => {
      try {
        return [this.#receiver(member)];
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        this.faults.push(error.message);
        return [];
      }
    });
  }

  #receiver({ key: name, line, value }: YamlMember): Receiver {
    if (!NAME.test(name)) throw new Fault(`line ${line}: ${JSON.stringify(name)} is no name of a receiver; allowed: ${NAME_FORM}`);
    if (value.kind !== 'map') throw new Fault(`line ${line}: ${name} has no members; allowed: kind and ${MEMBERS.webhook.join(', ')}`);
    const members = new Map(value.members.map((member) => [member.key, member]));
    const kindMember = members.get('kind')?.value;
    const kind = RECEIVER_KINDS.find((known) => kindMember?.kind === 'text' && kindMember.text === known);
    if (kind === undefined) {
      const shown =
        kindMember === undefined ? 'is missing' : kindMember.kind === 'text' ? `is ${JSON.stringify(kindMember.text)}` : 'is no text';
      throw new Fault(`line ${kindMember?.line ?? line}: kind of ${name} ${shown}; allowed: ${RECEIVER_KINDS.join(', ')}`);
    }
    const allowed: readonly string[] = ['kind', ...MEMBERS[kind]];
    const unknown = value.members.find(({ key }) => !allowed.includes(key));
    if (unknown !== undefined) {
      const what = `${JSON.stringify(unknown.key)} is no member of a receiver of the kind ${kind}`;
      throw new Fault(`line ${unknown.line}: ${what}; allowed: ${allowed.join(', ')}`);
    }
    return this.#ofKind(kind, { name, line, members });
  }

  #ofKind(kind: Receiver['kind'], from: ReceiverMembers): Receiver {
    const { name, line } = from;
    const ca = this.#authorities(from);
    const url = this.#url(kind, from);
    const [signingSecret, token] = [this.#secret('secret', from), this.#secret('token', from)];
    const routingKey = this.#secret('routing_key', from);
    const secrets = [...url.secrets, ...[signingSecret, token, routingKey].filter((text) => text !== null)];
    const sendsSecrets = url.secrets.length > 0 || token !== null || routingKey !== null;
    if (url.address.protocol === 'http:' && sendsSecrets && !isLoopbackHost(url.address.hostname)) {
      const why = 'it would send its secrets in the clear';
      throw new Fault(`line ${line}: the url of ${name} is one of http:, and ${why}; allowed: https:, or http: at a loopback address`);
    }
    const endpoint = { name, url: url.address, ca, secrets };
    switch (kind) {
      case 'webhook':
        return { ...endpoint, kind, signingSecret, token };
      case 'slack':
        return { ...endpoint, kind };
      case 'alertmanager':
        return { ...endpoint, kind, token };
      case 'pagerduty':
        if (routingKey === null) throw new Fault(`line ${line}: routing_key of ${name} is missing; allowed: ${secretForms('routing_key')}`);
        return { ...endpoint, kind, routingKey };
    }
  }

  /** The address of a receiver. Where it stands in a variable or a file, as that of Slack has to, it is a secret from its path on. */
  #url(kind: Receiver['kind'], from: ReceiverMembers): { readonly address: URL; readonly secrets: readonly string[] } {
    const { name, line, members } = from;
    const written = members.get('url')?.value;
    const isWrittenOut = written?.kind === 'text' && !VARIABLE.test(written.text);
    if (isWrittenOut && kind !== 'slack') {
      const parsed = parseUrlSetting(written.text, ['http', 'https']);
      const allowed = `an http: or https: URL without credentials, query and fragment, or ${secretForms('url')}`;
      if (parsed.kind === 'value') return { address: parsed.value, secrets: [] };
      throw new Fault(`line ${written.line}: the url of ${name} is not allowed: ${parsed.why}; allowed: ${allowed}`);
    }
    const text = this.#secret('url', from);
    if (text === null && kind === 'pagerduty') return { address: new URL(PAGERDUTY_URL), secrets: [] };
    if (text === null) throw new Fault(`line ${line}: url of ${name} is missing; allowed: ${secretForms('url')}`);
    const address = URL.parse(text);
    if (address === null || !/^https?:$/.test(address.protocol) || address.username !== '' || address.password !== '') {
      throw new Fault(`line ${line}: the url of ${name} is not allowed; allowed: an http: or https: URL without credentials`);
    }
    const path = `${address.pathname}${address.search}`;
    // A receiver may repeat its last part alone.
    return { address, secrets: [text, path, ...path.split(/[/?&=]/)].filter((part) => part.length >= LEAST_SECRET_LENGTH) };
  }

  /** The text of a secret, out of a variable of the environment or a file; null where there is none. */
  #secret(member: string, { name, members }: ReceiverMembers): string | null {
    const [direct, file] = [members.get(member), members.get(`${member}_file`)];
    if (direct !== undefined && file !== undefined) {
      throw new Fault(`line ${file.line}: ${name} has ${member} and ${member}_file; allowed: one of them`);
    }
    const given = direct ?? file;
    if (given === undefined) return null;
    const { line, value } = given;
    const text = value.kind === 'text' && !value.isNull ? value.text : '';
    const found = direct === undefined ? this.#inFile(text) : this.#inVariable(text);
    if ('why' in found)
      throw new Fault(`line ${line}: ${given.key} of ${name} is not allowed: ${found.why}; allowed: ${secretForms(member)}`);
    if (SECRET.test(found.text)) return found.text;
    throw new Fault(`line ${line}: ${given.key} of ${name} is not allowed: what it names is not ${SECRET_FORM}`);
  }

  #inVariable(text: string): { readonly text: string } | { readonly why: string } {
    const variable = VARIABLE.exec(text)?.[1];
    if (variable === undefined) return { why: 'it is a secret, and stands in no file that others read' };
    const value = this.#env[variable];
    return value ? { text: value } : { why: `the environment has no ${variable}` };
  }

  #inFile(path: string): { readonly text: string } | { readonly why: string } {
    return path === '' ? { why: 'it names no file' } : readSecret(path);
  }

  #authorities({ name, members }: ReceiverMembers): string | null {
    const member = members.get('ca_file');
    if (member === undefined) return null;
    const found = this.#inFile(member.value.kind === 'text' ? member.value.text : '');
    const allowed = 'the path of a PEM file with certificates';
    if ('why' in found) throw new Fault(`line ${member.line}: ca_file of ${name} is not allowed: ${found.why}; allowed: ${allowed}`);
    try {
      trustIn(found.text);
      return found.text;
    } catch (error) {
      throw new Fault(`line ${member.line}: ca_file of ${name} holds no certificate; allowed: ${allowed}`, { cause: error });
    }
  }
}

interface ReceiverMembers {
  readonly name: string;
  readonly line: number;
  readonly members: ReadonlyMap<string, YamlMember>;
}

/** A shorter part of a URL, such as `v2` or `hooks`, is no secret. */
const LEAST_SECRET_LENGTH = 6;

function secretForms(member: string): string {
  return `${member}: \${NAME} with the name of a variable of the environment, or ${member}_file: with the path of a file`;
}
