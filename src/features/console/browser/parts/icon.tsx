/** Every icon has a text beside it, so screen readers skip the icons. */

const PATHS = {
  check: 'M3.5 8.5l3 3 6-7',
  cross: 'M4 4l8 8M12 4l-8 8',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  warning: 'M8 2.5l6 10.5H2zM8 6.5v3M8 11.4v.1',
  info: 'M8 7.2v4M8 4.7v.1M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z',
  stop: 'M5.5 2.5h5l3 3v5l-3 3h-5l-3-3v-5zM5.5 8h5',
  draft: 'M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 1 1 0-11M8 5v3l2 1.5',
  ring: 'M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 1 1 0-11',
  skip: 'M4 8h8',
  search: 'M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 1 1 0-9M10.4 10.4l3.1 3.1',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  play: 'M5 3.2l7.5 4.8L5 12.8z',
  frozen: 'M8 2v12M2.8 5l10.4 6M13.2 5L2.8 11',
} as const;

export type IconName = keyof typeof PATHS;

export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
);
