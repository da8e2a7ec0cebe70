import { describeAlert, listLines, type Alert } from "#control-plane/notify/webhooks/formats/alert.ts";
import { addPath } from "#control-plane/notify/webhooks/formats/endpoint.ts";
import { fit } from "#control-plane/notify/webhooks/formats/fit.ts";
import { JSON_HEADERS, type Format } from "#control-plane/notify/webhooks/formats/format.ts";
import { option } from "#control-plane/notify/webhooks/formats/options.ts";
import { findReference, findText } from "#control-plane/notify/webhooks/formats/reference.ts";

/** "Limitations". A longer address is left out: a part of one leads nowhere. */
const MOST_TITLE = 250;
const MOST_MESSAGE = 1_024;
const MOST_URL = 512;
const MOST_URL_TITLE = 100;

/**
 * Pushover, "Message API" (pushover.net/api): POST /1/messages.json. The url of the subscription is
 * https://api.pushover.net. Messages are plain text, because neither `html` nor `monospace` is set.
 */
export const pushover: Format = {
  name: "pushover",
  title: "Pushover",
  options: [
    option({ name: "token", description: "API token of your application" }),
    option({ name: "user", description: "key of the user or group" }),
    option({
      name: "priority",
      required: false,
      secret: false,
      description:
        "priority of outages and warnings, -2 to 1, by default 1 of outages and 0 of others; it is never above 0 for " +
        "what is over",
      // 2 repeats until somebody acknowledges it, which takes parameters of its own.
      pattern: /^(?:-[12]|[01])$/,
      allowed: "a whole number from -2 to 1",
    }),
  ],
  reference: (bodyStart) => findReference(bodyStart, ["request"]),
  // "API Responses": any status but 1 says that the input is wrong.
  refusal: (bodyStart) => ((findText(bodyStart, ["status"]) ?? "1") === "1" ? null : "permanent"),
  build(event, target) {
    const { url, options } = target;
    const alert = describeAlert(event, target);
    const link = alert.links.find(([, address]) => address.length <= MOST_URL);
    const message = {
      token: options["token"],
      user: options["user"],
      title: fit(alert.title, MOST_TITLE),
      message: fit(listLines(alert).join("\n"), MOST_MESSAGE),
      ...(link === undefined ? {} : { url: link[1], url_title: fit(link[0], MOST_URL_TITLE) }),
      priority: priorityOf(alert, options["priority"]),
      timestamp: Math.floor(Date.parse(event.createdAt) / 1_000),
    };
    return { url: addPath(url, "/1/messages.json"), headers: JSON_HEADERS, body: JSON.stringify(message) };
  },
};

/** "Message Priority": 1 bypasses quiet hours, 0 is normal, below it is silent. */
function priorityOf({ severity }: Alert, chosen: string | undefined): number {
  const priority = chosen === undefined ? Number(severity === "critical") : Number(chosen);
  // What is over opens nothing, so that its severity is info.
  return severity === "info" ? Math.min(priority, 0) : priority;
}
