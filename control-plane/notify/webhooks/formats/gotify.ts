import { describeAlert, listLines } from "#control-plane/notify/webhooks/formats/alert.ts";
import { addPath } from "#control-plane/notify/webhooks/formats/endpoint.ts";
import { fit } from "#control-plane/notify/webhooks/formats/fit.ts";
import { JSON_HEADERS, type Format } from "#control-plane/notify/webhooks/formats/format.ts";
import { option } from "#control-plane/notify/webhooks/formats/options.ts";
import { findReference } from "#control-plane/notify/webhooks/formats/reference.ts";
import { refusesWith } from "#control-plane/notify/webhooks/formats/refusal.ts";

/** The documentation names no limits. These are what a phone shows, and fit into every database of a server. */
const MOST_TITLE = 250;
const MOST_MESSAGE = 4_096;
/** "Message Priority": up to 3 is silent, 4 has a sound, 8 vibrates too. */
const PRIORITIES = { critical: 8, warning: 5, info: 4 };

/**
 * Gotify, "Push messages" (gotify.net/docs/pushmsg) and "Message Extras" (gotify.net/docs/msgextras): POST /message of
 * the server, whose address is the url of the subscription. The message is shown as plain text.
 */
export const gotify: Format = {
  name: "gotify",
  title: "Gotify",
  options: [option({ name: "app_token", description: "token of the application that the messages belong to" })],
  reference: (bodyStart) => findReference(bodyStart, ["id"]),
  refusal: refusesWith(["errorCode"]),
  build(event, target) {
    const { url, options } = target;
    const alert = describeAlert(event, target);
    const [first] = alert.links;
    const message = {
      title: fit(alert.title, MOST_TITLE),
      message: fit(listLines(alert).join("\n"), MOST_MESSAGE),
      priority: PRIORITIES[alert.severity],
      extras: {
        "client::display": { contentType: "text/plain" },
        ...(first === undefined ? {} : { "client::notification": { click: { url: first[1] } } }),
      },
    };
    const headers = { ...JSON_HEADERS, "x-gotify-key": `${options["app_token"]}` };
    return { url: addPath(url, "/message"), headers, body: JSON.stringify(message) };
  },
};
