import type { UpdateQuery } from '../../src/domain/update-query.ts';
import { parseVersion } from '../../src/domain/version.ts';

/** The question of a client on Windows. `from` is its version, as text. */
export function query(fields: Partial<UpdateQuery> & { readonly from?: string } = {}): UpdateQuery {
  const { from = '1.0.0', ...rest } = fields;
  return {
    application: 'desktop',
    channel: 'stable',
    currentVersion: parseVersion(from),
    platform: 'windows',
    arch: 'x64',
    formats: null,
    osVersion: null,
    osGate: 'server',
    installationId: null,
    isManual: false,
    allowDowngrade: false,
    purpose: 'update',
    signatureScheme: null,
    ...rest,
  };
}
