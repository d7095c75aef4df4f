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

/** How the front answers for a server: its own list of running statements, and its own clock. */
export interface ServerView {
  /** The view that stands for system.processes. */
  readonly processes: string;
  /** An expression that makes the query id of a row of the engine's system.processes. */
  readonly queryId: string;
  /** Milliseconds by which the clock is ahead of the engine's. */
  readonly clockOffsetMs: number;
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

/** The statement as the engine has to run it, so that it sees what a server with this view would see. */
export function asSeenBy(view: ServerView, statement: string): string {
  if (!/processes|kill|now/i.test(statement)) return statement;
  const tokens = tokensOf(statement);
  const significant = tokens.filter(({ kind }) => kind !== 'blank');
  const isKill = significant[0]?.text.toUpperCase() === 'KILL';
  const rewritten = tokens.map((token, at): string => {
    if (token.kind !== 'word') return token.text;
    if (isKill) {
      // KILL … SYNC never returns in this engine.
      if (/^sync$/i.test(token.text)) return 'ASYNC';
      return token.text === 'query_id' ? view.queryId : token.text;
    }
    if (token.text === 'processes' && isOfSystem(tokens, at)) return view.processes;
    if (token.text === 'system' && tokens[at + 1]?.text === '.' && tokens[at + 2]?.text === 'processes') return '';
    return token.text;
  });
  for (const [at, text] of rewritten.entries()) {
    if (text === '' && tokens[at]?.text === 'system') rewritten[at + 1] = '';
  }
  return view.clockOffsetMs === 0 ? rewritten.join('') : withMovedClock(tokensOf(rewritten.join('')), view.clockOffsetMs);
}

/** A text as a literal of a statement. */
export function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\0', '\\0')}'`;
}

/** A text in these quotes, which stand in it twice or behind a backslash. */
function inQuotes(quote: string): string {
  return String.raw`${quote}[^${quote}\\]*(?:(?:\\[\s\S]|${quote}${quote})[^${quote}\\]*)*${quote}`;
}

function isOfSystem(tokens: readonly Token[], at: number): boolean {
  return tokens[at - 1]?.text === '.' && tokens[at - 2]?.text === 'system';
}

/** Each call of now64 as a sum with the offset. */
function withMovedClock(tokens: readonly Token[], offsetMs: number): string {
  const parts: string[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const { kind, text } = tokens[at] ?? { kind: 'sign', text: '' };
    const close = kind === 'word' && text === 'now64' && tokens[at + 1]?.text === '(' ? closingOf(tokens, at + 1) : undefined;
    if (close === undefined) {
      parts.push(text);
    } else {
      parts.push(`(${textOf(tokens.slice(at, close + 1))} + toIntervalMillisecond(${offsetMs}))`);
      at = close;
    }
  }
  return parts.join('');
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
