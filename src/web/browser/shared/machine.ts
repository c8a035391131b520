import { recognizeMachine, type VisitorMachine } from '../../../domain/visitor-machine.ts';

/** https://developer.mozilla.org/docs/Web/API/NavigatorUAData */
interface UserAgentData {
  readonly platform: string;
  readonly mobile: boolean;
  getHighEntropyValues(
    names: readonly string[],
  ): Promise<{ readonly architecture?: string; readonly bitness?: string }>;
}

/** The part of `navigator` that tells about the machine. */
export interface Browser {
  /** Only in Chromium, and there only in secure contexts. */
  readonly userAgentData?: UserAgentData | undefined;
  readonly userAgent: string;
  readonly maxTouchPoints: number;
}

/** Asks the browser which machine its visitor has. */
export async function findMachine(browser: Browser): Promise<VisitorMachine> {
  const { userAgentData: data, userAgent: agent, maxTouchPoints: touchPoints } = browser;
  const detail = await data
    ?.getHighEntropyValues(['architecture', 'bitness'])
    .catch(() => undefined);
  return recognizeMachine({
    hints: {
      platform: data?.platform,
      isMobile: data?.mobile,
      architecture: detail?.architecture,
      bitness: detail?.bitness,
    },
    agent,
    touchPoints,
  });
}
