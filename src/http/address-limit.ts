import ipaddr from 'ipaddr.js';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { AppError } from '../errors.ts';

/** How much one address may ask of this process. */
export interface AddressLimit {
  /** @throws AppError `too_many_requests` */
  consume(address: string): Promise<void>;
}

export function createAddressLimit(options: { readonly perMinute: number }): AddressLimit {
  const limiter = new RateLimiterMemory({ points: options.perMinute, duration: 60 });
  return {
    consume: async (address) => {
      try {
        await limiter.consume(networkOf(address));
      } catch (refused) {
        const ms = refused instanceof RateLimiterRes ? refused.msBeforeNext : 60_000;
        throw new AppError(
          'too_many_requests',
          'Too many requests. Wait a little, then try again.',
          {
            retryAfterSeconds: Math.ceil(ms / 1000),
          },
        );
      }
    },
  };
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
