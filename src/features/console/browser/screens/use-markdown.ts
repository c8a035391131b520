import { useEffect, useState } from 'preact/hooks';
import type { MarkdownPreview } from '../../answers.ts';
import { Failure, post } from '../api.ts';

const PAUSE_MS = 250;

export interface Rendered {
  readonly html: string;
  readonly problem: string | null;
}

/**
 * The HTML that the server renders, requested a moment after the operator stops typing. The last
 * text wins.
 */
export function useMarkdown(markdown: string): Rendered {
  const [rendered, setRendered] = useState<Rendered>({ html: '', problem: null });
  useEffect(() => {
    let isOld = false;
    const render = async () => {
      try {
        const { html } = await post<MarkdownPreview>('/console/api/markdown', { markdown });
        if (!isOld) setRendered({ html, problem: null });
      } catch (error) {
        const problem = error instanceof Failure ? error.message : String(error);
        if (!isOld) setRendered((before) => ({ ...before, problem }));
      }
    };
    const timer = setTimeout(render, PAUSE_MS);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [markdown]);
  return rendered;
}
