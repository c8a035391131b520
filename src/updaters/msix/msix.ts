import type { Format } from '../../domain/platform.ts';
import { parseArch } from '../../domain/platform.ts';
import { parseLooseVersion } from '../../domain/version.ts';
import {
  commonQuery,
  NO_CONTENT,
  type PollProtocol,
  type ProtocolRequest,
  type Question,
} from '../protocol.ts';
import { describeSquirrelUpdate, squirrelJson } from '../squirrel-json.ts';
import { MSIX_ADDRESSES } from './msix-addresses.ts';
import { describeMsixSetUp } from './msix-set-up.ts';

/**
 * Electron's MSIX updater, which `autoUpdater` uses inside an MSIX package.
 *
 * The client sends HEAD to `{version}` to learn whether the address is a package. Then the client sends GET, and the
 * answer is 204 for no update, else the JSON of Squirrel.Mac. Before the download, the client sends HEAD to the package
 * and follows the redirect. The last address must end with `.msix` or `.msixbundle`. The client installs any package
 * that it gets.
 *
 * A package of several architectures (`.msixbundle`) is published as `universal`. A client that states no architecture
 * gets the universal package, else the x64 package, else the 32-bit package.
 */
export const msix: PollProtocol = {
  shape: 'poll',
  name: 'msix',
  title: 'MSIX (Electron autoUpdater on Windows)',
  takesPost: false,
  addresses: MSIX_ADDRESSES,
  varyHeaders: [],
  formatsFor: (platform) => (platform === 'windows' ? FORMATS : []),
  signatureScheme: null,
  osGate: 'server',
  mayOmit: () => ['arch'],
  parseRequest,
  listStatic: ({ versions }) => versions.map((version) => ({ path: [version] })),
  describeSetUp: describeMsixSetUp,
  renderOffer: (offer) => squirrelJson(describeSquirrelUpdate(offer)),
  renderNoUpdate: () => NO_CONTENT,
};

const FORMATS: readonly Format[] = ['msix'];

function parseRequest(request: ProtocolRequest): Question | undefined {
  const [version = '', ...rest] = request.path;
  const currentVersion = parseLooseVersion(version);
  if (currentVersion === undefined || rest.length > 0) return undefined;
  const { arch } = request.query;
  return {
    document: '',
    query: {
      ...commonQuery(request, msix),
      currentVersion,
      platform: 'windows',
      arch: arch === undefined || arch === '' ? null : parseArch(arch),
      formats: FORMATS,
    },
  };
}
