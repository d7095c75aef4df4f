import { readYaml, WrongYaml, type YamlMember, type YamlTree } from '../../ingest/mapping/yaml-tree.ts';
import { parseUrlSetting, WEB_URL_FORM } from '../config/address-setting.ts';
import { ConfigError } from '../config/config.ts';
import { isLoopbackHost } from '../config/loopback.ts';
import { readTextFile, type Texts } from '../config/setting-text.ts';
import { trustIn } from '../sinks/connections.ts';

/** The members of a receiver beside its kind. A secret one is never written out. */
const MEMBERS = {
  webhook: ['url', 'url_file', 'secret', 'secret_file', 'token', 'token_file', 'ca_file'],
  slack: ['url', 'url_file', 'ca_file'],
  alertmanager: ['url', 'url_file', 'token', 'token_file', 'ca_file'],
  pagerduty: ['url', 'routing_key', 'routing_key_file', 'ca_file'],
} as const;

type ReceiverKind = keyof typeof MEMBERS;

const KINDS = Object.keys(MEMBERS) as ReceiverKind[];

/** Who is told of alerts. A secret that its kind does not know, or that it goes without, is null. */
export interface Receiver {
  readonly name: string;
  readonly kind: ReceiverKind;
  readonly url: URL;
  /** The authorities of its certificate, as PEM; null: those that Node trusts. */
  readonly ca: string | null;
  readonly signingSecret: string | null;
  readonly token: string | null;
  readonly routingKey: string | null;
  /** Texts that no log, error or answer may have. */
  readonly secrets: readonly string[];
}

const PAGERDUTY_URL = 'https://events.pagerduty.com/v2/enqueue';

export const MOST_RECEIVERS = 100;

/** The names that rules know receivers by. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const NAME_FORM = '1 to 64 letters, digits, dots, dashes and underscores, a letter or digit first';

const VARIABLE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;
const SECRET = /^[\x21-\x7e]{1,4096}$/;
const SECRET_FORM = '1 to 4096 printable ASCII characters without blank';

/** A shorter part of a URL, such as `v2` or `hooks`, is no secret. */
const LEAST_SECRET_LENGTH = 6;

/**
 * Reads who is told of alerts from the operator's YAML file. `env` has the secrets that it names. Throws ConfigError, with a line for each
 * fault, which names the file and the line in it and holds no secret.
 */
export function readReceivers(file: string, env: Texts): readonly Receiver[] {
  const shown = `ALERT_RECEIVERS=${JSON.stringify(file)}`;
  const read = readTextFile(file);
  if ('why' in read) throw new ConfigError([`${shown} cannot be read: ${read.why}; allowed: the path of a YAML file`]);
  const receivers: Receiver[] = [];
  const faults: string[] = [];
  const gatherFaults = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof WrongYaml)) throw error;
      faults.push(...error.faults);
    }
  };
  gatherFaults(() => {
    for (const member of membersOf(readYaml(read.text))) gatherFaults(() => receivers.push(receiverIn(member, env)));
  });
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => `${shown}: ${fault}`));
  return receivers;
}

function wrong(line: number, what: string, allowed: string): WrongYaml {
  return new WrongYaml([`line ${line}: ${what}; allowed: ${allowed}`]);
}

function membersOf(tree: YamlTree): readonly YamlMember[] {
  if (tree.kind === 'map' && tree.members.length <= MOST_RECEIVERS) return tree.members;
  const what = tree.kind === 'map' ? `${tree.members.length} receivers` : `a ${tree.kind}`;
  throw wrong(tree.line, `the file has ${what}`, `at most ${MOST_RECEIVERS} receivers, each under its name`);
}

/** What a receiver is read from. */
interface Written {
  readonly name: string;
  readonly line: number;
  readonly members: ReadonlyMap<string, YamlMember>;
  readonly env: Texts;
}

function receiverIn({ key: name, line, value }: YamlMember, env: Texts): Receiver {
  if (!NAME.test(name)) throw wrong(line, `${JSON.stringify(name)} is no name of a receiver`, NAME_FORM);
  if (value.kind !== 'map') throw wrong(line, `${name} has no members`, `kind and ${MEMBERS.webhook.join(', ')}`);
  const members = new Map(value.members.map((member) => [member.key, member]));
  const written = { name, line, members, env };
  const given = members.get('kind');
  const kind = KINDS.find((known) => known === textOf(given));
  if (kind === undefined) {
    const what = given === undefined ? 'is missing' : `is ${JSON.stringify(textOf(given))}`;
    throw wrong(given?.line ?? line, `kind of ${name} ${what}`, KINDS.join(', '));
  }
  const allowed: readonly string[] = ['kind', ...MEMBERS[kind]];
  const unknown = value.members.find(({ key }) => !allowed.includes(key));
  if (unknown !== undefined) {
    throw wrong(unknown.line, `${JSON.stringify(unknown.key)} is no member of a receiver of the kind ${kind}`, allowed.join(', '));
  }
  const ca = authoritiesIn(written);
  const { url, secrets: ofUrl } = urlIn(kind, written);
  const [signingSecret, token, routingKey] = [secretIn('secret', written), secretIn('token', written), secretIn('routing_key', written)];
  const secrets = [...ofUrl, ...[signingSecret, token, routingKey].filter((text) => text !== null)];
  const sendsSecrets = ofUrl.length > 0 || token !== null || routingKey !== null;
  if (url.protocol === 'http:' && sendsSecrets && !isLoopbackHost(url.hostname)) {
    const what = `the url of ${name} is one of http:, and it would send its secrets in the clear`;
    throw wrong(line, what, 'https:, or http: at a loopback address');
  }
  if (kind === 'pagerduty' && routingKey === null) throw wrong(line, `routing_key of ${name} is missing`, secretForms('routing_key'));
  return { name, kind, url, ca, signingSecret, token, routingKey, secrets };
}

/** The text of a member; empty where there is none. */
function textOf(member: YamlMember | undefined): string {
  return member?.value.kind === 'text' && !member.value.isNull ? member.value.text : '';
}

/** The address of a receiver. Where it stands in a variable or a file, as that of Slack has to, it is a secret from its path on. */
function urlIn(kind: ReceiverKind, written: Written): { readonly url: URL; readonly secrets: readonly string[] } {
  const { name, line, members } = written;
  const member = members.get('url');
  if (member === undefined && kind === 'pagerduty') return { url: new URL(PAGERDUTY_URL), secrets: [] };
  if (kind !== 'slack' && member !== undefined && !VARIABLE.test(textOf(member))) {
    const parsed = parseUrlSetting(textOf(member), ['http', 'https']);
    if (parsed.kind === 'value') return { url: parsed.value, secrets: [] };
    throw wrong(member.line, `the url of ${name} is not allowed: ${parsed.why}`, `${WEB_URL_FORM}, or ${secretForms('url')}`);
  }
  const text = secretIn('url', written);
  if (text === null) throw wrong(line, `url of ${name} is missing`, secretForms('url'));
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw wrong(line, `the url of ${name} is not allowed`, 'an http: or https: URL without credentials');
  }
  const path = `${url.pathname}${url.search}`;
  // A receiver may repeat its last part alone.
  return { url, secrets: [text, path, ...path.split(/[/?&=]/)].filter((part) => part.length >= LEAST_SECRET_LENGTH) };
}

/** The text of a secret, out of a variable of the environment or a file; null where there is none. */
function secretIn(name: string, { name: receiver, members, env }: Written): string | null {
  const [direct, file] = [members.get(name), members.get(`${name}_file`)];
  if (direct !== undefined && file !== undefined) throw wrong(file.line, `${receiver} has ${name} and ${name}_file`, 'one of them');
  const member = direct ?? file;
  if (member === undefined) return null;
  const found = member === file ? inFile(file) : inVariable(textOf(direct), env);
  const why = 'why' in found ? found.why : SECRET.test(found.text) ? null : `what it names is not ${SECRET_FORM}`;
  if ('text' in found && why === null) return found.text;
  throw wrong(member.line, `${member.key} of ${receiver} is not allowed: ${why}`, secretForms(name));
}

function inVariable(text: string, env: Texts): ReturnType<typeof readTextFile> {
  const variable = VARIABLE.exec(text)?.[1];
  if (variable === undefined) return { why: 'it is a secret, and stands in no file that others read' };
  const value = env[variable];
  return value ? { text: value } : { why: `the environment has no ${variable}` };
}

function inFile(member: YamlMember): ReturnType<typeof readTextFile> {
  const path = textOf(member);
  return path === '' ? { why: 'it names no file' } : readTextFile(path);
}

function secretForms(member: string): string {
  return `${member}: \${NAME} with the name of a variable of the environment, or ${member}_file: with the path of a file`;
}

function authoritiesIn({ name, members }: Written): string | null {
  const member = members.get('ca_file');
  if (member === undefined) return null;
  const found = inFile(member);
  const refused = (why: string): WrongYaml =>
    wrong(member.line, `ca_file of ${name} is not allowed: ${why}`, 'the path of a PEM file with certificates');
  if ('why' in found) throw refused(found.why);
  try {
    trustIn(found.text);
  } catch {
    throw refused('it holds no certificate');
  }
  return found.text;
}
