import { EdgeError } from '../../edge-error.ts';
import type { LocalResource } from '../local-resource.ts';
import type { Application } from './application.ts';
import { overview } from './overview.ts';
import { programApplication } from './program-application.ts';
import { seededApplication } from './seeded-application.ts';
import { type StatisticsQuery, statistics } from './statistics.ts';

interface AppPath {
  readonly Params: { readonly appId: string };
}

/** The running program as an application, measured, and beside it a made-up one. */
export const applications: LocalResource = {
  name: 'applications',
  migrations: [],
  routes(app, { program, now }) {
    const known: readonly Application[] = [programApplication(program), seededApplication];

    function requireApplication(appId: string): Application {
      const found = known.find(({ id }) => id === appId);
      if (found !== undefined) return found;
      throw new EdgeError(404, 'application.not_found', `There is no application "${appId}"`, { field: 'appId' });
    }

    app.get<AppPath & { Querystring: StatisticsQuery }>('/mc/apps/:appId/statistics', ({ params, query }, reply) =>
      reply.send(statistics(requireApplication(params.appId), query, now())),
    );
    app.get<AppPath>('/mc/apps/:appId/overview', ({ params }, reply) => reply.send(overview(requireApplication(params.appId), now())));
  },
};
