import ipaddr from 'ipaddr.js';
import { createRateLimit } from '../../rate-limit.ts';

/** How much one address may ask of this process. */
export interface AddressLimit {
  /** @throws AppError `too_many_requests` */
  consume(address: string): Promise<void>;
}

export function createAddressLimit(options: { readonly perMinute: number }): AddressLimit {
  const sentence = 'Too many requests. Wait a little, then try again.';
  const limit = createRateLimit(options.perMinute, sentence);
  return { consume: (address) => limit.consume(networkOf(address)) };
}

/** An IPv4 address; of an IPv6 one its /64, which is what one subscriber has at the least. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
