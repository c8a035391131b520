import type { RolloutStage } from '../domain/rollout.ts';
import { type ServiceDeps, seeChannel } from './open-channel.ts';

/**
 * Creates a function that is true while a visitor without an account sees the channel in the same revision and stage.
 * It does not keep the revision in memory.
 *
 * @param stage the stage object of the view that answered. Each view of each revision has objects of its own
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
      // The application or the channel is gone, or the store has not confirmed the catalog for too long. The route
      // meets the error again, and reports it.
      return false;
    }
  };
}
