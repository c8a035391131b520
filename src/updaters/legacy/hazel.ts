import {
  type LegacyRequest,
  type LegacyServer,
  parseLegacyMachine,
  parsePrefix,
} from './legacy-address.ts';
import { askLegacyReleases, legacyJson, unknownMachine } from './legacy-dialects.ts';

/**
 * Hazel: `/download[/{platform}]`, `/update/{platform}/{version}`, `/update/win32/{version}/RELEASES`.
 *
 * Hazel gives a Mac the disk image, and with `?update=true` the zip.
 */
export const hazel: LegacyServer = {
  name: 'hazel',
  roots: ['download', 'update'],
  parse: ({ path: [root, ...path], query }, facts): LegacyRequest | undefined => {
    const { application, channel, rest } = parsePrefix(path, facts);
    const [word, version, document, ...more] = rest;
    const machine = word === undefined ? null : parseLegacyMachine(word);
    if (root === 'download') {
      if (version !== undefined) return undefined;
      if (machine === undefined) throw unknownMachine(word ?? '');
      const isUpdate = machine?.platform === 'macos' && query.update !== undefined;
      const asked = isUpdate ? { ...machine, formats: ['zip' as const] } : machine;
      return { kind: 'download', application, channel, machine: asked, version: null };
    }
    if (version === undefined || more.length > 0 || version.endsWith('.yml')) return undefined;
    if (machine == null) throw unknownMachine(word ?? '');
    if (document !== undefined) {
      const { arch } = machine;
      return askLegacyReleases({ application, channel, arch, version, document, query });
    }
    const request = { application, channel, path: [word ?? '', version], query };
    return { kind: 'update', protocol: legacyJson, request };
  },
};
