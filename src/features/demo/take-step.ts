import { createHash } from 'node:crypto';
import { changeSettings } from '../../releases/applications/change-settings.ts';
import { changeChannel } from '../../releases/channels/change-channel.ts';
import type { ChangedChannels } from '../../releases/forecast/view-channels.ts';
import { correctNotes } from '../../releases/publish/correct-notes.ts';
import { promoteRelease } from '../../releases/publish/promote-release.ts';
import { publishRelease } from '../../releases/publish/publish-release.ts';
import type { PublishDeps, PublishResult } from '../../releases/publish/publish-request.ts';
import { changeRollout } from '../../releases/rollouts/change-rollout.ts';
import { changeStatus } from '../../releases/withdraw/change-status.ts';
import { planRollback, rollBack } from '../../releases/withdraw/roll-back.ts';
import type { DemoApplication, DemoStep, PublishStep } from './demo-application.ts';
import { publicKeyOf, writeBuild } from './write-build.ts';

/** The state of one application after the steps so far. */
export interface DemoProgress {
  readonly application: DemoApplication;
  /** The state of the application's channels. */
  channels: ChangedChannels;
  /** The number of the application's newest catalog revision. */
  revision: number;
  isSigned: boolean;
  artifacts: number;
}

interface StepDeps extends Omit<PublishDeps, 'onProgress' | 'actor'> {
  /** The directory for the files of builds before their publication. */
  readonly directory: string;
}

/** Makes the change of one step, with the operation of the command for it. */
export async function takeStep(
  stepDeps: StepDeps,
  progress: DemoProgress,
  step: DemoStep,
): Promise<void> {
  const deps = { ...stepDeps, actor: step.by, onProgress: () => {} };
  const { after, revision } = await change(deps, progress, step);
  progress.channels = after;
  progress.revision = revision;
}

async function change(
  deps: StepDeps & PublishDeps,
  progress: DemoProgress,
  step: DemoStep,
): Promise<Pick<PublishResult, 'after' | 'revision'>> {
  const { name: application } = progress.application;
  switch (step.do) {
    case 'publish':
      return publish(deps, progress, step);
    case 'create channel':
    case 'set channel': {
      const { channel, settings, reason = null } = step;
      const action =
        step.do === 'set channel'
          ? ({ kind: 'set', settings } as const)
          : ({ kind: 'create', settings, create: false } as const);
      return changeChannel(deps, { application, channel, action, reason });
    }
    case 'promote': {
      const { version, to, rollout } = step;
      const rules = { create: false, allowPrerelease: false };
      return promoteRelease(deps, { application, version, to, rollout, ...rules });
    }
    case 'rollout':
      return changeRollout(deps, { ...step, application, reason: step.reason ?? null });
    case 'rollback': {
      const request = { ...step, application };
      return rollBack(deps, request, (await planRollback(deps, request)).withdrawn);
    }
    case 'notes':
      return correctNotes(deps, { ...step, application, remove: [] });
    case 'set key': {
      const key = publicKeyOf(progress.application);
      const isTauri = progress.application.signatures === 'tauri';
      progress.isSigned = true;
      const stated = isTauri ? { tauriPubkey: key } : { sparklePubkey: key };
      return changeSettings(deps, { application, stated, reason: step.reason });
    }
    default: {
      const { do: verb, version, channel, reason } = step;
      return changeStatus(deps, verb, { application, version, channel, reason });
    }
  }
}

async function publish(
  deps: StepDeps & PublishDeps,
  progress: DemoProgress,
  step: PublishStep,
): Promise<Pick<PublishResult, 'after' | 'revision'>> {
  const { application, isSigned } = progress;
  const artifacts = await writeBuild(deps.directory, application, step, isSigned);
  progress.artifacts += artifacts.length;
  return publishRelease(deps, {
    ...step,
    application: application.name,
    artifacts,
    displayName: { text: application.title, source: 'the demo' },
    // The first publish creates the application.
    create: Object.keys(progress.channels).length === 0,
    allowPrerelease: false,
    provenance: provenanceOf(application, step),
    mode: 'offer',
  });
}

function provenanceOf({ name, title }: DemoApplication, { version }: PublishStep) {
  const commit = createHash('sha1').update(`${name} ${version}`).digest('hex');
  const build = 1_000 + (Number.parseInt(commit.slice(0, 4), 16) % 8_000);
  return { commit, buildUrl: `https://ci.example.com/${title.toLowerCase()}/builds/${build}` };
}
