import { COMPANION_ROUTES } from '../../edge/companion-routes.ts';
import type { ErrorShape, ProxiedRoute } from '../../edge/operation.ts';
import { ERROR_SCHEMAS } from '../../edge/schemas/error-schemas.ts';
import { NAMED_SCHEMAS } from '../../edge/schemas/named-schemas.ts';
import { content, OPEN, type PathItem, ref } from './openapi-content.ts';
import { errorAnswer } from './openapi-operation-errors.ts';
import { documentedPath } from './openapi-operation-path.ts';
import { exactly } from './openapi-values.ts';

interface Words {
  readonly tag: string;
  readonly summary: string;
  readonly params: Readonly<Record<string, string>>;
  /** What 200 answers with. */
  readonly answer: object;
  /** The errors that it may end in. */
  readonly errors: readonly number[];
}

const TOKEN = 'haIQyxwmwkfPxC3kUV-L_r_dKvusAYtH3UxirHiypyo';
const FILE = `${TOKEN}.roAMRxUVq1Z9OUQyoxe-glNI3uKaEjMwNXK0Bij0CuU`;

const WORDS: Readonly<Record<string, Words>> = {
  getHttpChallenge: {
    tag: 'Pull zones',
    summary: 'Read the file that shows who holds a hostname, as those do who verify it (RFC 8555, 8.3)',
    params: { token: TOKEN },
    answer: content(['application/octet-stream'], { type: 'string' }, { example: { summary: 'The file', value: FILE } }),
    errors: [400, 404, 500, 503],
  },
  getDatabaseProtocol: {
    tag: 'Database',
    summary: 'See whether version 2 of the protocol is spoken',
    params: {},
    answer: content(['application/json'], ref('DatabaseProtocol'), { example: { summary: 'It is', value: { version: 2 } } }),
    errors: [400, 403, 502, 503, 504],
  },
};

function errorSchema(shape: ErrorShape): object {
  const name = Object.entries(NAMED_SCHEMAS).find(([, schema]) => schema === ERROR_SCHEMAS[shape])?.[0];
  return name === undefined ? ERROR_SCHEMAS[shape] : ref(name);
}

function described(route: ProxiedRoute): object {
  const words = WORDS[route.name];
  if (words === undefined) throw new Error(`${route.name} has no words in the description; there are ${Object.keys(WORDS).join(', ')}`);
  const { tag, summary, params, answer, errors } = words;
  const asked = { ...route, example: { params } };
  return {
    operationId: route.name,
    tags: [tag],
    summary,
    ...OPEN,
    parameters: Object.entries(params).map(([name, example]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
      example,
    })),
    responses: {
      200: { description: 'Done', content: answer },
      ...Object.fromEntries(errors.map((status) => [status, errorAnswer(asked, status, errorSchema(route.errorShape))])),
    },
  };
}

/** What clients ask beside operations 6 and 14. */
export const COMPANION_PATHS: Readonly<Record<string, PathItem>> = Object.fromEntries(
  COMPANION_ROUTES.map((route) => [documentedPath(route.path), { [route.method.toLowerCase()]: described(route) }]),
);

export const COMPANION_SCHEMAS = { DatabaseProtocol: exactly({ version: { const: 2 } }) };
