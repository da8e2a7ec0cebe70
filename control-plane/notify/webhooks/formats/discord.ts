import { describeAlert, listLines, type Alert } from "#control-plane/notify/webhooks/formats/alert.ts";
import { encodeBrackets, setParameter } from "#control-plane/notify/webhooks/formats/endpoint.ts";
import { backslashed, fit } from "#control-plane/notify/webhooks/formats/fit.ts";
import { JSON_HEADERS, type Format } from "#control-plane/notify/webhooks/formats/format.ts";
import { findReference, findText } from "#control-plane/notify/webhooks/formats/reference.ts";
import type { Refusal } from "#control-plane/notify/webhooks/formats/refusal.ts";

/**
 * "Markdown text 101": a backslash takes the meaning of a character. The colon is one of them so that an address is no
 * link: Discord reads links before backslashes, and would link to the address with the backslashes in it.
 */
const escape = backslashed("\\*_~`|[]()<>#@:");
/** "Embed limits": all texts of a message together have at most 6000 characters. */
const MOST_TITLE = 256;
const MOST_DESCRIPTION = 4_096;

/**
 * Discord, "Execute Webhook" (docs.discord.com/developers/resources/webhook) with one embed ("Embed object",
 * docs.discord.com/developers/resources/message). Nothing in it can notify anybody (allowed_mentions). Without
 * `wait=true` a message that Discord does not save is answered with success.
 */
export const discord: Format = {
  name: "discord",
  title: "Discord",
  options: [],
  reference: (bodyStart) => findReference(bodyStart, ["id"]),
  refusal: readRefusal,
  build(event, target) {
    const { url } = target;
    const alert = describeAlert(event, target);
    const [first] = alert.links;
    const links = alert.links.map(([label, address]) => `[${escape(label)}](${encodeBrackets(address)})`).join(" · ");
    const tail = links === "" ? "" : `\n\n${links}`;
    const embed = {
      title: fit(alert.title, MOST_TITLE, escape),
      description: `${fit(listLines(alert).join("\n"), MOST_DESCRIPTION - tail.length, escape)}${tail}`,
      ...(first === undefined ? {} : { url: first[1] }),
      color: colorOf(alert),
      timestamp: event.createdAt,
    };
    const message = { embeds: [embed], allowed_mentions: { parse: [] } };
    return { url: setParameter(url, "wait", "true"), headers: JSON_HEADERS, body: JSON.stringify(message) };
  },
};

function colorOf({ isResolved, severity }: Alert): number {
  if (isResolved) return 0x2e_a0_43;
  return { critical: 0xd1_24_2f, warning: 0xe1_6f_24, info: 0x1f_6f_eb }[severity];
}

/** "JSON error codes" of which the same message has the same again: what is unknown, not allowed, or not valid. */
const PERMANENT = /^(?:100\d\d|400\d\d|500\d\d)$/;

/** Reads an error. A message has an id, and no code. */
function readRefusal(bodyStart: string): Refusal | null {
  const code = findText(bodyStart, ["code"]);
  if (findText(bodyStart, ["id"]) !== null) return null;
  if (code !== null) return PERMANENT.test(code) ? "permanent" : "temporary";
  // "Exceeding a rate limit" has no code everywhere.
  return findText(bodyStart, ["retry_after"]) === null ? null : "temporary";
}
