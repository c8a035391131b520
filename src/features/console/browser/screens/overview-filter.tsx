import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Overview } from '../../release-answers.ts';
import { type Filter, isFiltered, STATUSES, type StatusFilter } from '../filter.ts';
import { count, counted } from '../format.ts';
import { Icon } from '../parts/icon.tsx';
import { replaceQuery } from '../router.ts';

const NAMES: Readonly<Record<StatusFilter, string>> = {
  active: 'Offered',
  rolling_out: 'Rolling out',
  paused: 'Paused',
  yanked: 'Yanked',
  draft: 'Draft',
};

interface Props {
  readonly overview: Overview;
  readonly filter: Filter;
  readonly found: number;
}

/** The filter is in the address, so a link can share it. */
export function OverviewFilter({ overview, filter, found }: Props) {
  const id = useId();
  const [text, setText] = useState(filter.text);
  const field = useRef<HTMLInputElement>(null);
  // The browser's "Back" and the button "Show all" change the address, too.
  useEffect(() => {
    if (document.activeElement !== field.current) setText(filter.text);
  }, [filter.text]);
  const write = (change: Partial<Filter>) => {
    const { text: q, status, channel } = { ...filter, text, ...change };
    replaceQuery({ q, status, channel });
  };
  return (
    <search class="filters">
      <div class="search-field">
        <Icon name="search" />
        <label class="visually-hidden" for={id}>
          Search versions and targets
        </label>
        <input
          id={id}
          ref={field}
          type="search"
          placeholder="Version or target"
          value={text}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => {
            setText(event.currentTarget.value);
            write({ text: event.currentTarget.value });
          }}
        />
      </div>
      <select
        aria-label="Status"
        value={filter.status ?? ''}
        onChange={(event) => write({ status: (event.currentTarget.value || null) as StatusFilter })}
      >
        <option value="">Any status</option>
        {STATUSES.map((status) => (
          <option key={status} value={status} selected={status === filter.status}>
            {NAMES[status]}
          </option>
        ))}
      </select>
      <select
        aria-label="Channel"
        value={filter.channel ?? ''}
        onChange={(event) => write({ channel: event.currentTarget.value || null })}
      >
        <option value="">Any channel</option>
        {overview.channels.map(({ name }) => (
          <option key={name} value={name} selected={name === filter.channel}>
            {name}
          </option>
        ))}
      </select>
      <span class="found" role="status">
        {isFiltered(filter)
          ? `${count(found)} of ${counted(overview.releases.length, 'release')}`
          : counted(overview.releases.length, 'release')}
      </span>
    </search>
  );
}
