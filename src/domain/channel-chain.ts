import { inheritedNames } from './channel.ts';

/** Rules about channels that inherit from other channels. */

/** The most channels in a chain. For example, alpha, beta and stable are a chain of three. */
export const CHAIN_CHANNELS_MAX = 8;

type InheritsOf = (name: string) => string | null | undefined;

/**
 * The channels from `name` back to `name`, such as stable, beta, stable. Undefined when the channel does not inherit
 * from itself.
 */
export function findCircle(name: string, inheritsOf: InheritsOf): readonly string[] | undefined {
  const chain = [name, ...inheritedNames(name, inheritsOf)];
  return inheritsOf(chain.at(-1) ?? name) === name ? [...chain, name] : undefined;
}

/** The longest chain that contains a channel. The channel that inherits from all others comes first. */
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
