import { describeAlert, listLines, symbolOf } from "#control-plane/notify/webhooks/formats/alert.ts";
import { escaper, fit } from "#control-plane/notify/webhooks/formats/fit.ts";
import { JSON_HEADERS, type Format } from "#control-plane/notify/webhooks/formats/format.ts";
import { findReference } from "#control-plane/notify/webhooks/formats/reference.ts";
import { refusesWith } from "#control-plane/notify/webhooks/formats/refusal.ts";

/**
 * "Format messages": `<users/all>` mentions everybody, `<url|text>` is a link, the others are styles. Text messages have
 * no escape, so characters that look the same take their place.
 */
const replaceMarkup = escaper({ "<": "‹", ">": "›", "*": "∗", _: "＿", "~": "∼", "`": "ˋ" });
/** "Format a card message": text of cards is a subset of HTML. */
const escapeHtml = escaper({ "&": "&amp;", "<": "&lt;", ">": "&gt;", "\n": "<br>" });
/** A text message has at most 4096 characters, a message with its cards 32 000 bytes (method spaces.messages.create). */
const MOST_TEXT = 4_096;

/**
 * Google Chat, "Build a Google Chat app as a webhook" (developers.google.com/workspace/chat/quickstart/webhooks): a
 * message with the title as text, which notifications show, and one card (cardsV2) with the rest.
 */
export const googleChat: Format = {
  name: "google-chat",
  title: "Google Chat",
  options: [],
  reference: (bodyStart) => findReference(bodyStart, ["name"]),
  refusal: refusesWith(["error", "code"]),
  build(event, target) {
    const { url } = target;
    const alert = describeAlert(event, target);
    const paragraph = { textParagraph: { text: fit(listLines(alert).join("\n"), MOST_TEXT, escapeHtml) } };
    const buttons = alert.links.map(([label, address]) => ({ text: label, onClick: { openLink: { url: address } } }));
    const widgets = [paragraph, ...(buttons.length === 0 ? [] : [{ buttonList: { buttons } }])];
    const message = {
      text: fit(`${symbolOf(alert)} ${alert.title}`, MOST_TEXT, replaceMarkup),
      cardsV2: [{ cardId: event.id, card: { sections: [{ widgets }] } }],
    };
    return { url, headers: JSON_HEADERS, body: JSON.stringify(message) };
  },
};
