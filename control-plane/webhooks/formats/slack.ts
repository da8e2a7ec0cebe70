import { describeAlert, listLines, symbolOf } from "#control-plane/webhooks/formats/alert.ts";
import { escaper, fit } from "#control-plane/webhooks/formats/fit.ts";
import { JSON_HEADERS, type Format } from "#control-plane/webhooks/formats/format.ts";

/** "Formatting message text", "Escaping text": these three start links, mentions and references. */
const escape = escaper({ "&": "&amp;", "<": "&lt;", ">": "&gt;" });
/** "Header block". */
const MOST_HEADER = 150;
/** "Text object". */
const MOST_TEXT = 3_000;

/**
 * Slack, "Sending messages using incoming webhooks" (docs.slack.dev/messaging/sending-messages-using-incoming-webhooks):
 * `blocks`, and `text` for notifications. Untrusted text is plain_text ("Text object",
 * docs.slack.dev/reference/block-kit/composition-objects/text-object), in which no markup has a meaning; it is escaped
 * nevertheless, because Slack decodes these characters everywhere.
 */
export const slack: Format = {
  name: "slack",
  title: "Slack",
  options: [],
  build(event, { url, pageUrl }) {
    const alert = describeAlert(event, pageUrl);
    const title = `${symbolOf(alert)} ${alert.title}`;
    const plain = (text: string, most: number) => ({ type: "plain_text", text: fit(text, most, escape), emoji: false });
    const links = alert.links.map(([label, address]) => `<${escape(address)}|${escape(label)}>`);
    const context = { type: "context", elements: [{ type: "mrkdwn", text: links.join("  "), verbatim: true }] };
    const message = {
      text: fit(title, MOST_TEXT, escape),
      blocks: [
        { type: "header", text: plain(title, MOST_HEADER) },
        { type: "section", text: plain(listLines(alert).join("\n"), MOST_TEXT) },
        ...(links.length === 0 ? [] : [context]),
      ],
      unfurl_links: false,
      unfurl_media: false,
    };
    return { url, headers: JSON_HEADERS, body: JSON.stringify(message) };
  },
};
