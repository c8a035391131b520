import type { IncomingHttpHeaders } from 'node:http';
import { recognizeMachine, type VisitorMachine } from '../domain/visitor-machine.ts';

/** Reads the machine of a visitor from the headers of a request. */

/** The hints that browsers send only when a server asks for them. */
export const ASKED_HINTS = 'Sec-CH-UA-Arch, Sec-CH-UA-Bitness';
/** Every header that {@link visitorMachine} reads, as a Vary header lists them. */
export const MACHINE_HEADERS = `Sec-CH-UA-Platform, Sec-CH-UA-Mobile, ${ASKED_HINTS}, User-Agent`;

export function visitorMachine(headers: IncomingHttpHeaders): VisitorMachine {
  return recognizeMachine({
    hints: {
      platform: textOf(headers['sec-ch-ua-platform']),
      isMobile: headers['sec-ch-ua-mobile'] === '?1',
      architecture: textOf(headers['sec-ch-ua-arch']),
      bitness: textOf(headers['sec-ch-ua-bitness']),
    },
    agent: headers['user-agent'],
  });
}

/** The text of a hint, which is a quoted string of a structured field. */
function textOf(hint: IncomingHttpHeaders[string]): string | undefined {
  if (typeof hint !== 'string') return undefined;
  const isQuoted = hint.length > 1 && hint.startsWith('"') && hint.endsWith('"');
  return isQuoted ? hint.slice(1, -1) : hint;
}
