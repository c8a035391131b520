/** The machine of the visitor, as far as the browser tells. */

export const NAMES = { windows: 'Windows', macos: 'macOS', linux: 'Linux' } as const;
export type Platform = keyof typeof NAMES;

export interface Machine {
  /** Undefined for phones, tablets and other systems. */
  readonly platform: Platform | undefined;
  readonly arch: string | undefined;
}

/** https://developer.mozilla.org/docs/Web/API/NavigatorUAData */
interface Hints {
  readonly platform: string;
  readonly mobile: boolean;
  getHighEntropyValues(
    names: readonly string[],
  ): Promise<{ readonly architecture?: string; readonly bitness?: string }>;
}

const BY_HINT = new Map<string, Platform>([
  ['Windows', 'windows'],
  ['macOS', 'macos'],
  ['Linux', 'linux'],
]);
const BY_AGENT = new Map<string, Platform>([
  ['Windows', 'windows'],
  ['Macintosh', 'macos'],
  ['Linux', 'linux'],
]);

/** Safari and Firefox report the same for Intel and Apple Macs: no architecture. */
export async function findMachine(): Promise<Machine> {
  const {
    userAgentData: hints,
    userAgent: agent,
    maxTouchPoints,
  } = navigator as Navigator & { readonly userAgentData?: Hints };
  if (hints) {
    const { architecture, bitness } = await hints
      .getHighEntropyValues(['architecture', 'bitness'])
      .catch((): Awaited<ReturnType<Hints['getHighEntropyValues']>> => ({}));
    const platform = hints.mobile ? undefined : BY_HINT.get(hints.platform);
    return { platform, arch: archOf(architecture, bitness === '32') };
  }
  // An iPad says that it is a Mac.
  const isPhone =
    /Android|iPhone|iPad|Mobile/.test(agent) || (/Mac/.test(agent) && maxTouchPoints > 1);
  const [found = ''] = (!isPhone && /Windows|Macintosh|Linux/.exec(agent)) || [];
  return { platform: BY_AGENT.get(found), arch: undefined };
}

function archOf(architecture: string | undefined, is32: boolean): string | undefined {
  if (architecture === 'x86') return is32 ? 'ia32' : 'x64';
  if (architecture === 'arm') return is32 ? 'armv7' : 'arm64';
  return undefined;
}
