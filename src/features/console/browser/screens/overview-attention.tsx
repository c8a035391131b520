import { useState } from 'preact/hooks';
import type { Attention } from '../../release-answers.ts';
import { counted } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import { Sentence } from '../parts/sentence.tsx';
import { hrefOf, type Query, type Route } from '../router.ts';

const SHOWN = 4;
const LEVELS: Readonly<Record<Attention['severity'], readonly [IconName, string]>> = {
  info: ['info', 'For information'],
  warning: ['warning', 'Warning'],
  critical: ['stop', 'Critical'],
};

interface Props {
  readonly app: string;
  readonly attention: readonly Attention[];
}

export function AttentionList({ app, attention }: Props) {
  const [isLong, setLong] = useState(false);
  if (attention.length === 0) {
    return (
      <p class="all-well">
        <Icon name="check" /> Nothing needs your attention.
      </p>
    );
  }
  const shown = isLong ? attention : attention.slice(0, SHOWN);
  return (
    <section class="attention" aria-labelledby="attention-heading">
      <h2 id="attention-heading">Needs attention</h2>
      <ul>
        {shown.map((item) => (
          <Item key={item.sentence} app={app} item={item} />
        ))}
      </ul>
      {attention.length > SHOWN && (
        <Button kind="quiet" expanded={isLong} onClick={() => setLong(!isLong)}>
          {isLong ? 'Show fewer' : `Show ${counted(attention.length - SHOWN, 'more', 'more')}`}
        </Button>
      )}
    </section>
  );
}

function Item({ app, item }: { readonly app: string; readonly item: Attention }) {
  const [icon, word] = LEVELS[item.severity];
  const target = targetOf(app, item);
  const sentence = <Sentence text={item.sentence} />;
  return (
    <li class={item.severity}>
      <Icon name={icon} />
      <span class="visually-hidden">{word}: </span>
      {target === null ? sentence : <a href={hrefOf(...target)}>{sentence}</a>}
    </li>
  );
}

function targetOf(app: string, { kind, version, channel }: Attention): [Route, Query] | null {
  if (version === null) return null;
  const isRollout = kind === 'frozen' || kind === 'rolling_out';
  return isRollout
    ? [{ screen: 'rollout', app, version }, { channel }]
    : [{ screen: 'release', app, version }, {}];
}
