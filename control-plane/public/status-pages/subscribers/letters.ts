import { isIP } from "node:net";
import { MOST_NAME } from "#control-plane/notify/mail/content/event-body.ts";
import type { Letter } from "#control-plane/notify/mail/content/letter.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import { formatTime } from "#control-plane/notify/mail/content/times.ts";
import { LINK_HOURS } from "#control-plane/public/status-pages/subscribers/links.ts";

/** One thing that happened, for the subscribers of a page. Every string is one line. */
export interface PageNotice {
  /** Headline and line in a list, such as "Shop is down". */
  readonly headline: string;
  /** The same for a subject, where long names are cut. */
  readonly subject: string;
  readonly paragraphs: readonly string[];
  readonly facts: readonly (readonly [label: string, value: string])[];
  readonly at: Date;
}

/** The page, and the links of one subscriber. */
interface LetterPage {
  readonly title: string;
  readonly url: string;
  /** Page of the incident that the mail is about; null if it is about none, or about several things. */
  readonly incidentUrl: string | null;
  readonly unsubscribeUrl: string;
}

/** Writes the mail about what happened, oldest first. `total` can be larger than the number of notices. */
export function writePageLetter(
  notices: readonly [PageNotice, ...PageNotice[]],
  total: number,
  page: LetterPage,
): Letter {
  const [first] = notices;
  const isOne = total === 1;
  const omitted = total - notices.length;
  const items = notices.map(({ headline, at }) => `${formatTime(at)} ${headline}`);
  const changes = `${total} changes`;
  return {
    subject: subjectOn(page.title, isOne ? first.subject : changes),
    headline: isOne ? first.headline : changes,
    paragraphs: isOne ? first.paragraphs : [],
    facts: isOne ? first.facts : [],
    list: isOne ? null : { title: "Changes", items: omitted > 0 ? [...items, `and ${omitted} more`] : items },
    links: [
      ...(page.incidentUrl === null ? [] : [["Incident", page.incidentUrl] as const]),
      ["Status page", page.url],
      ["Unsubscribe", page.unsubscribeUrl],
    ],
    footer: `This address is subscribed to the status page "${page.title}".`,
  };
}

/**
 * Writes the mail that asks the owner of an address to confirm a subscription. Anybody can have it sent to any address:
 * its subject has no text of the account, and its body only the title, cut and quoted.
 */
export function writePageConfirmation(title: string, confirmUrl: string, pageUrl: string): Letter {
  const { hostname } = new URL(pageUrl);
  // An address tells people nothing.
  const isNamed = isIP(hostname.replaceAll(/[[\]]/g, "")) === 0 && hostname !== "localhost";
  const quoted = `"${toPlainLine(title, MOST_NAME).replaceAll('"', "'")}"`;
  return {
    subject: isNamed ? `[${hostname}] Confirm your subscription` : "Confirm your subscription to a status page",
    headline: "Confirm your subscription",
    paragraphs: [
      `Somebody wants to send the incidents of the status page ${quoted} to this address.`,
      `Open the link and press the button to get them. It works for ${LINK_HOURS} hours.`,
      "If this was not you, ignore this mail: nothing more will be sent.",
    ],
    facts: [],
    list: null,
    links: [
      ["Confirm", confirmUrl],
      ["Status page", pageUrl],
    ],
    footer: "Nobody is subscribed without this confirmation.",
  };
}

/** Returns the subject of a mail of a page. A long title is cut. */
function subjectOn(pageTitle: string, text: string): string {
  return `[${toPlainLine(pageTitle, MOST_NAME)}] ${text}`;
}
