import { useEffect, useState } from 'preact/hooks';

export const PHONE = '(max-width: 719px)';
export const DARK = '(prefers-color-scheme: dark)';

/** Follows a media query: true while the page matches the query. */
export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const follow = () => setMatches(media.matches);
    follow();
    media.addEventListener('change', follow);
    return () => media.removeEventListener('change', follow);
  }, [query]);
  return matches;
}
