import type { FastifyReply, FastifyRequest } from 'fastify';
import { type AskedDownload, answerDownload } from '../../answers/download/answer-download.ts';
import { whenKnown } from '../../core/when-known.ts';
import type { Arch, Platform } from '../../domain/platform.ts';
import { type UpdateQuery, visitorOn } from '../../domain/update-query.ts';
import { tierOfRequest } from '../access/tier-of-request.ts';
import type { RouteDeps } from '../deps.ts';
import { count, sendUncached } from '../http/fast/send-answer.ts';

/** The request of a visitor who has no version installed. */
interface AskedByVisitor
  extends Pick<UpdateQuery, 'application' | 'channel' | 'formats'>,
    Pick<AskedDownload, 'version' | 'wants' | 'headers'> {
  readonly platform: Platform;
  readonly arch: Arch | null;
}

/**
 * Sends a visitor to the file of a release, and counts the link. Not an async function: without a promise, the route
 * answers more requests a second.
 *
 * @throws AppError the codes of `findDownload`
 */
export function sendDownload(
  deps: RouteDeps,
  asked: AskedByVisitor,
  request: FastifyRequest,
  reply: FastifyReply,
): void | Promise<void> {
  const { application, channel, platform, arch, formats, version, wants, headers } = asked;
  const query = {
    application,
    channel,
    currentVersion: null,
    installationId: null,
    isManual: false,
    allowDowngrade: false,
    ...visitorOn(platform, arch),
    formats,
  };
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
  return whenKnown(tierOfRequest(deps, request), (tier) =>
    whenKnown(
      answerDownload(deps, { query, version, method, wants, headers }, tier),
      ({ answer, counted }) => {
        count(deps.usage, counted);
        sendUncached(request, reply, answer);
      },
    ),
  );
}
