import { DateTime, IANAZone } from 'luxon';

/** Weekly windows in which no rollout advances, such as weekends. */

/** A moment of each week, in local time. */
interface WeekTime {
  /** 1 is Monday, 7 is Sunday. */
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
}

export interface FreezeWindow {
  /** As the publisher wrote it. */
  readonly text: string;
  readonly start: WeekTime;
  /** The window ends at the first such moment after the start. */
  readonly end: WeekTime;
  /** The IANA name of the time zone. */
  readonly zone: string;
}

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const WINDOW = /^([a-z]{3}) (\d{2}):(\d{2})\.\.([a-z]{3}) (\d{2}):(\d{2}) ([\w+/-]+)$/i;

/**
 * `Fri 16:00..Mon 08:00 Europe/Berlin`
 *
 * @returns undefined when the text is not such a window, or the window has no length
 */
export function parseFreezeWindow(text: string): FreezeWindow | undefined {
  const match = WINDOW.exec(text.trim());
  const [, startDay = '', startHour, startMinute, endDay = '', endHour, endMinute, zone = ''] =
    match ?? [];
  const start = weekTime(startDay, startHour, startMinute);
  const end = weekTime(endDay, endHour, endMinute);
  if (start === undefined || end === undefined || !IANAZone.isValidZone(zone)) return undefined;
  if (positionOf(start) === positionOf(end)) return undefined;
  return { text: text.trim(), start, end, zone };
}

function weekTime(day: string, hours = '', minutes = ''): WeekTime | undefined {
  const weekday = DAYS.indexOf(day.toLowerCase()) + 1;
  const hour = Number(hours);
  const minute = Number(minutes);
  return weekday === 0 || hour > 23 || minute > 59 ? undefined : { weekday, hour, minute };
}

/** In minutes since the week began. */
function positionOf({ weekday, hour, minute }: WeekTime): number {
  return (weekday * 24 + hour) * 60 + minute;
}

/**
 * Says whether some window contains a moment. This does not change before `until`.
 *
 * When summer time begins, some local times do not exist: such a time counts as the time an hour later. A local time
 * that exists twice counts as the first of the two.
 *
 * @param at milliseconds since the epoch
 * @returns `until` in milliseconds since the epoch; infinite without windows
 */
export function freezeAt(
  windows: readonly FreezeWindow[],
  at: number,
): { readonly isFrozen: boolean; readonly until: number } {
  let next = Number.POSITIVE_INFINITY;
  for (const { start, end } of windows.flatMap((window) => occurrencesAround(window, at))) {
    if (start <= at && at < end) return { isFrozen: true, until: end };
    if (start > at) next = Math.min(next, start);
  }
  return { isFrozen: false, until: next };
}

/**
 * The windows that begin in the week of the moment, in the week before or in the week after. A window that contains the
 * moment began in this week or in the last one, and the next window begins within a week.
 */
function occurrencesAround(
  { start, end, zone }: FreezeWindow,
  at: number,
): readonly { readonly start: number; readonly end: number }[] {
  const monday = DateTime.fromMillis(at, { zone }).startOf('week');
  const isSameWeek = positionOf(end) > positionOf(start);
  return [-1, 0, 1].map((weeks) => {
    const week = monday.plus({ weeks });
    return {
      start: moment(week, start),
      end: moment(isSameWeek ? week : week.plus({ weeks: 1 }), end),
    };
  });
}

function moment(monday: DateTime, { weekday, hour, minute }: WeekTime): number {
  return monday.set({ weekday: weekday as 1, hour, minute }).toMillis();
}
