import { describeAlert, listLines, symbolOf, type Alert } from "#control-plane/notify/webhooks/formats/alert.ts";
import { encodeBrackets } from "#control-plane/notify/webhooks/formats/endpoint.ts";
import {
  escaper,
  escapeMarkdown,
  fit,
  jsonBytes,
  replaceMentions,
} from "#control-plane/notify/webhooks/formats/fit.ts";
import { JSON_HEADERS, type Format } from "#control-plane/notify/webhooks/formats/format.ts";
import { refusesWith } from "#control-plane/notify/webhooks/formats/refusal.ts";

/** A title has links but no other markup, so that a backslash in it is shown. */
const replaceLinks = escaper({ "[": "［", "]": "］" });
/** Servers refuse attachments whose JSON has more than 7600 characters, or cut them off. */
const MOST_TITLE_BYTES = 512;
const MOST_TEXT_BYTES = 4_096;

/**
 * Mattermost, "Incoming webhooks" and "Use message attachments"
 * (developers.mattermost.com/integrate/reference/message-attachments): one attachment in the shape of Slack's. Its text is
 * Markdown. Mattermost makes mentions of `<!channel>` and `<@id>`, as Slack does, and of names after an @; a name of a
 * monitor must be able to do neither, so these characters are replaced everywhere.
 */
export const mattermost: Format = {
  name: "mattermost",
  title: "Mattermost",
  options: [],
  refusal: refusesWith(["status_code"]),
  build(event, target) {
    const { url } = target;
    const alert = describeAlert(event, target);
    const title = `${symbolOf(alert)} ${alert.title}`;
    const [first] = alert.links;
    const links = alert.links.map(([label, address]) => `[${escapeMarkdown(label)}](${encodeBrackets(address)})`);
    const tail = links.length === 0 ? "" : `\n\n${links.join(" · ")}`;
    const lines = listLines(alert).join("\n");
    const attachment = {
      fallback: fit(title, MOST_TITLE_BYTES, replaceMentions, jsonBytes),
      color: colorOf(alert),
      title: fit(title, MOST_TITLE_BYTES, (text) => replaceLinks(replaceMentions(text)), jsonBytes),
      ...(first === undefined ? {} : { title_link: first[1] }),
      text: `${fit(lines, MOST_TEXT_BYTES - jsonBytes(tail), escapeMarkdown, jsonBytes)}${tail}`,
    };
    return { url, headers: JSON_HEADERS, body: JSON.stringify({ attachments: [attachment] }) };
  },
};

function colorOf({ isResolved, severity }: Alert): string {
  if (isResolved) return "#2ea043";
  return { critical: "#d1242f", warning: "#e16f24", info: "#1f6feb" }[severity];
}
