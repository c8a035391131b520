import { AppError } from '../../core/errors.ts';
import { type Arch, parseArch } from '../../domain/platform.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import { parseLooseVersion } from '../../domain/version.ts';
import { commonQuery, type Protocol, type ProtocolRequest } from '../protocol.ts';
import { APPCAST, APPCAST_SIGNATURE } from './appcast.ts';

/** Parses requests for an appcast. */

interface AppcastRequest {
  readonly document: typeof APPCAST | typeof APPCAST_SIGNATURE;
  readonly request: ProtocolRequest;
}

const SIGNATURE_SUFFIX = '.signature';

/**
 * The document that a request names; undefined for none.
 *
 * NetSparkle appends `.signature` to the whole address, behind its query: `appcast.xml?arch=x64.signature`.
 */
export function parseAppcastPath(request: ProtocolRequest): AppcastRequest | undefined {
  const [name, ...rest] = request.path;
  if (rest.length > 0) return undefined;
  if (name === APPCAST_SIGNATURE) return { document: APPCAST_SIGNATURE, request };
  if (name !== APPCAST) return undefined;
  const parameters = Object.entries(request.query);
  const [last, value = ''] = parameters.at(-1) ?? [];
  if (last === undefined || !value.endsWith(SIGNATURE_SUFFIX))
    return { document: APPCAST, request };
  const stripped = [last, value.slice(0, -SIGNATURE_SUFFIX.length)] as const;
  const query = Object.fromEntries([...parameters.slice(0, -1), stripped]);
  return { document: APPCAST_SIGNATURE, request: { ...request, query } };
}

/** What clients of all three dialects may state in the query. An installed application cannot be corrected. */
export function appcastQuery(
  request: ProtocolRequest,
  dialect: Pick<Protocol, 'osGate' | 'signatureScheme'>,
): Omit<UpdateQuery, 'platform' | 'formats'> {
  const { query } = request;
  return {
    ...commonQuery(request, dialect),
    currentVersion: versionOf(query.current_version),
    arch: archOf(query.arch),
  };
}

/** A number alone is a bundle version, such as 421: read as 421.0.0, the client would never be offered an update. */
function versionOf(text: string | undefined): UpdateQuery['currentVersion'] {
  if (text === undefined || /^\s*\d+\s*$/.test(text)) return null;
  return parseLooseVersion(text) ?? null;
}

/** Universal is a kind of build, not the architecture of a machine. */
function archOf(word: string | undefined): Arch | null {
  if (word === undefined || word === '') return null;
  const arch = parseArch(word);
  return arch === 'universal' ? null : arch;
}

/** The error for the signature of an appcast that its publisher did not sign: the service has no private key. */
export function noAppcastSignature(): AppError {
  return new AppError(
    'unknown_file',
    'This appcast is generated, so it has no signature. Publish the appcast that your tool signed, or let the client verify downloads only (SecurityMode.OnlyVerifySoftwareDownloads).',
  );
}
