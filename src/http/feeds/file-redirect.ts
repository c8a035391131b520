import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseClientVersion, versionText } from '../../domain/version.ts';
import { AppError } from '../../errors.ts';
import { findFile } from '../../operations/find-file.ts';
import type { FileAddress, Protocol, ProtocolRequest } from '../../protocols/protocol.ts';
import { whenKnown } from '../../when-known.ts';
import { tierOfRequest } from '../accounts/tier-of-request.ts';
import type { RouteDeps } from '../deps.ts';
import { countLink } from '../desktop/count-usage.ts';
import { prepareUncached } from '../server/prepared-answer.ts';

const headersFor = prepareUncached({});

/**
 * Redirects the stable address of a file to a presigned URL. Feeds contain stable addresses, because a
 * presigned URL would expire in a cached document.
 *
 * @throws AppError `invalid_version`, and those of {@link findFile}
 */
export function redirectToFile(
  deps: RouteDeps,
  protocol: Protocol,
  { application, channel, path }: ProtocolRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): void | Promise<void> {
  const address = protocol.parseFilePath?.(path) ?? parsePath(path);
  if (address === undefined) {
    throw new AppError('unknown_file', 'This feed has no such document.');
  }
  const version = versionText(parseClientVersion(address.version, '/version'));
  const { filename } = address;
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
  const asked = { application, channel, version, filename, method } as const;
  return whenKnown(tierOfRequest(deps, request), (tier) =>
    findFile(deps, asked, tier).then((found) => {
      // An update is counted by its artifact: the companions that a client downloads with it are not counted.
      if (found.file === found.artifact) {
        const { platform } = found.artifact;
        countLink(deps.usage, method, { application, channel: found.channel, platform, version });
      }
      reply.sendPrepared(302, headersFor(request), '', { location: found.link.url });
    }),
  );
}

function parsePath([version, filename, ...rest]: readonly string[]): FileAddress | undefined {
  if (version === undefined || filename === undefined || rest.length > 0) return undefined;
  return { version, filename };
}
