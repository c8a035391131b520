import DefaultTheme from 'vitepress/theme';
import { h } from 'vue';
import picture from '../../../docs/picture.svg';
import './style.css';

/** Shows the first command and a picture of a run below the title of the first page. */
export default {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      'home-hero-info-after': () =>
        h('p', { class: 'first-command' }, [h('code', 'npx slipway demo')]),
      'home-hero-image': () =>
        h('img', {
          class: 'run',
          src: picture,
          alt: 'A run in a terminal: two releases are published, a feed offers the newer one, it is yanked, and the feed offers the older one again.',
        }),
    }),
};
