import { inheritedNames } from './channel.ts';

/** Rules about channels that inherit one from the other. */

/** A chain of this many channels: alpha, beta and stable are three. */
export const CHAIN_CHANNELS_MAX = 8;

type InheritsOf = (name: string) => string | null | undefined;

/** The channels from `name` back to itself: stable, beta, stable. Undefined when it does not inherit from itself. */
export function findCircle(name: string, inheritsOf: InheritsOf): readonly string[] | undefined {
  const chain = [name, ...inheritedNames(name, inheritsOf)];
  return inheritsOf(chain.at(-1) ?? name) === name ? [...chain, name] : undefined;
}

/** The longest chain that leads through a channel; the channel that inherits from all others first. */
export function longestChain(
  name: string,
  names: Iterable<string>,
  inheritsOf: InheritsOf,
): readonly string[] {
  let longest: readonly string[] = [];
  for (const each of names) {
    const chain = [each, ...inheritedNames(each, inheritsOf)];
    if (chain.includes(name) && chain.length > longest.length) longest = chain;
  }
  return longest;
}
