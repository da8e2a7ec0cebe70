import { describeAlert, listLines, symbolOf } from "#control-plane/notify/webhooks/formats/alert.ts";
import { escaper, fit } from "#control-plane/notify/webhooks/formats/fit.ts";
import { JSON_HEADERS, type Format } from "#control-plane/notify/webhooks/formats/format.ts";
import { findText } from "#control-plane/notify/webhooks/formats/reference.ts";
import type { Refusal } from "#control-plane/notify/webhooks/formats/refusal.ts";

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
  refusal: readRefusal,
  build(event, target) {
    const { url } = target;
    const alert = describeAlert(event, target);
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

/** "Handling errors", and errors of the Web API, with which the same message is refused again. */
const PERMANENT = new RegExp(
  "^(?:no_(?:service|service_id|team|active_hooks|text)|invalid_\\w+|team_disabled|action_prohibited|user_not_found" +
    "|channel_(?:not_found|is_archived)|posting_to_general_channel_denied|too_many_attachments|account_inactive" +
    "|token_revoked|not_authed|not_in_channel|is_archived|missing_\\w+|restricted_action)$",
);
/** The same of errors that can end by themselves. */
const TEMPORARY =
  /^(?:rollup_error|internal_error|fatal_error|service_unavailable|request_timeout|rate_?limited|team_added_to_org)$/;

/** Reads an error: a word, or that of a document whose `ok` is false. Receivers that speak Slack's format answer other texts. */
function readRefusal(bodyStart: string): Refusal | null {
  const isRefused = findText(bodyStart, ["ok"]) === "false";
  const word = isRefused ? (findText(bodyStart, ["error"]) ?? "") : bodyStart.trim();
  if (PERMANENT.test(word)) return "permanent";
  return isRefused || TEMPORARY.test(word) ? "temporary" : null;
}
