/** A piece of a statement. The texts of all pieces, one after the other, are the statement. */
interface Token {
  readonly text: string;
  readonly kind: 'word' | 'quoted' | 'blank' | 'sign';
}

/** Blanks and comments, quoted texts and names, words, and all else sign by sign. */
const TOKEN = new RegExp(
  [
    String.raw`(\s+|--[^\n]*|\/\*[\s\S]*?\*\/)`,
    `(${["'", '"', '`'].map((quote) => inQuotes(quote)).join('|')})`,
    '([A-Za-z_][A-Za-z0-9_]*)',
    String.raw`[\s\S]`,
  ].join('|'),
  'gy',
);

/** Formats whose rows stand for themselves, so that the blocks of an answer follow one another without a head or an end. */
const STREAMED_FORMATS = new Set([
  'CSV',
  'JSONCompactEachRow',
  'JSONEachRow',
  'LineAsString',
  'NDJSON',
  'Native',
  'RawBLOB',
  'RowBinary',
  'TSV',
  'TSVRaw',
  'TabSeparated',
  'TabSeparatedRaw',
]);

/** What the front has to know of a statement before it gives it to the engine. */
export interface StatementFacts {
  /** The first word, in capitals; empty where the statement has none. */
  readonly verb: string;
  /** The word behind FORMAT: of the answer, or of the data of an INSERT. */
  readonly format: string | undefined;
  /** Whether it only reads. */
  readonly reads: boolean;
  /** Whether its answer can be sent block by block. */
  readonly streams: boolean;
  /** Whether another statement follows behind a semicolon, which a server refuses. */
  readonly isSeveral: boolean;
}

/** What a server has of its own, though it shares the engine with others. */
export interface ServerView {
  readonly hostName: string;
  /** The view that stands for system.processes. */
  readonly processes: string;
  /** An expression that makes the query id of a row of the engine's system.processes. */
  readonly queryId: string;
  /** Milliseconds by which the clock is ahead of the engine's. */
  readonly clockOffsetMs: number;
  /** The servers of a cluster, undefined for a name that none has. Throws where one of them cannot be asked. */
  cluster(name: string): readonly ServerView[] | undefined;
}

/** What stands for some tokens of a statement. */
interface Replacement {
  readonly text: string;
  /** The last token that it stands for. */
  readonly last: number;
}

export function statementFacts(statement: string): StatementFacts {
  const tokens = tokensOf(statement).filter(({ kind }) => kind !== 'blank');
  const verb = tokens.find(({ kind }) => kind === 'word')?.text.toUpperCase() ?? '';
  const formatAt = topLevel(tokens, verb === 'INSERT' ? 'first' : 'last', ['FORMAT']);
  const format = formatAt === undefined ? undefined : tokens[formatAt + 1]?.text;
  const reads = verb === 'SELECT' || verb === 'WITH';
  const end = tokens.findIndex(({ text }) => text === ';');
  return {
    verb,
    format,
    reads,
    streams: reads && (format === undefined || STREAMED_FORMATS.has(format)),
    // The data of an INSERT may have semicolons.
    isSeveral: verb !== 'INSERT' && end >= 0 && tokens.slice(end).some(({ text }) => text !== ';'),
  };
}

/**
 * The INSERT as one that reads its data from a file: `input('…')` becomes `file(…)`, and an INSERT without a SELECT gets FROM INFILE. With
 * `where`, only the rows of `input` that meet this condition are read.
 */
export function insertFromFile(statement: string, path: string, format: string, where?: string): string {
  const tokens = tokensOf(statement);
  const input = tokens.findIndex(({ kind, text }, at) => kind === 'word' && /^input$/i.test(text) && nextSign(tokens, at) === '(');
  if (input < 0) {
    const end = topLevel(tokens, 'first', ['SETTINGS', 'FORMAT', 'VALUES']);
    return `${textOf(tokens.slice(0, end))} FROM INFILE ${quoted(path)} ${textOf(tokens.slice(end))}`;
  }
  const open = tokens.findIndex(({ text }, at) => at > input && text === '(');
  const close = closingOf(tokens, open) ?? open;
  const source = `file(${quoted(path)}, ${quoted(format)}, ${textOf(tokens.slice(open + 1, close))})`;
  return [
    textOf(tokens.slice(0, input)),
    where === undefined ? source : `(SELECT * FROM ${source} WHERE ${where})`,
    // Without the FORMAT clause at its end, which now stands in the function.
    textOf(tokens.slice(close + 1, topLevel(tokens, 'last', ['FORMAT']))),
  ].join('');
}

/**
 * The statement as the engine has to run it, so that it sees what a server with this view would see: running statements, the time that
 * now64 gives, the name of the host, and the same of each server by `clusterAllReplicas('…', view(…))`, or of the shards, which share the
 * engine's tables, by `cluster('…', view(…))`.
 */
export function asSeenBy(view: ServerView, statement: string): string {
  if (!/processes|kill|now64|hostName|cluster/i.test(statement)) return statement;
  const tokens = tokensOf(statement);
  if (tokens.find(({ kind }) => kind !== 'blank')?.text.toUpperCase() === 'KILL') return killAsSeenBy(view, tokens);
  const parts: string[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const replacement = replacementAt(view, tokens, at);
    parts.push(replacement?.text ?? tokens[at]?.text ?? '');
    at = replacement?.last ?? at;
  }
  return parts.join('');
}

/** A text as a literal of a statement. */
export function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\0', '\\0')}'`;
}

/** A text in these quotes, which stand in it twice or behind a backslash. */
function inQuotes(quote: string): string {
  return String.raw`${quote}[^${quote}\\]*(?:(?:\\[\s\S]|${quote}${quote})[^${quote}\\]*)*${quote}`;
}

/** KILL reads the engine's own list. With SYNC it never returns in this engine. */
function killAsSeenBy(view: ServerView, tokens: readonly Token[]): string {
  return tokens
    .map(({ kind, text }) => (kind !== 'word' ? text : /^sync$/i.test(text) ? 'ASYNC' : text === 'query_id' ? view.queryId : text))
    .join('');
}

function replacementAt(view: ServerView, tokens: readonly Token[], at: number): Replacement | undefined {
  const { kind, text } = tokens[at] ?? { kind: 'sign', text: '' };
  if (kind !== 'word') return undefined;
  if (text === 'system' && textOf(tokens.slice(at, at + 3)) === 'system.processes') return { text: view.processes, last: at + 2 };
  const last = tokens[at + 1]?.text === '(' ? closingOf(tokens, at + 1) : undefined;
  if (last === undefined) return undefined;
  if (text === 'hostName') return { text: quoted(view.hostName), last };
  if (text === 'now64' && view.clockOffsetMs !== 0) {
    return { text: `(${textOf(tokens.slice(at, last + 1))} + toIntervalMillisecond(${view.clockOffsetMs}))`, last };
  }
  const ofAll = text === 'clusterAllReplicas';
  const nodes = ofAll || text === 'cluster' ? ofServers(view, textOf(tokens.slice(at + 2, last)), ofAll) : undefined;
  return nodes === undefined ? undefined : { text: nodes, last };
}

/** The rows that all servers of a cluster answer, or the first one alone; undefined for what the front does not know. */
function ofServers(view: ServerView, args: string, ofAll: boolean): string | undefined {
  const [, name, source = ''] = /^\s*'([^']*)'\s*,\s*([\s\S]*?)\s*$/.exec(args) ?? [];
  const servers = name === undefined ? undefined : view.cluster(name);
  const inner = source === 'system.processes' ? `SELECT * FROM ${source}` : /^view\s*\(([\s\S]*)\)$/i.exec(source)?.[1];
  if (servers === undefined || inner === undefined) return undefined;
  const asked = ofAll ? servers : servers.slice(0, 1);
  return `(${asked.map((server) => `SELECT * FROM (${asSeenBy(server, inner)})`).join(' UNION ALL ')})`;
}

/**
 * A statement with ON CLUSTER as the engine runs it, in which nobody takes statements for nodes, and no replica takes inserts: a table that
 * is replicated is one that is not. Undefined for one that has replicas wait for each other. Other statements are as they were.
 */
export function withoutNodes(statement: string): string | undefined {
  if (!/^(CREATE|ALTER|SYSTEM) [^(]*\bON CLUSTER '/.test(statement)) return statement;
  const alone = statement.replace(/ ON CLUSTER '[^']*'/, '').replace(/\bReplicated(\w*MergeTree\()'[^']*', '[^']*'(?:, )?/, '$1');
  return /^SYSTEM SYNC REPLICA\b/.test(alone) ? undefined : alone;
}

function closingOf(tokens: readonly Token[], open: number): number | undefined {
  let depth = 0;
  for (let at = open; at < tokens.length; at++) {
    if (tokens[at]?.text === '(') depth++;
    if (tokens[at]?.text === ')' && --depth === 0) return at;
  }
  return undefined;
}

/** Where one of the words stands outside of brackets, if anywhere. */
function topLevel(tokens: readonly Token[], which: 'first' | 'last', words: readonly string[]): number | undefined {
  let depth = 0;
  let found: number | undefined;
  for (const [at, { kind, text }] of tokens.entries()) {
    if (kind === 'sign') depth += '([{'.includes(text) ? 1 : ')]}'.includes(text) ? -1 : 0;
    else if (kind === 'word' && depth === 0 && words.includes(text.toUpperCase())) {
      if (which === 'first') return at;
      found = at;
    }
  }
  return found;
}

function nextSign(tokens: readonly Token[], at: number): string | undefined {
  return tokens.slice(at + 1).find(({ kind }) => kind !== 'blank')?.text;
}

function textOf(tokens: readonly Token[]): string {
  return tokens.map(({ text }) => text).join('');
}

function tokensOf(statement: string): readonly Token[] {
  return [...statement.matchAll(TOKEN)].map(([text, blank, literal, word]) => ({
    text,
    kind: blank !== undefined ? 'blank' : literal !== undefined ? 'quoted' : word !== undefined ? 'word' : 'sign',
  }));
}
