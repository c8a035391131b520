import type { RolloutStage } from '../domain/rollout.ts';
import { type ServiceDeps, seeChannel } from './open-channel.ts';

/**
 * Creates a function that is true while a visitor without an account sees the channel in the same revision and stage.
 * It keeps nothing of the catalog in memory.
 *
 * @param stage of the channel's view when the caller answered. No other view has the same object
 */
export function whileUnchanged(
  deps: ServiceDeps,
  application: string,
  channel: string,
  stage: RolloutStage,
): () => boolean {
  return () => {
    try {
      const seen = seeChannel(deps, deps.catalog.application(application), channel, null);
      return seen.channel.rolloutStage(deps.clock.now()) === stage;
    } catch {
      // The application or the channel is gone, or the store has not confirmed the catalog for too long. The route meets
      // the error again, and reports it.
      return false;
    }
  };
}
