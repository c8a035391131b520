import type { Changed, Preview, Problem } from '../../../../src/features/console/answers.ts';
import type {
  Change,
  ChangeRequest,
} from '../../../../src/features/console/changes/change-request.ts';
import { CLIENTS, DIFFERENCES, simulationOf } from './fixture-reports.ts';
import type { Fixture } from './fixture-server.ts';

type Answer<T> =
  | { readonly status: 200; readonly body: T }
  | { readonly status: number; readonly body: Problem };

const problem = (status: number, code: string, detail: string) => ({
  status,
  body: { status, code, detail },
});

export function answerPreview(fixture: Fixture, request: ChangeRequest): Answer<Preview> {
  const refused = refuse(fixture, request);
  if (refused !== null) return refused;
  const { change } = request;
  const simulation = change.kind === 'rollout' ? simulationOf(change.plan) : null;
  return {
    status: 200,
    body: {
      command: `slipway ${change.kind} …`,
      consequences: [
        'Clients of stable with 2.7.0 or an older version get 2.7.1 instead of 2.8.0.',
        'Clients that have 2.8.0 keep it until a newer release is offered.',
      ],
      differences: DIFFERENCES,
      clients: CLIENTS,
      simulation,
      changes: true,
    },
  };
}

export function answerChange(fixture: Fixture, request: ChangeRequest): Answer<Changed> {
  fixture.bodies.push(request);
  const refused = refuse(fixture, request);
  if (refused !== null) return refused;
  apply(fixture, request.change);
  fixture.revision += 1;
  return {
    status: 200,
    body: {
      changed: true,
      revision: fixture.revision,
      sentences: [`${request.change.kind} is done.`, 'Clients see it within 5 seconds.'],
    },
  };
}

function refuse(fixture: Fixture, { revision }: ChangeRequest) {
  if (fixture.changesUnderneath) {
    fixture.changesUnderneath = false;
    fixture.revision += 1;
    fixture.by = 'grace@laptop';
  }
  if (fixture.refusal !== null) return problem(400, 'status_forbids', fixture.refusal);
  if (revision !== null && revision < fixture.revision) {
    return problem(409, 'state_changed', `The catalog is at revision ${fixture.revision} now.`);
  }
  return null;
}

function apply(fixture: Fixture, change: Change): void {
  const statuses = { pause: 'paused', resume: 'active', yank: 'yanked' } as const;
  const status = statuses[change.kind as keyof typeof statuses];
  if (status === undefined || !('version' in change)) return;
  fixture.releases = fixture.releases.map((release) =>
    release.version !== change.version
      ? release
      : { ...release, cells: release.cells.map((cell) => ({ ...cell, status })) },
  );
}
