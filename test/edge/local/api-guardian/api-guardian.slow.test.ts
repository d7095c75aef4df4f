import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { apiGuardian } from '../../../../edge/local/api-guardian/api-guardian.ts';
import { type ResourcePlane, startPlane } from '../dns/resource-plane.ts';
import { petSpecification, type Specification } from './specification.ts';

let plane: ResourcePlane;

beforeEach(async () => {
  plane = await startPlane([apiGuardian]);
});

afterEach(() => plane.stop());

const patch = (body: unknown, shieldZoneId: string | number = 7) => plane.call(3, { shieldZoneId }, body);
const upload = (specification: Specification, enforceAuthorizationValidation?: boolean, zone = 7) =>
  patch({ content: JSON.stringify(specification), enforceAuthorizationValidation }, zone);

const NO_NAMES = { Path: [], Query: [], Header: [], Cookie: [] };

/** Returns the endpoints by method and path, in the order of the answer. */
// biome-ignore lint/suspicious/noExplicitAny: the operation's schema has been held against it
const endpointsOf = (body: any): ReadonlyMap<string, any> =>
  new Map(body.data.endpoints.map((endpoint: Specification) => [`${endpoint['requestMethod']} ${endpoint['requestPath']}`, endpoint]));

/** One field of every endpoint, in the order of the answer. */
const fieldOf = (body: unknown, name: string): unknown[] => [...endpointsOf(body).values()].map((endpoint) => endpoint[name]);

describe('an uploaded specification', () => {
  test('is answered with the limits and its endpoints', async () => {
    const { status, body } = await upload(petSpecification());
    expect(status).toBe(200);
    expect(body.error).toEqual({ success: true, message: null, errorKey: null });
    const time = '2026-01-31T12:00:00.000Z';
    expect(body.data.configuration).toEqual({
      shieldZoneId: 7,
      isEnabled: true,
      title: 'Pets',
      version: '1.2',
      maxEndpoints: 50,
      maxFieldsPerType: 128,
      maxNestingDepth: 16,
      maxTotalSchemaNodes: 8_192,
      maxTotalRegexLength: 16_384,
      createdAt: time,
      updatedAt: time,
    });
    expect(body.data.endpoints).toHaveLength(3);
    expect(body.data.endpoints[2]).toEqual({
      apiGuardianEndpointId: 3,
      shieldZoneId: 7,
      requestMethod: 'GET',
      requestPath: '/health',
      validateRequestBodySchema: true,
      validateResponseBodySchema: false,
      validateAuthorization: false,
      isEnabled: true,
      authSchemes: [],
      requestBodySchemaYaml: '',
      responseBodySchemasYaml: {},
      availableParameters: NO_NAMES,
      injectionDetectionParameters: NO_NAMES,
      detectParameterXss: false,
      detectParameterSqli: false,
      rateLimitingEnabled: false,
      rateLimitingRequestCount: 0,
      createdAt: time,
      updatedAt: time,
    });
  });

  test('is answered with a note of what is not used', async () => {
    const specification = petSpecification();
    specification['components'].schemas.Pet.properties.name.pattern = '(?i)rex';
    const { status, body } = await upload(specification);
    const place = 'content#/components/schemas/Pet/properties/name/pattern';
    const message = `Taken, but not used: ${place}: "(?i)rex" is no regular expression of ECMA-262 (with the flag u)`;
    expect([status, body.error]).toEqual([200, { success: true, message, errorKey: null }]);
    expect(JSON.stringify(body.data)).not.toContain('rex');
  });

  test('replaces the one before: endpoints that stay keep their id, those that go are gone', async () => {
    await upload(petSpecification());
    plane.nowMs += 60_000;
    const changed = petSpecification();
    changed['info'].version = '2';
    delete changed['paths']['/pets/{id}'].get;
    changed['paths']['/health'].get.parameters = [{ name: 'verbose', in: 'query', schema: { type: 'boolean' } }];
    changed['paths']['/new'] = { post: { responses: { 204: { description: '' } } } };
    const { body } = await upload(changed);
    expect(body.data.configuration).toMatchObject({
      version: '2',
      createdAt: '2026-01-31T12:00:00.000Z',
      updatedAt: '2026-01-31T12:01:00.000Z',
    });
    expect([...endpointsOf(body).keys()]).toEqual(['PUT /pets/{id}', 'GET /health', 'POST /new']);
    expect(fieldOf(body, 'apiGuardianEndpointId')).toEqual([2, 3, expect.any(Number)]);
    const minutes = (name: string) => fieldOf(body, name).map((time) => String(time).slice(14, 16));
    // One is as it was, one has a new parameter, one is new.
    expect([minutes('createdAt'), minutes('updatedAt')]).toEqual([
      ['00', '00', '01'],
      ['00', '01', '01'],
    ]);
    const [, , added] = fieldOf(body, 'apiGuardianEndpointId');
    const [back, ...stayed] = fieldOf((await upload(petSpecification())).body, 'apiGuardianEndpointId');
    expect(stayed).toEqual([2, 3]);
    expect([1, 2, 3, added]).not.toContain(back);
  });

  test('belongs to one zone', async () => {
    const first = await upload(petSpecification(), true, 7);
    const other = await upload(petSpecification(), undefined, -2_147_483_648);
    expect(fieldOf(first.body, 'shieldZoneId')).toEqual([7, 7, 7]);
    expect(fieldOf(other.body, 'shieldZoneId')).toEqual(Array(3).fill(-2_147_483_648));
    expect(fieldOf(other.body, 'validateAuthorization')).toEqual([false, false, false]);
    expect(new Set([first, other].flatMap(({ body }) => fieldOf(body, 'apiGuardianEndpointId'))).size).toBe(6);
  });

  test('is there after the program was started again', async () => {
    await upload(petSpecification(), true);
    const again = await startPlane([apiGuardian], plane.dataDir);
    try {
      const { body } = await again.call(3, { shieldZoneId: 7 }, { content: JSON.stringify(petSpecification()) });
      expect(fieldOf(body, 'apiGuardianEndpointId')).toEqual([1, 2, 3]);
      expect(fieldOf(body, 'validateAuthorization')).toEqual([true, true, true]);
    } finally {
      await again.stop();
    }
  });
});

describe('the authorization of endpoints', () => {
  test('is enforced, left or kept as it was, endpoint by endpoint', async () => {
    const smaller = petSpecification();
    delete smaller['paths']['/health'];
    const enforced = async (specification: Specification, enforce?: boolean) =>
      fieldOf((await upload(specification, enforce)).body, 'validateAuthorization');
    expect(await enforced(smaller, true)).toEqual([true, true]);
    // The two keep theirs; the new one has none.
    expect(await enforced(petSpecification())).toEqual([true, true, false]);
    expect(await enforced(petSpecification(), false)).toEqual([false, false, false]);
    expect(await enforced(petSpecification())).toEqual([false, false, false]);
    expect(await enforced(petSpecification(), true)).toEqual([true, true, true]);
  });
});

describe('a specification that is refused', () => {
  test('is answered with the path, and changes nothing', async () => {
    await upload(petSpecification(), true);
    const broken = petSpecification();
    broken['components'].schemas.Pet.properties.owner.$ref = 'https://elsewhere.example/o.yaml';
    const { status, body } = await upload(broken, false);
    const path = 'content#/components/schemas/Pet/properties/owner/$ref';
    expect([status, body.errorKey, body.errors[0].field]).toEqual([400, 'apiGuardian.specification_invalid', path]);
    expect(body.detail).toContain(path);
    expect(plane.db.prepare('SELECT sum(validate_authorization) AS n FROM guardian_endpoint').get()?.['n']).toBe(3);
  });

  test.each<[string, unknown, string, string | number]>([
    ['no content', {}, 'content', 7],
    ['content that is an object', { content: petSpecification() }, 'content', 7],
    ['half of a surrogate pair', { content: '\uD800' }, 'content', 7],
    ['a setting that is text', { content: '{}', enforceAuthorizationValidation: 'true' }, 'enforceAuthorizationValidation', 7],
    ['a setting that is null', { content: '{}', enforceAuthorizationValidation: null }, 'enforceAuthorizationValidation', 7],
    ['a zone that is no number', { content: '{}' }, 'shieldZoneId', 'x'],
    ['a zone past 32 bits', { content: '{}' }, 'shieldZoneId', 2_147_483_648],
  ])('with %s is answered with 400', async (_, body, field, zone) => {
    const answer = await patch(body, zone);
    expect([answer.status, answer.body.errorKey, answer.body.errors[0].field]).toEqual([400, 'request.invalid', field]);
  });

  test('is one of more than two million bytes', async () => {
    const text = JSON.stringify(petSpecification());
    const taken = await patch({ content: text.padEnd(2_000_000) });
    expect(taken.status).toBe(200);
    const refused = await patch({ content: text.padEnd(1_999_999).concat('ä') });
    expect([refused.status, refused.body.errorKey]).toEqual([413, 'apiGuardian.specification_too_large']);
  });

  test('is one that comes while too many are being read', async () => {
    const answers = await Promise.all(Array.from({ length: 7 }, () => upload(petSpecification())));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 200, 503, 503]);
  });
});
