import { Page } from '../parts/page.tsx';
import { hrefOf } from '../router.ts';

export const UnknownScreen = () => (
  <Page title="Not found">
    <div class="empty">
      <p>The console has no screen at this address.</p>
      <a class="button" href={hrefOf({ screen: 'home' })}>
        Go to the releases
      </a>
    </div>
  </Page>
);
