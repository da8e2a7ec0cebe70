import { describeAlert, listLines, symbolOf } from "#control-plane/notify/webhooks/formats/alert.ts";
import { addPath } from "#control-plane/notify/webhooks/formats/endpoint.ts";
import { escaper, fit } from "#control-plane/notify/webhooks/formats/fit.ts";
import { JSON_HEADERS, type Format } from "#control-plane/notify/webhooks/formats/format.ts";
import { option } from "#control-plane/notify/webhooks/formats/options.ts";
import { findReference, findText } from "#control-plane/notify/webhooks/formats/reference.ts";
import { refusalOf } from "#control-plane/notify/webhooks/formats/refusal.ts";

/** Without a parse mode nothing is markup, but a user whose name follows an @ is notified. */
const replaceAt = escaper({ "@": "＠" });
/** "sendMessage": 1-4096 characters. */
const MOST_TEXT = 4_096;

/**
 * Telegram, "Bot API" (core.telegram.org/bots/api): "Making requests" and the method sendMessage. The url of the
 * subscription is https://api.telegram.org or that of one's own Bot API server.
 */
export const telegram: Format = {
  name: "telegram",
  title: "Telegram",
  options: [
    option({
      name: "bot_token",
      description: "token of the bot, as BotFather shows it",
      pattern: /^\d{1,20}:[-\w]{1,200}$/,
      allowed: "the bot's number, a colon and letters, digits, - and _, as in 123456:ABC-DEF1234ghIkl",
    }),
    option({
      name: "chat_id",
      description: "number of the chat, or @ and the name of a public channel",
      pattern: /^(?:-?\d{1,20}|@\w{1,64})$/,
      allowed: "a number, as in -1001234567890, or @ and the name of a public channel",
    }),
  ],
  reference: (bodyStart) => findReference(bodyStart, ["result", "message_id"]),
  // "Making requests": `ok` is false, and `error_code` explains it.
  refusal: (bodyStart) =>
    findText(bodyStart, ["ok"]) === "false" ? refusalOf(findText(bodyStart, ["error_code"])) : null,
  build(event, target) {
    const { url, options } = target;
    const alert = describeAlert(event, target);
    const links = alert.links.map(([label, address]) => `${label}: ${address}`);
    const tail = links.length === 0 ? "" : `\n\n${links.join("\n")}`;
    const head = [`${symbolOf(alert)} ${alert.title}`, "", ...listLines(alert)].join("\n");
    const message = {
      chat_id: options["chat_id"],
      text: `${fit(head, MOST_TEXT - tail.length, replaceAt)}${tail}`,
      link_preview_options: { is_disabled: true },
    };
    const address = addPath(url, `/bot${options["bot_token"]}/sendMessage`);
    return { url: address, headers: JSON_HEADERS, body: JSON.stringify(message) };
  },
};
