import { AppError } from '../../core/errors.ts';
import { DEFAULT_CHANNEL } from '../../domain/channel.ts';
import { platformOf } from '../../domain/platform.ts';
import { msix } from '../msix/msix.ts';
import {
  type LegacyRequest,
  type LegacyServer,
  mappedApplication,
  parseLegacyMachine,
} from './legacy-address.ts';
import { askLegacyReleases, legacyJson, unknownMachine } from './legacy-dialects.ts';

/**
 * update.electronjs.org: `/{owner}/{repo}/{platform}[-{arch}][/squirrel|/msix]/{version}[/RELEASES]`.
 *
 * A platform without an architecture means x64. `LEGACY_APPS` names the application of each repository.
 */
export const electronjs: LegacyServer = {
  name: 'electronjs',
  roots: [],
  parse: ({ path, query }, facts): LegacyRequest | undefined => {
    const [owner, repository, word = '', ...rest] = path;
    const application = mappedApplication(facts, `${owner}/${repository}`);
    if (application === undefined) {
      if (parseLegacyMachine(word) === undefined) return undefined;
      const name = `${owner}/${repository}`.slice(0, 80);
      const detail = `No application has the address ${JSON.stringify(name)}. Set LEGACY_APPS=${name}=APP for the service.`;
      throw new AppError('unknown_application', detail);
    }
    const machine = parseLegacyMachine(word);
    if (machine === undefined) throw unknownMachine(word);
    const arch = machine.arch ?? 'x64';
    const asked = { application, channel: DEFAULT_CHANNEL };
    const isMsix = rest[0] === 'msix';
    const [version, document, ...more] = isMsix || rest[0] === 'squirrel' ? rest.slice(1) : rest;
    if (version === undefined || more.length > 0) return undefined;
    if (isMsix) {
      const request = { ...asked, path: [version], query: { ...query, arch } };
      return { kind: 'update', protocol: msix, request };
    }
    if (document !== undefined && platformOf(word.split('-')[0] ?? '') === 'windows') {
      return askLegacyReleases({ ...asked, arch, version, document, query });
    }
    const request = { ...asked, path: [`${machine.platform}-${arch}`, version], query };
    return { kind: 'update', protocol: legacyJson, request };
  },
};
