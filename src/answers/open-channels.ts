import type { ReadyApplication } from '../catalog/live/catalog.ts';
import { openChannel, type SeenChannel, type ServiceDeps, seeChannel } from './open-channel.ts';

/**
 * The channel that the client asks for, and then the other channels of the application that the tier may open: a client
 * that moves to another channel still has a release of its old channel.
 *
 * @throws AppError `unknown_channel`, `not_entitled` for the asked channel
 */
export function openChannels(
  deps: ServiceDeps,
  application: ReadyApplication,
  name: string,
  tier: string | null,
): readonly SeenChannel[] {
  const asked = openChannel(deps, application, name, tier);
  const others = [...application.snapshot().channels.keys()]
    .filter((other) => other !== asked.channel.name)
    .map((other) => seeChannel(deps, application, other, tier))
    .filter(({ channel }) => channel.isOpen);
  return [asked, ...others];
}
