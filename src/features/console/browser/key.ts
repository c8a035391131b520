/**
 * The key of a console on this machine. A cookie goes to every port of the machine, and so to servers of others; what
 * is stored here stays with this port.
 */

const STORED = 'slipway-console-key';
export const KEY_HEADER = 'x-slipway-console';

/** Takes the key out of the address, where the opening page put it, and returns the stored one; null without one. */
export function takeKey(): string | null {
  const [, key] = /^#key=([0-9a-f]{64})$/.exec(location.hash) ?? [];
  if (key !== undefined) {
    localStorage.setItem(STORED, key);
    history.replaceState(null, '', location.pathname + location.search);
  }
  return localStorage.getItem(STORED);
}
