import type { Notice } from "#control-plane/notify/mail/content/event-body.ts";
import type { Letter } from "#control-plane/notify/mail/content/letter.ts";
import { linkLabel, reasonOf } from "#control-plane/notify/mail/content/notice.ts";
import { formatTime } from "#control-plane/notify/mail/content/times.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import { nameFirst, labelsOf } from "#control-plane/notify/mail/content/labels.ts";

/** Maximum length of a name in the subject, where there are three. */
const MOST_NAME = 40;

/** Where a digest leads. */
interface DigestLinks {
  /** Address of the service, without a trailing slash. */
  readonly baseUrl: string;
  /** Returns the address of the page of a notice for the reader, which needs no key. */
  readonly linkOf: (notice: Notice) => string;
}

/**
 * Writes one mail about several notices, oldest first. `total` is their number; `notices` can be only the first of them.
 */
export function writeDigest(
  notices: readonly [Notice, ...Notice[]],
  total: number,
  { baseUrl, linkOf }: DigestLinks,
): Letter {
  const [first] = notices;
  const newest = notices.findLast(({ incidentId }) => incidentId !== null) ?? first;
  const isOneMonitor = first.monitorId !== null && notices.every(({ monitorId }) => monitorId === first.monitorId);
  const last = notices.at(-1) ?? first;
  const names = [...new Set(notices.map(({ name }) => toPlainLine(name, MOST_NAME)))];
  const counts = countKinds(notices);
  const flappingNotice = isOneMonitor ? notices.findLast(isAboutFlapping) : undefined;
  const omitted = total - notices.length;
  const items = notices
    .filter((notice) => flappingNotice === undefined || !isAboutFlapping(notice))
    .map((notice) => describe(notice, isOneMonitor));
  return {
    subject: isOneMonitor
      ? flappingNotice === undefined
        ? `Flapping: ${first.name} - ${total} changes, the last: ${labelsOf(last).label}`
        : `${labelsOf(flappingNotice).label}: ${first.name}`
      : `${omitted > 0 ? `${total} notices` : counts}: ${nameFirst(names, omitted)}`,
    headline: isOneMonitor
      ? (flappingNotice?.text?.headline ?? `${first.name} is flapping: ${total} changes.`)
      : `${total} notices: ${counts}.`,
    paragraphs: [],
    facts: isOneMonitor && first.target !== null ? [["Target", first.target]] : [],
    list: {
      title: omitted > 0 ? `The first ${notices.length}` : "Notices",
      items: omitted > 0 ? [...items, `and ${omitted} more`] : items,
      ...(isOneMonitor ? {} : { urls: notices.map(linkOf) }),
    },
    links: isOneMonitor ? [[linkLabel(newest), linkOf(newest)]] : [],
    footer: `This address gets the notices of these monitors from Vantage at ${baseUrl}.`,
  };
}

function isAboutFlapping({ type }: Notice): boolean {
  return type === "flapping";
}

/** Counts notices by kind, as in "10 down, 2 recovered". */
function countKinds(notices: readonly Notice[]): string {
  const groups = Map.groupBy(notices, (notice) => labelsOf(notice).counted);
  return Array.from(groups, ([words, group]) => `${group.length} ${words}`).join(", ");
}

function describe(notice: Notice, isOneMonitor: boolean): string {
  const { kind, at, name, cause } = notice;
  const what = isOneMonitor ? labelsOf(notice).label : `${labelsOf(notice).label}: ${name}`;
  // The cause of an outage that is over would read as one that goes on.
  const why = kind === "up" || kind === "degraded" ? reasonOf(notice) : cause;
  return `${formatTime(at)} ${what}${why === null ? "" : ` (${why})`}`;
}
