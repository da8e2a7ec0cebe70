import type { Letter } from "#control-plane/mail/content/letter.ts";
import { formatTime } from "#control-plane/mail/content/times.ts";

/** One thing that happened, for the subscribers of a page. Every string is one line. */
export interface PageNotice {
  /** Beginning of the subject and of a line in a list, such as "Shop is down". */
  readonly headline: string;
  readonly paragraphs: readonly string[];
  readonly facts: readonly (readonly [label: string, value: string])[];
  readonly at: Date;
}

/** The page, and the links of one subscriber. */
interface LetterPage {
  readonly title: string;
  readonly url: string;
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
  const headline = isOne ? first.headline : `${total} changes`;
  return {
    subject: `[${page.title}] ${headline}`,
    headline,
    paragraphs: isOne ? first.paragraphs : [],
    facts: isOne ? first.facts : [],
    list: isOne ? null : { title: "Changes", items: omitted > 0 ? [...items, `and ${omitted} more`] : items },
    links: [
      ["Status page", page.url],
      ["Unsubscribe", page.unsubscribeUrl],
    ],
    footer: `This address is subscribed to the status page "${page.title}".`,
  };
}

/** Writes the mail that asks the owner of an address to confirm a subscription. */
export function writePageConfirmation(title: string, confirmUrl: string, pageUrl: string): Letter {
  return {
    subject: `[${title}] Confirm your subscription`,
    headline: "Confirm your subscription",
    paragraphs: [
      `Somebody wants to send the incidents of the status page "${title}" to this address.`,
      "Open the link and press the button to get them. It works for 7 days.",
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
