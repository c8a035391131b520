/** How the files of the project name the account on GitHub that has the repository. */

/** The files have this word until the project has an account. */
export const NO_OWNER = 'OWNER';

export function isOwner(name: string): boolean {
  return /^[a-z\d](?:[a-z\d]|-(?=[a-z\d])){0,38}$/i.test(name);
}

/** @throws Error when `repository` of package.json names no account */
export function readOwner(packageJson: string): string {
  const { repository } = JSON.parse(packageJson) as { repository?: { url?: string } };
  const owner = /github\.com\/([^/]+)\/slipway\.git$/.exec(repository?.url ?? '')?.[1];
  if (owner === undefined) throw new Error('The repository in package.json names no account.');
  return owner;
}

/** The account in an address on GitHub, in the name of the image, the action or the site, and in commands of `gh`. */
const NAMED =
  /(?<=github\.com\/|ghcr\.io\/|--repo |repos\/|--signer-workflow )[\w-]+(?=\/slipway\b)|(?<![\w./-])[\w-]+(?=\/slipway@)|(?<=\/\/)[\w-]+(?=\.github\.io\/slipway\b)/g;

/** The accounts that a text names, each once. */
export function ownersIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(NAMED)].map(([name]) => name))];
}

/** The text with another account. Names of images and domains have lower case, whatever the account has. */
export function replaceOwner(text: string, before: string, after: string): string {
  return text.replace(NAMED, (name: string, offset: number) => {
    if (name.toLowerCase() !== before.toLowerCase()) return name;
    const isLowerCase =
      text.slice(0, offset).endsWith('ghcr.io/') ||
      text.slice(offset + name.length).startsWith('.github.io');
    return isLowerCase ? after.toLowerCase() : after;
  });
}
