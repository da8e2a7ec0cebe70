import { describeAlert, listLines, type Alert } from "#control-plane/notify/webhooks/formats/alert.ts";
import { fit, jsonBytes, verbatim } from "#control-plane/notify/webhooks/formats/fit.ts";
import { JSON_HEADERS, type Format } from "#control-plane/notify/webhooks/formats/format.ts";
import { option } from "#control-plane/notify/webhooks/formats/options.ts";
import { findReference } from "#control-plane/notify/webhooks/formats/reference.ts";
import { refusesWith } from "#control-plane/notify/webhooks/formats/refusal.ts";

/** "Limitations": a message of more than 4096 bytes becomes an attachment, and the JSON has at most twice as many. */
const MOST_MESSAGE_BYTES = 4_096;
const MOST_TITLE_BYTES = 512;

/**
 * ntfy, "Publish as JSON" (docs.ntfy.sh/publish/#publish-as-json): a POST to the root of the server, which is the url of
 * the subscription, so that no text is in a header field. The message is plain text, because `markdown` is not set.
 */
export const ntfy: Format = {
  name: "ntfy",
  title: "ntfy",
  options: [
    option({
      name: "topic",
      description: "topic to publish to",
      pattern: /^[-\w]{1,64}$/,
      allowed: "1 to 64 letters, digits, - and _",
    }),
    option({ name: "token", required: false, description: "access token, if the topic needs one" }),
  ],
  reference: (bodyStart) => findReference(bodyStart, ["id"]),
  refusal: refusesWith(["http"]),
  build(event, target) {
    const { url, options } = target;
    const alert = describeAlert(event, target);
    const [first] = alert.links;
    const message = {
      topic: options["topic"],
      title: fit(alert.title, MOST_TITLE_BYTES, verbatim, jsonBytes),
      message: fit(listLines(alert).join("\n"), MOST_MESSAGE_BYTES, verbatim, jsonBytes),
      ...urgencyOf(alert),
      ...(first === undefined ? {} : { click: first[1] }),
    };
    const token = options["token"];
    const headers = token === undefined ? JSON_HEADERS : { ...JSON_HEADERS, authorization: `Bearer ${token}` };
    return { url, headers, body: JSON.stringify(message) };
  },
};

/** "Message priority": 5 is the highest, 3 the default. "Tags & emojis": these tags are shown as emojis. */
function urgencyOf({ isResolved, severity }: Alert): { readonly priority: number; readonly tags: readonly string[] } {
  if (isResolved) return { priority: 3, tags: ["white_check_mark"] };
  return {
    critical: { priority: 5, tags: ["rotating_light"] },
    warning: { priority: 4, tags: ["warning"] },
    info: { priority: 3, tags: ["information_source"] },
  }[severity];
}
