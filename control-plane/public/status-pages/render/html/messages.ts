import { html, type Html } from "#control-plane/core/pages/html.ts";
import { PLAIN_LOOK, type PageLook } from "#control-plane/public/status-pages/look.ts";
import { renderBelow } from "#control-plane/public/status-pages/render/html/frame.ts";

/** The status page that a message belongs to. */
export interface MessagePlace {
  /** Title of the page; null: the message names none. */
  readonly site: string | null;
  /** Path of the page, without a slash at its end. */
  readonly base: string;
  readonly look: PageLook;
}

/** The place of a message that names no page. */
export const NO_PLACE: MessagePlace = { site: null, base: "", look: PLAIN_LOOK };

/** Renders a heading and one sentence in the style of status pages. */
export function renderMessagePage(place: MessagePlace, heading: string, message: string): Html {
  return renderIn(place, heading, html`<p class="l1">${message}</p>`);
}

/** A question with one button. */
interface Question {
  readonly heading: string;
  /** Sentence, without its end: the address follows. */
  readonly text: string;
  readonly email: string;
  readonly button: string;
}

/** Renders a question in the style of status pages. Its form goes to the address of the document. */
export function renderQuestionPage(place: MessagePlace, { heading, text, email, button }: Question): Html {
  return renderIn(
    place,
    heading,
    html`
      <p class="l1">${text} <strong>${email}</strong>.</p>
      <form method="post"><button>${button}</button></form>`,
  );
}

function renderIn({ site, base, look }: MessagePlace, heading: string, body: Html): Html {
  const title = site === null ? heading : `${heading} - ${site}`;
  // The state is none of the message's: it needs no look at the page, which can be away.
  const overallStatus = "unknown";
  const head = {
    title,
    description: heading,
    preview: heading,
    canonical: null,
    isRefreshed: false,
    overallStatus,
  } as const;
  return renderBelow({ ...head, site, base, look }, html`<h1>${heading}</h1>${body}`);
}
