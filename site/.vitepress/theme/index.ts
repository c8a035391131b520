import DefaultTheme from 'vitepress/theme';
import { h } from 'vue';
import picture from '../../../docs/picture.svg';
import './style.css';

const run = (place: string) => () =>
  h('img', {
    class: `run ${place}`,
    src: picture,
    alt: 'A run in a terminal: two releases are published, a feed offers the newer one, it is yanked, and the feed offers the older one again.',
  });

/**
 * Adds to the first page the first command, and the picture of a run: beside the title, and on narrow screens below the
 * features.
 */
export default {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      'home-hero-info-after': () =>
        h('p', { class: 'first-command' }, [
          'In a checkout: ',
          h('code', 'npm ci && npm run demo'),
        ]),
      'home-hero-image': run('beside'),
      'home-features-after': run('below'),
    }),
};
