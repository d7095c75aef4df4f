import { readSpec } from '../../../../edge/local/api-guardian/read-spec.ts';

/** An OpenAPI 3.0 specification that is valid, as an object to be changed. */
export interface Specification {
  // biome-ignore lint/suspicious/noExplicitAny: tests put any value anywhere
  [key: string]: any;
}

export function petSpecification(): Specification {
  return {
    openapi: '3.0.3',
    info: { title: 'Pets', version: '1.2' },
    security: [{ key: [] }],
    paths: {
      '/pets/{id}': {
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', pattern: '^\\d+$' } }],
        get: {
          parameters: [
            { name: 'q', in: 'query', schema: { type: 'string' } },
            { $ref: '#/components/parameters/trace' },
            { name: 'Authorization', in: 'header', schema: { type: 'string' } },
            { name: 'session', in: 'cookie', content: { 'application/json': { schema: { type: 'string' } } } },
          ],
          responses: {
            200: { description: 'the pet', content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } },
            404: { description: 'none' },
            default: { $ref: '#/components/responses/Failure' },
          },
        },
        put: {
          security: [{ oauth: [] }, { basic: [], key: [] }],
          requestBody: {
            content: {
              'text/plain': { schema: { type: 'string' } },
              'application/vnd.pet+json': { schema: { $ref: '#/components/schemas/Pet' } },
            },
          },
          responses: { 204: { description: 'done' } },
        },
      },
      '/health': { get: { security: [], responses: { 204: { description: 'well' } } } },
    },
    components: {
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'X-Key' },
        basic: { type: 'http', scheme: 'Basic' },
        oauth: { type: 'oauth2', flows: { implicit: { authorizationUrl: 'https://a.example/x', scopes: {} } } },
      },
      parameters: { trace: { name: 'X-Trace', in: 'header', schema: { type: 'string' } } },
      responses: {
        Failure: {
          description: 'it went wrong',
          content: { 'application/json': { schema: { type: 'object', properties: { code: { type: 'integer' } } } } },
        },
      },
      schemas: {
        Pet: {
          type: 'object',
          description: 'A pet',
          required: ['name'],
          properties: {
            name: { type: 'string', example: { $ref: 'only an example' } },
            parent: { $ref: '#/components/schemas/Pet' },
            owner: { $ref: '#/components/schemas/Owner' },
          },
        },
        Owner: { type: 'object', properties: { pets: { type: 'array', items: { $ref: '#/components/schemas/Pet' } } } },
      },
    },
  };
}

/** A specification with one endpoint that answers with this schema. */
export function answering(schema: unknown, schemas: Readonly<Record<string, unknown>> = {}): Specification {
  return {
    openapi: '3.0.0',
    info: { title: 'T', version: '1' },
    paths: { '/a': { get: { responses: { 200: { description: '', content: { 'application/json': { schema } } } } } } },
    components: { schemas },
  };
}

/** Reads the text of such a specification. Returns the schema of its answer as the interface shows it. */
export async function answeredSchema(text: string): Promise<string | undefined> {
  const { endpoints } = await readSpec(text);
  return endpoints[0]?.responseBodySchemasYaml['200'];
}
