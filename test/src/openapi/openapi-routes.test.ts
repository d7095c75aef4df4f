import { expect, onTestFinished, test } from 'vitest';
import { DESCRIBED_OPERATIONS } from './document-check.ts';
import { isOfPage, startWithRoutes } from './served-routes.ts';

test('every route that is served is described, and every described one is served', async () => {
  const { site, routes } = await startWithRoutes();
  onTestFinished(() => site.stop());
  // HEAD comes with GET.
  const served = routes.filter(({ method, path }) => method !== 'HEAD' && !isOfPage(path));
  expect(served.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
    DESCRIBED_OPERATIONS.map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
});
