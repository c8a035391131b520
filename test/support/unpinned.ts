import { ACTION } from '../../src/features/init/github-workflow.ts';

/**
 * The actions and images in a text of YAML, Markdown or a Dockerfile that are not fixed by a commit or a digest: their
 * maker, or a thief of the maker's key, could exchange them.
 */
export function unpinnedIn(text: string): readonly string[] {
  const actions = [...text.matchAll(/\buses:\s*['"]?([^\s'"#]+)(.*)/g)].filter(
    ([, action = '', rest = '']) =>
      action !== ACTION &&
      // A workflow of this repository.
      !action.startsWith('./.github/') &&
      !(/@[0-9a-f]{40}$/.test(action) && /^['"]?\s+# \S/.test(rest)),
  );
  const images = [
    ...text.matchAll(/(?:^[ \t]*(?:- )?image:|^FROM)[ \t]+['"]?([^\s'"#]+)/gm),
  ].filter(
    // The image that is built from this repository has no maker elsewhere.
    ([, image = '']) =>
      image !== 'slipway' &&
      // An output of a step, and not an image.
      image !== '${{' &&
      !/:[\w.-]+@sha256:[0-9a-f]{64}\}?$/.test(image),
  );
  return [...actions, ...images].map(([, name = '']) => name);
}
